/**
 * The life of an exchange, as its record shows it:
 *
 * | from | to | when |
 * |---|---|---|
 * | (new) | queued | `queue`: somebody leaves a message for an exchange |
 * | (new) | running | `begin`: a terminal, a program or a sub-agent runs it at once |
 * | queued | running | `begin`: a process takes it with the session's lease |
 * | running | waiting | `wait`: a person is asked |
 * | running | interrupted | `interrupt`: the process that ran it is dead |
 * | running | queued | `give_back`: its node stops, or is dead and somebody else may run it |
 * | running | done | `finish` |
 * | running, queued, interrupted | failed | `fail` |
 * | waiting | queued | `answer`: a session of its tree has all answers |
 * | waiting, interrupted | running | `continue`: its caller resumes it itself |
 * | interrupted | queued | `give_back` |
 * | queued, running, waiting, interrupted | stopped | `stop`: by a person, a later message, or the end of the session |
 *
 * `done`, `failed` and `stopped` are final.
 */
const TRANSITIONS = {
  queued: { begin: "running", fail: "failed", stop: "stopped" },
  running: {
    wait: "waiting",
    interrupt: "interrupted",
    give_back: "queued",
    finish: "done",
    fail: "failed",
    stop: "stopped",
  },
  waiting: { answer: "queued", continue: "running", stop: "stopped" },
  interrupted: { continue: "running", give_back: "queued", fail: "failed", stop: "stopped" },
  done: {},
  failed: {},
  stopped: {},
} as const;

export type ExchangeState = keyof typeof TRANSITIONS;
export const EXCHANGE_STATES = Object.keys(TRANSITIONS) as readonly ExchangeState[];

type Events = { [State in ExchangeState]: keyof (typeof TRANSITIONS)[State] };
/** Event of an exchange that has a record. */
export type ExchangeEventName = Events[ExchangeState];

/** The state that follows; null if this cannot happen in the state. */
export function stateAfter(state: ExchangeState, event: ExchangeEventName): ExchangeState | null {
  const next: Readonly<Partial<Record<ExchangeEventName, ExchangeState>>> = TRANSITIONS[state];
  return next[event] ?? null;
}

/** The states in which the event can happen. */
export function statesBefore(event: ExchangeEventName): readonly ExchangeState[] {
  return EXCHANGE_STATES.filter((state) => stateAfter(state, event) !== null);
}

/** True if nothing can happen to it any more. */
export function isFinal(state: ExchangeState): boolean {
  return Object.keys(TRANSITIONS[state]).length === 0;
}

/**
 * Who asked for an exchange: a person at a terminal, `-p` or input without a terminal, a client of
 * HTTP, a program that uses the library, or the agent (a sub-agent's).
 */
export const ASKED_BY = ["terminal", "prompt", "http", "library", "agent"] as const;
export type AskedBy = (typeof ASKED_BY)[number];

/** Processes that may die one after the other with an exchange of the service, without progress, before it has failed. */
export const MAX_ATTEMPTS = 3;

/** Processes that may die with it in all: a model may call a tool that ends its process again and again. */
export const MAX_LOST_PROCESSES = 30;
