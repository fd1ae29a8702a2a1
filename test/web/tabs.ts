import { setImmediate } from "node:timers/promises";

import { ClientError, type LiveEvent } from "../../src/entries/client.ts";
import { positionAfter, readPosition } from "../../src/core/live/live-position.ts";
import { cursorAt, eventsBetween } from "../../src/exchange/live/events-between.ts";
import { ALONE } from "../../web/streams/alone.ts";
import type { Channel, Host } from "../../web/streams/host.ts";
import { sessionFeed } from "../../web/streams/session-feed.ts";
import type { SessionState } from "../../web/streams/session-state.ts";
import { CONNECTING, type Status } from "../../web/streams/status.ts";
import { createTopic } from "../../web/streams/topic.ts";
import { createWorld } from "../http/live/live-world.ts";
import { createChannels, createLocks, createTime } from "./own-browser.ts";

export interface Tab {
  readonly received: LiveEvent[];
  readonly errors: unknown[];
  state(): SessionState | null;
  status(): Status;
  show(): void;
  hide(): void;
  close(): void;
}

export interface TabsOptions {
  readonly random: () => number;
  /** With the browser's locks, or without any. */
  readonly hasLocks: boolean;
}

/** Tabs that follow one session of a service, with the time, the channels and the service in the test's hands. */
export function createTabs({ random, hasLocks }: TabsOptions) {
  const world = createWorld(random);
  const time = createTime();
  const channels = createChannels();
  const locks = createLocks();
  const changed = new Set<() => void>();
  let isAway = false;
  let open = 0;
  let mostOpen = 0;
  let cut = new AbortController();
  let tabs = 0;

  const reach = async (): Promise<void> => {
    await Promise.resolve();
    if (isAway) {
      throw new ClientError("unreachable", "away", { status: 0 });
    }
  };
  const connect = (
    onOpen: () => void,
  ): Parameters<typeof sessionFeed>[1] extends (onOpen: () => void) => infer Calls
    ? Calls
    : never => ({
    live: async function* (_id, { after, afterSeq, signal } = {}) {
      await reach();
      const lost = cut.signal;
      const position = after === undefined ? null : readPosition(after);
      let cursor = cursorAt(position ?? positionAfter(afterSeq ?? world.messages.length));
      open += 1;
      mostOpen = Math.max(mostOpen, open);
      try {
        onOpen();
        while (random() < 0.8 && !isQuiet && signal?.aborted !== true && !lost.aborted) {
          // a message may be stored between the position and the first read
          await nextChange(changed, [signal, lost]);
        }
        for (;;) {
          const view = world.view(cursor.position, random() < 0.5 || isQuiet, 2);
          const step = eventsBetween(cursor, view);
          ({ cursor } = step);
          for (const event of step.events) {
            yield event;
            signal?.throwIfAborted();
          }
          if (!view.more) {
            await nextChange(changed, [signal, lost]);
          }
          signal?.throwIfAborted();
          if (lost.aborted) {
            throw new ClientError("unreachable", "cut", { status: 0 });
          }
        }
      } finally {
        open -= 1;
      }
    },
    getSession: async () => {
      await reach();
      const { session } = world.view({ seq: 0, message_id: null }, true, 0);
      return { ...session, usage: null, cost_micros: null, messages: [], has_earlier: false };
    },
    listMessages: async (_id, { after_seq = 0 } = {}) => {
      await reach();
      const all = world.messages.filter(({ seq }) => seq > after_seq);
      const messages = all.slice(0, 3);
      return { messages, next: all.length > 3 ? (messages.at(-1)?.seq ?? null) : null };
    },
    listExchanges: async () => {
      await reach();
      const { exchange } = world.view({ seq: 0, message_id: null }, true, 0);
      return exchange === null ? [] : [{ ...exchange, usage: null, cost_micros: null }];
    },
    listQuestions: async () => {
      await reach();
      return [];
    },
  });
  let isQuiet = false;
  const wake = (): void => {
    for (const resume of changed) {
      resume();
    }
    changed.clear();
  };

  return {
    world,
    /** Streams that were open at the same moment. */
    mostOpen: () => mostOpen,
    openNow: () => open,
    settle: async () => {
      await setImmediate();
    },
    act: (): void => {
      world.act();
      wake();
    },
    finish: (): void => {
      world.finish();
      wake();
    },
    advance: time.advance,
    deliver: channels.deliver,
    cut: (): void => {
      cut.abort();
      cut = new AbortController();
    },
    setAway: (next: boolean): void => {
      isAway = next;
      if (isAway) {
        cut.abort();
        cut = new AbortController();
      }
    },
    /** From now on the service shows what arrived at once, as the node that runs the exchange does. */
    quiet: (): void => {
      isQuiet = true;
      wake();
    },
    newTab: (): Tab => {
      tabs += 1;
      const tab = tabs;
      const received: LiveEvent[] = [];
      const errors: unknown[] = [];
      let ids = 0;
      const newId = (): string =>
        `${Math.floor(random() * 2 ** 32).toString(16)}-${tab}-${(ids += 1)}`;
      const openChannel = (name: string): Channel => channels.open(name, tab);
      const host: Host = {
        ...time.clock,
        newId,
        report: (error) => errors.push(error),
        ...(hasLocks ? { openChannel, locks } : ALONE),
      };
      let state: SessionState | null = null;
      let status = CONNECTING;
      const topic = createTopic({
        name: "session",
        feed: sessionFeed("id", connect),
        host,
        onStatus: (next) => {
          status = next;
        },
      });
      topic.listen((event, now) => {
        received.push(event);
        state = now;
      });
      topic.start();
      return {
        received,
        errors,
        state: () => state,
        status: () => status,
        show: topic.start,
        hide: topic.stop,
        close: () => {
          topic.stop();
          channels.drop(tab);
        },
      };
    },
  };
}

function nextChange(
  changed: Set<() => void>,
  signals: readonly (AbortSignal | undefined)[],
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  changed.add(resolve);
  for (const signal of signals) {
    if (signal?.aborted === true) {
      resolve();
    }
    signal?.addEventListener("abort", () => resolve(), { once: true });
  }
  return promise;
}
