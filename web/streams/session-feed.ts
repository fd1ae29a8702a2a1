import {
  type Client,
  ClientError,
  type ExchangeInfo,
  type LiveEvent,
  type MessageInfo,
  type QuestionInfo,
  type SessionDetail,
  type SessionSummary,
} from "../../src/entries/client.ts";
import type { Attempt, Feed } from "./feed.ts";
import {
  foldSession,
  isNews,
  resumedState,
  type SessionState,
  snapshotOf,
} from "./session-state.ts";

/** The client of one attempt: `onOpen` is called when the answer to a stream begins. */
export type Connect<Calls extends keyof Client> = (onOpen: () => void) => Pick<Client, Calls>;

type Snapshot = Extract<LiveEvent, { event: "snapshot" }>;

/** A tab that missed more messages begins again: its reader gets a snapshot, and reads those that it needs. */
const MAX_MISSED = 500;
const MESSAGES_PER_READ = 200;
/** An id that no stream gave: the next reader continues after the last message. */
const NO_POSITION = "";

/** The live feed of a session. */
export function sessionFeed(
  id: string,
  connect: Connect<"live" | "getSession" | "listMessages" | "listExchanges" | "listQuestions">,
): Feed<SessionState, LiveEvent> {
  const client = connect(() => undefined);

  return {
    ...sharedParts(id, client),
    read: async function* (known, { signal, onOpen }) {
      const session = await readSession(client, id);
      let isNew = !isNear(known(), session);
      const now = (): SessionState | null => (isNew ? null : known());
      const live = async function* () {
        const state = now();
        const position =
          state === null
            ? {}
            : state.id === NO_POSITION
              ? { afterSeq: state.seq }
              : { after: state.id };
        const open = (options: OneAttempt) => connect(onOpen).live(id, { ...position, ...options });
        for await (const event of once(signal, open)) {
          if (event.event === "snapshot") {
            const resumed = resumedState(now(), event);
            isNew = false;
            yield snapshotOf(resumed);
          } else if (event.event !== "message" || isNews(now(), event.data)) {
            yield event;
          }
        }
      };
      try {
        yield* live();
      } catch (error) {
        if (!isPositionRefused(error) || isNew) {
          throw error;
        }
        // an earlier copy of the database was put back: what this tab knows is of another history
        isNew = true;
        yield* live();
      }
    },
    poll: async (from) => {
      const session = await readSession(client, id);
      const [[exchange = null], questions] = await Promise.all([
        client.listExchanges(id, { limit: 1 }),
        client.listQuestions(id),
      ]);
      const missed = from === null ? null : await missedBetween(client, from, session.last_seq);
      return polled({ session, exchange, questions, missed });
    },
  };
}

/** What a visitor with a link may follow: messages, and nothing that happens between them. */
export function sharedFeed(
  id: string,
  connect: Connect<"followSession" | "getSession" | "listMessages">,
): Feed<SessionState, LiveEvent> {
  const client = connect(() => undefined);
  return {
    ...sharedParts(id, client),
    read: async function* (known, { signal, onOpen }) {
      const session = await readSession(client, id);
      const state = known();
      const lastSeq = isNear(state, session) ? state.seq : session.last_seq;
      yield snapshotOfSession({ session, exchange: null, questions: [], seq: lastSeq });
      const follow = (options: OneAttempt) =>
        connect(onOpen).followSession(id, { lastSeq, ...options });
      for await (const message of once(signal, follow)) {
        yield eventOf(message);
      }
    },
    poll: async (from) => {
      const session = await readSession(client, id);
      const missed = from === null ? null : await missedBetween(client, from, session.last_seq);
      return polled({ session, exchange: null, questions: [], missed });
    },
  };
}

type Reads = Pick<Client, "getSession" | "listMessages">;

