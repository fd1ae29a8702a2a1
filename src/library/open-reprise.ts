import type { MessageInfo, SessionSummary } from "../core/schemas/schemas.ts";
import { throwUncaught } from "../core/uncaught.ts";
import type { ExchangeListener, GraphQuestion } from "../exchange/events.ts";
import { thisProcess } from "../store/records/leases/this-process.ts";
import { requireLocation } from "../store/location.ts";
import { openStore } from "../store/open-store.ts";
import { resolveSession } from "../store/records/sessions/read.ts";
import { readSummary } from "../store/records/sessions/summaries.ts";
import type { Store, StoreOptions } from "../store/store.ts";
import { requireSessionReference } from "./check-request.ts";
import { requireRunOptions, type RunOptions } from "./run-options.ts";
import { PROGRAM, type Sessions, sessionsOf } from "./sessions.ts";

/** A database of sessions, used from a program. */
export interface Reprise extends AsyncDisposable {
  /** Where the data is: a path or an address without the password. */
  readonly location: string;
  readonly sessions: Sessions;
  /**
   * Runs one exchange of your graph in a session. The session's lease is held meanwhile, the
   * user's message is stored before the graph runs, and every checkpoint is stored together with the
   * messages of the session.
   *
   * `session` is an id or the first 6 or more characters of one.
   *
   * Error codes: `graph_unsuitable`, `agent_differs`, `agent_failed` (its `cause` is the error of the
   * graph), `session_not_found`, `ambiguous_id`, `session_ended`, `session_busy`, `lease_lost`,
   * `nothing_to_continue`, `exchange_interrupted`, `invalid_request`, `body_too_large`, `database_*`.
   */
  run(
    session: string,
    graph: RunnableGraph | GraphFactory,
    input: RunInput,
    options?: RunOptions,
  ): Promise<RunResult>;
  /** Closes the database. Idempotent; `await using` calls it. */
  close(): Promise<void>;
}

/** A graph that LangGraph compiled without a checkpointer, or an agent of LangChain. It is copied. */
export interface RunnableGraph {
  stream(...given: never[]): unknown;
  withConfig(config: never): unknown;
}

/** Makes a graph with the checkpointer that it is given: `(saver) => builder.compile(…)`. */
export type GraphFactory = (saver: never) => RunnableGraph | Promise<RunnableGraph>;

/**
 * A text or messages as LangChain takes them; an update of the graph's state; a LangGraph `Command`,
 * which answers what the graph asked; or null, which continues an exchange that was interrupted, or
 * takes up the messages that were appended.
 */
export type RunInput = string | object | null;

/** How an exchange ended. One that failed throws instead. */
export interface RunResult {
  /** `stopped` by its signal; `waiting` if the graph asks a person. Both can be continued. */
  readonly state: "done" | "stopped" | "waiting";
  /** Text of the last answer; empty if there is none. */
  readonly answer: string;
  /** Questions of the graph. Answer with a LangGraph `Command`. */
  readonly interrupts: readonly GraphQuestion[];
  readonly thread_id: string;
  readonly session: SessionSummary;
  /** Messages that the exchange stored, in order of `seq`; the first 1,000. */
  readonly messages: readonly MessageInfo[];
}

/**
 * Opens a SQLite file or a PostgreSQL database, which is created or upgraded if needed.
 *
 * Error codes: `database_*`, `config_invalid` for an invalid address or `:memory:`.
 */
export async function openReprise(
  location: string,
  options: Omit<StoreOptions, "location"> = {},
): Promise<Reprise> {
  const store = await openStore({ ...options, location: requireLocation(location) });
  const run = graphRuns(store);
  return {
    location: store.location,
    sessions: sessionsOf(store),
    run,
    close: () => store.close(),
    [Symbol.asyncDispose]: () => store.close(),
  };
}

function graphRuns(store: Store): Reprise["run"] {
  const runner = once(async () => {
    // LangChain is loaded only by those who run a graph
    const [{ createGraphRunner }, { createFeed }] = await Promise.all([
      import("../agent/graph/graph-runner.ts"),
      import("../exchange/live/feed.ts"),
    ]);
    return createGraphRunner({
      store,
      feed: createFeed({ store }),
      owner: thisProcess("openReprise"),
    });
  });
  return async (session_id, graph, input, given = {}) => {
    const reference = requireSessionReference(session_id);
    const options = requireRunOptions(given);
    const { agent: name, repeatable, fresh, repeats, whenBusy } = options;
    const run = await runner();
    const { id } = await store.read(resolveSession, { reference });
    const { session, messages, thread_id, ...end } = await run(
      {
        session_id: id,
        agent: { graph, name, repeatable },
        input,
        fresh,
        principal: PROGRAM,
        asked_by: "library",
        ...(whenBusy === undefined ? {} : { when_busy: whenBusy }),
      },
      {
        listener: listening(options.onEvent),
        signal: options.signal ?? new AbortController().signal,
        repeats,
      },
    );
    return {
      state: end.state,
      answer: end.state === "waiting" ? "" : end.answer,
      interrupts: end.state === "waiting" ? (end.interrupts ?? []) : [],
      thread_id,
      session: await store.read(readSummary, session),
      messages: [...messages],
    };
  };
}

/** A listener only listens: its error does not end the exchange. */
function listening(onEvent: RunOptions["onEvent"]): ExchangeListener {
  return (event) => {
    try {
      onEvent?.(event);
    } catch (error) {
      throwUncaught(error);
    }
  };
}

/** Does the work when it is first asked for, and again after it failed. */
function once<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let result: Promise<Result> | null = null;
  return () =>
    (result ??= work().catch((error: unknown) => {
      result = null;
      throw error;
    }));
}
