import { batch, type ReadonlySignal, type Signal, signal } from "@preact/signals";

import type {
  ListedExchange,
  LiveEvent,
  MessageInfo,
  SessionDetail,
  SessionSummary,
  VerificationInfo,
} from "../../src/entries/client.ts";
import { client } from "../api.ts";
import { summaryOf } from "../streams/session-feed.ts";
import type { SessionState } from "../streams/session-state.ts";
import { connection, followSession, followShared } from "../streams/streams.ts";
import type { Cost } from "./exchange-text.ts";
import { createMessageCache, type MessageCache, PAGE_SIZE } from "./message-cache.ts";
import { addRead, hearThought, type Thought } from "../streams/thoughts.ts";
import { isPassing, problemOf, type SessionProblem } from "./problem.ts";

export type LiveCall = Extract<LiveEvent, { event: "tool_call" }>["data"];

/** Exchanges that are read at a time. */
const EXCHANGES_READ = 50;
/** Calls whose ends are remembered; those of older ones are read from their results. */
const CALLS_KEPT = 5000;
/** Milliseconds between two drawings of a text that arrives. */
const DRAW_MS = 100;

/** Milliseconds before the session is read again, if the service did not answer. */
const RETRY_MS = 2000;

/** One session as the page shows it. All of it comes from the service; nothing here outlives the page. */
export interface SessionModel {
  readonly id: string;
  /** True for a visitor with a link. */
  readonly isShared: boolean;
  /** Null until it was read. With its name, archive, metadata and permissions. */
  readonly session: ReadonlySignal<SessionSummary | null>;
  readonly problem: ReadonlySignal<SessionProblem | null>;
  /** The first message that is shown: archived ones before it are not. */
  readonly first: ReadonlySignal<number>;
  /** The last stored message; 0 without any. */
  readonly last: ReadonlySignal<number>;
  readonly messages: MessageCache;
  /** Changes whenever messages do. */
  readonly version: ReadonlySignal<number>;
  /** What happens now, at most 10 times a second; null until the feed has begun. */
  readonly live: ReadonlySignal<SessionState | null>;
  /** How calls ended that this page has seen, by their ids. */
  readonly ends: ReadonlyMap<string, LiveCall>;
  /** Thoughts of the model before answers, by their ids. */
  readonly thoughts: ReadonlyMap<string, Thought>;
  /** The latest first. Null until they were read. */
  readonly exchanges: ReadonlySignal<readonly ListedExchange[] | null>;
  /** Usage and cost of the session; null until it was read. */
  readonly cost: ReadonlySignal<Cost | null>;
  readonly hasEarlierExchanges: ReadonlySignal<boolean>;
  /** Direct sub-agents. */
  readonly children: ReadonlySignal<readonly SessionSummary[]>;
  /** Null until somebody asked. */
  readonly verification: ReadonlySignal<VerificationInfo | SessionProblem | "reading" | null>;
  /** What a person opened, by keys; rows that are drawn again stay open. */
  readonly opened: Signal<ReadonlySet<string>>;
  /** The message after which a person wants to fork; null without a dialog. */
  readonly forking: Signal<number | null>;
  /** Counts what this page has undone and made again: changes of exchanges are read again then. */
  readonly undone: Signal<number>;
  showArchived(): void;
  readEarlierExchanges(): Promise<void>;
  verify(): Promise<void>;
  /** Reads again what the feed does not say: after a change that this page made, for example. */
  refresh(): Promise<void>;
  /** Begins to read and to follow; the returned function ends both. */
  start(): () => void;
}

interface ModelOptions {
  /** For a visitor with a link, who reads the session and its messages alone. */
  readonly isShared?: boolean;
}

