import { computed, type ReadonlySignal, signal, type Signal } from "@preact/signals";

import {
  type Client,
  createClient,
  type LiveEvent,
  type SessionEvent,
} from "../../src/entries/client.ts";
import { fetchAsPage, needsLogin, readWhoami, whoami } from "../api.ts";
import { base } from "../route.ts";
import { answerInTime } from "../answer-in-time.ts";
import { browserHost, openChannel, watchVisibility } from "./browser-host.ts";
import type { Feed } from "./feed.ts";
import { listFeed } from "./list-feed.ts";
import { sessionFeed, sharedFeed } from "./session-feed.ts";
import type { SessionState } from "./session-state.ts";
import { CONNECTING, type Status } from "./status.ts";
import { createTopic, type Listener, type Topic } from "./topic.ts";
import { WIRE_VERSION } from "./wire.ts";

/** What can be followed: all sessions, one of them, or what a visitor sees of one. Ids are whole. */
export type StreamKey = "list" | `session:${string}` | `shared:${string}`;

interface Open<State, Event> {
  readonly topic: Topic<State, Event>;
  readonly status: Signal<Status>;
}
type Kept<State, Event> = Map<StreamKey, Open<State, Event>>;

const host = browserHost();
const send = answerInTime(fetchAsPage);
const lists: Kept<{ id: string }, SessionEvent> = new Map();
const sessions: Kept<SessionState, LiveEvent> = new Map();
const statuses = new Map<StreamKey, Signal<Status>>();
/** What was followed last, and still is. */
const followed = signal<StreamKey | null>(null);
/** Of the service at this address: others of the same origin have another base. */
const prefix = `reprise-v${WIRE_VERSION}:${base}:`;

let isSeen = watchVisibility((now) => {
  isSeen = now;
  for (const { topic } of opened()) {
    if (isSeen) {
      topic.start();
    } else {
      topic.stop();
    }
  }
});

/**
 * Follows the list of sessions, over one stream for all tabs. It begins with `reset`, which may come again: its reader
 * reads the list. Returns what ends it.
 */
export function followList(listener: (event: SessionEvent) => void): () => void {
  return follow(lists, "list", () => listFeed(connect), listener);
}

/**
 * Follows a session, over one stream for all tabs. Returns what ends it.
 *
 * It begins with `snapshot`, whose `text` is whole: its `offset` is 0. Its `last_seq` is that of the last message that
 * is read over HTTP; each later one comes once, in order, as `message`. A `message` with the `seq` of an earlier one
 * replaces it. Another `snapshot` may come at any time, and replaces all but the messages. If its `last_seq` is higher
 * than that of the last message, too many were missed: they are read over HTTP.
 *
 * A message that this tab missed comes with an empty `id`; of its text, only a part may have come before.
 */
export function followSession(id: string, listener: Listener<SessionState, LiveEvent>): () => void {
  return follow(sessions, `session:${id}`, () => sessionFeed(id, connect), listener);
}

/** As `followSession`, for a visitor with a link: messages, and snapshots without anything that happens now. */
export function followShared(id: string, listener: Listener<SessionState, LiveEvent>): () => void {
  return follow(sessions, `shared:${id}`, () => sharedFeed(id, connect), listener);
}

/** How what this tab follows is kept up to date; null if it follows nothing. */
export const connection: ReadonlySignal<Status | null> = computed(() => {
  const key = followed.value;
  return key === null ? null : statusOf(key).value;
});

function follow<State, Event>(
  kept: Kept<State, Event>,
  key: StreamKey,
  feedOf: () => Feed<State, Event>,
  listener: Listener<State, Event>,
): () => void {
  const status = statusOf(key);
  const found = kept.get(key);
  const open = found ?? {
    status,
    topic: createTopic({
      name: `${prefix}${key}`,
      feed: feedOf(),
      host,
      onStatus: (next) => {
        status.value = next;
      },
    }),
  };
  kept.set(key, open);
  followed.value = key;
  const end = open.topic.listen(listener);
  if (isSeen) {
    open.topic.start();
  }
  return () => {
    end();
    if (open.topic.listeners === 0 && kept.get(key) === open) {
      open.topic.stop();
      kept.delete(key);
      status.value = CONNECTING;
      followed.value = followed.peek() === key ? null : followed.peek();
    }
  };
}

function opened() {
  return [...lists.values(), ...sessions.values()];
}

function statusOf(key: StreamKey): Signal<Status> {
  const status = statuses.get(key) ?? signal(CONNECTING);
  statuses.set(key, status);
  return status;
}

/** A client that says when the answer to a stream begins: a stream may have no event for long. */
function connect(onOpen: () => void): Client {
  return createClient({
    baseUrl: `${location.origin}${base}`,
    fetch: async (input, init) => {
      const answer = await send(input, init);
      if (answer.headers.get("content-type")?.startsWith("text/event-stream") === true) {
        onOpen();
      }
      return answer;
    },
  });
}

// All tabs have one login: what one of them changes ends the streams of all, and they begin again.
const logins = openChannel(`${prefix}login`);
let isHearing = false;
let before: string | null = null;

logins.onMessage(() => void hearOfLogin());

async function hearOfLogin(): Promise<void> {
  isHearing = true;
  await readWhoami();
  isHearing = false;
  if (whoami.value?.role !== "guest") {
    needsLogin.value = false;
  }
}

whoami.subscribe((who) => {
  if (who === null) {
    return;
  }
  const now = `${who.role} ${who.session}`;
  // the first answer may come after those to the streams, which had the same login
  const isChanged = before !== null && now !== before;
  before = now;
  const others = opened().filter(({ status }) => isChanged || status.peek().kind === "refused");
  for (const { topic } of others) {
    topic.stop();
    topic.forget();
    if (isSeen) {
      topic.start();
    }
  }
  if (!isHearing && (isChanged || others.length > 0)) {
    logins.post("changed");
  }
});