function sharedParts(
  id: string,
  client: Reads,
): Omit<Feed<SessionState, LiveEvent>, "read" | "poll"> {
  return {
    fold: foldSession,
    begin: snapshotOf,
    needsCheck: ({ event }) => event === "exchange",
    check: async () => {
      const session = await readSession(client, id);
      return (state) => {
        const isNew = JSON.stringify(session) !== JSON.stringify(state?.session);
        return state !== null && isNew ? [snapshotOf({ ...state, session })] : [];
      };
    },
    arrive: (mine, event) => {
      if (mine === null || event.event !== "snapshot") {
        return [event];
      }
      const { last_seq } = event.data;
      if (last_seq === mine.seq) {
        return [event];
      }
      return last_seq > mine.seq ? withMissed(client, mine, event) : ifShorter(client, mine, event);
    },
  };
}

async function withMissed(client: Reads, mine: SessionState, event: Snapshot) {
  const missed = await missedBetween(client, mine, event.data.last_seq);
  return [...(missed ?? []).map(eventOf), event];
}

/** Null if the session has the messages that this tab has: the other tab catches up. */
async function ifShorter(client: Reads, { session: { id }, seq }: SessionState, event: Snapshot) {
  const { last_seq } = await readSession(client, id);
  return last_seq < seq ? [event] : null;
}

/** The messages that a tab missed; null if they are too many. */
async function missedBetween(
  client: Reads,
  { session: { id }, seq }: SessionState,
  last: number,
): Promise<readonly MessageInfo[] | null> {
  if (last - seq > MAX_MISSED || last < seq) {
    return null;
  }
  const missed: MessageInfo[] = [];
  let after: number | null = seq;
  while (after !== null && after < last) {
    const page = await client.listMessages(id, { after_seq: after, limit: MESSAGES_PER_READ });
    missed.push(...page.messages.filter((message) => message.seq <= last));
    after = page.next;
  }
  return missed;
}

/** False for a state that too many messages follow: its reader begins again. */
function isNear(state: SessionState | null, { last_seq }: SessionSummary): state is SessionState {
  return state !== null && last_seq >= state.seq && last_seq - state.seq <= MAX_MISSED;
}

async function readSession(client: Reads, id: string): Promise<SessionSummary> {
  return summaryOf(await client.getSession(id, { messages: false }));
}

/** What a list and the feed have of a session, too. */
export function summaryOf(detail: SessionDetail): SessionSummary {
  const { messages: _m, has_earlier: _h, usage: _u, cost_micros: _c, ...summary } = detail;
  return summary;
}

interface Polled {
  readonly session: SessionSummary;
  readonly exchange: ExchangeInfo | null;
  readonly questions: readonly QuestionInfo[];
}

function polled({ missed, ...now }: Polled & { missed: readonly MessageInfo[] | null }) {
  return [...(missed ?? []).map(eventOf), snapshotOfSession({ ...now, seq: now.session.last_seq })];
}

function snapshotOfSession({
  session,
  exchange,
  questions,
  seq,
}: Polled & { seq: number }): Snapshot {
  const state = { usage: null, retry: null, reasoning: null, text: null, last_seq: seq };
  const data = { session, exchange, questions: [...questions], calls: [], outputs: [], ...state };
  return { id: NO_POSITION, event: "snapshot", data };
}

/** A message that was read over HTTP. */
function eventOf(data: MessageInfo): LiveEvent {
  return { id: NO_POSITION, event: "message", data };
}

type OneAttempt = Pick<Attempt, "signal"> & { readonly onLost: (error: unknown) => void };

/** The events until the connection fails: who leads decides when the next attempt is, and says so. */
export async function* once<Event>(
  signal: AbortSignal,
  open: (options: OneAttempt) => AsyncGenerator<Event, void>,
): AsyncGenerator<Event, void> {
  const failed = new AbortController();
  const options = {
    signal: AbortSignal.any([signal, failed.signal]),
    onLost: (error: unknown) => failed.abort(error),
  };
  yield* open(options);
}

/** The service does not know the position: it refuses it instead of showing less. */
function isPositionRefused(error: unknown): boolean {
  return error instanceof ClientError && error.status === 422;
}