export function createSessionModel(
  id: string,
  { isShared = false }: ModelOptions = {},
): SessionModel {
  const session = signal<SessionSummary | null>(null);
  const problem = signal<SessionProblem | null>(null);
  const [first, last, version] = [signal(1), signal(0), signal(0)];
  const live = signal<SessionState | null>(null);
  const ends = new Map<string, LiveCall>();
  const thoughts = new Map<string, Thought>();
  const exchanges = signal<readonly ListedExchange[] | null>(null);
  const cost = signal<Cost | null>(null);
  const hasEarlierExchanges = signal(false);
  const children = signal<readonly SessionSummary[]>([]);
  const verification = signal<VerificationInfo | SessionProblem | "reading" | null>(null);
  const opened = signal<ReadonlySet<string>>(new Set());
  let state: SessionState | null = null;
  let drawing: ReturnType<typeof setTimeout> | undefined;
  let refreshing: Promise<void> | null = null;
  let isOld = false;

  const messages = createMessageCache({
    read: async (after, before) => {
      const found = (await client.listMessages(id, range(after, before))).messages;
      void readThoughts(found);
      return found;
    },
    changed: () => void (version.value += 1),
  });
  /** Without them, nothing is missing that a person cannot ask for by reading the page again. */
  const readThoughts = async (found: readonly MessageInfo[]): Promise<void> => {
    const answers = found.filter(({ role }) => role === "assistant");
    const [first, end] = [answers[0], answers.at(-1)];
    if (!isShared && first !== undefined && end !== undefined) {
      const between = { after_seq: first.seq - 1, before_seq: end.seq + 1 };
      addRead(thoughts, await client.listReasoning(id, between).catch(() => []));
      version.value += 1;
    }
  };
  const put = (found: readonly MessageInfo[]): void => {
    messages.put(found);
    last.value = Math.max(last.value, found.at(-1)?.seq ?? 0);
    version.value += 1;
  };
  const getSession = () => client.getSession(id, { messages: false });
  /** Not `last`: a message comes with the feed, in the place of the text that it was. */
  const setSession = (found: SessionDetail): void => {
    session.value = summaryOf(found);
    cost.value = { usage: found.usage, cost_micros: found.cost_micros };
  };
  const readExchanges = async (): Promise<void> => {
    const found = await client.listExchanges(id, { limit: EXCHANGES_READ });
    const oldest = found.at(-1)?.n ?? 0;
    const kept = (exchanges.value ?? []).filter(({ n }) => n < oldest);
    hasEarlierExchanges.value =
      kept.length === 0 ? found.length === EXCHANGES_READ : hasEarlierExchanges.value;
    exchanges.value = [...found, ...kept];
  };
  /** What is not known now is read with the next change; the connection's notice says what is wrong. */
  const readRest = (): Promise<unknown> =>
    Promise.allSettled(
      isShared
        ? []
        : [
            readExchanges(),
            readChildren(session.value?.id ?? id).then((found) => void (children.value = found)),
          ],
    );
  const readAll = async (): Promise<void> => {
    while (isOld) {
      isOld = false;
      await getSession()
        .then(setSession)
        .then(readRest)
        .catch(() => undefined);
    }
    refreshing = null;
  };
  const refresh = (): Promise<void> => {
    // what changes while it is read is read again: the answer may be older than the change
    isOld = true;
    refreshing ??= readAll();
    return refreshing;
  };
  const show = (): void => {
    clearTimeout(drawing);
    drawing = undefined;
    // what another tab knew may be older than what this one has read
    const next = messages.get((state?.seq ?? 0) + 1)?.message_id;
    const isStored = next === (state?.text ?? state?.reasoning)?.message_id;
    live.value = state !== null && isStored ? { ...state, text: null, reasoning: null } : state;
  };
  /** At most 10 times a second: a text of 1,000 tokens/s is drawn as smoothly as one of 10. */
  const draw = (): void => {
    drawing ??= setTimeout(show, DRAW_MS);
  };
  /** True if what was read of the exchanges may be from before: a gap in what is followed, or a poll. */
  const isGap = ({ id, data }: Extract<LiveEvent, { event: "snapshot" }>): boolean => {
    const { exchange } = data;
    const isOther = (known: Pick<ListedExchange, "n" | "state"> | null | undefined): boolean =>
      exchange?.n !== known?.n || exchange?.state !== known?.state;
    // the session, with its cost, may have been read before an end that its exchanges show
    const isBehind = isOther(session.value?.exchange) || isOther(exchanges.value?.[0]);
    return (state !== null && id !== "") || exchanges.value === null || isBehind;
  };
  const hear = (event: LiveEvent, now: SessionState): void => {
    const isMissing = event.event === "snapshot" && isGap(event);
    state = now;
    hearThought(thoughts, event);
    switch (event.event) {
      case "message":
        // with its row, the text that arrived goes
        put([event.data]);
        show();
        return;
      case "snapshot":
        session.value = { ...session.value, ...event.data.session };
        last.value = Math.max(last.value, event.data.last_seq);
        show();
        if (isMissing) {
          void refresh();
        }
        return;
      case "tool_call":
        if (event.data.status !== "running") {
          remember(ends, event.data.call_id, event.data);
        }
        break;
      case "exchange":
        void refresh();
        break;
      default:
        break;
    }
    draw();
  };
  const begin = async (): Promise<void> => {
    const [page, shown, found] = await Promise.all([
      client.listMessages(id, { order: "desc", limit: PAGE_SIZE, all: true }),
      client.listMessages(id, { limit: 1 }),
      getSession(),
    ]);
    // all at once: what is shown first is the last message
    batch(() => {
      first.value = shown.messages[0]?.seq ?? (page.messages[0]?.seq ?? 0) + 1;
      put(page.messages.toReversed());
      setSession(found);
      problem.value = null;
    });
    void refresh();
    void readThoughts(page.messages.toReversed());
  };
  const beginOnce = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      try {
        await begin();
        return;
      } catch (error) {
        problem.value = problemOf(error);
        if (!isPassing(error)) {
          return;
        }
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  };
  return {
    id,
    isShared,
    session,
    problem,
    first,
    last,
    messages,
    version,
    live,
    ends,
    thoughts,
    exchanges,
    cost,
    hasEarlierExchanges,
    children,
    verification,
    opened,
    forking: signal<number | null>(null),
    undone: signal(0),
    showArchived: () => {
      first.value = 1;
    },
    readEarlierExchanges: async () => {
      const oldest = exchanges.value?.at(-1)?.n;
      if (oldest !== undefined) {
        const query = { limit: EXCHANGES_READ, before_n: oldest };
        const found = await client.listExchanges(id, query);
        hasEarlierExchanges.value = found.length === EXCHANGES_READ;
        exchanges.value = [...(exchanges.value ?? []), ...found];
      }
    },
    verify: async () => {
      verification.value = "reading";
      verification.value = await client.verifySession(id).catch(problemOf);
    },
    refresh,
    start: () => {
      const controller = new AbortController();
      const { signal } = controller;
      const follow = (): void => {
        const whole = session.value?.id;
        if (!signal.aborted && whole !== undefined) {
          const end = (isShared ? followShared : followSession)(whole, hear);
          const endWatch = connection.subscribe((status) => {
            if (status?.kind === "ended" || status?.kind === "gone") {
              void refresh();
            }
          });
          signal.addEventListener("abort", () => {
            end();
            endWatch();
          });
        }
      };
      void beginOnce(signal).then(follow);
      return () => {
        controller.abort();
        clearTimeout(drawing);
        messages.close();
      };
    },
  };
}

/** The direct sub-agents of a session, the first one first. */
export async function readChildren(parent: string): Promise<readonly SessionSummary[]> {
  const found = await client.listSessions({ parent, limit: 200 });
  return found.sessions.toReversed();
}

/** Keeps a value with the latest ones: a tab may be open for weeks. */
function remember<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): void {
  map.set(key, value);
  if (map.size > CALLS_KEPT) {
    map.delete(map.keys().next().value as Key);
  }
}

function range(after: number, before: number) {
  return { after_seq: after, before_seq: before, limit: PAGE_SIZE, all: true };
}
