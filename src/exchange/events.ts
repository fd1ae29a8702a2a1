import { type Static, type TProperties, Type } from "typebox";

import { CALL_STATUSES } from "../core/calls.ts";
import { ERROR_CODES } from "../core/errors.ts";
import { PHASE_STATES } from "../core/plan-runs.ts";
import { callFacts } from "../core/schemas/field-schemas.ts";
import { type Message, ROLES, type Session } from "../core/sessions.ts";

const text = () => Type.String();
const count = () => Type.Integer({ minimum: 0 });
const oneOf = <const Words extends readonly string[]>(words: Words) =>
  Type.Unsafe<Words[number]>({ type: "string", enum: [...words] });

/** Every event names its exchange and the session of that exchange. */
const identity = {
  exchange_id: Type.String({ format: "uuid" }),
  session_id: Type.String({ format: "uuid" }),
};

function event<const Name extends string, const Fields extends TProperties>(
  type: Name,
  fields: Fields,
) {
  return Type.Object(
    { type: Type.Literal(type), ...identity, ...fields },
    { additionalProperties: false },
  );
}

/** How the session is after an exchange; `message_id` is its last answer, if it has one. */
const ending = {
  message_id: Type.Union([text(), Type.Null()]),
  last_seq: count(),
  total_input_tokens: count(),
  total_output_tokens: count(),
};

/**
 * Event of an exchange that runs, as docs/protocol/engine.md describes it ("Events of an exchange"). The last one is
 * `done`, `stopped`, `waiting` or `failed`. A listener only listens.
 */
export const ExchangeEvent = Type.Union([
  /** The lease is held and the user's message is stored. */
  event("started", {
    thread_id: text(),
    /** Null for an agent that chooses its model itself. */
    model: Type.Union([text(), Type.Null()]),
    persona_name: Type.Union([text(), Type.Null()]),
    /** The agent's name; the built-in one has none. */
    agent: Type.Optional(text()),
    /** True for a new message that skips an exchange which was interrupted. */
    skips: Type.Optional(Type.Literal(true)),
  }),
  /** A message is stored; `call_id` is the call that a tool's result answers. */
  event("message", {
    message_id: text(),
    call_id: Type.Union([text(), Type.Null()]),
    seq: Type.Integer({ minimum: 1 }),
    role: oneOf(ROLES),
    is_summary: Type.Boolean(),
  }),
  /**
   * A piece of what the model thinks before it answers, as its provider shows it. The first one of an answer may be
   * empty, and the only one if the provider shows nothing. Of a long text it is the beginning, up to
   * `EVENT_REASONING_BYTES`.
   */
  event("reasoning", { message_id: text(), text: text() }),
  /** A piece of an answer, as the provider sent it. */
  event("text", { message_id: text(), text: text() }),
  /** The answer `message_id` calls a tool. */
  event("tool_call", {
    message_id: text(),
    call_id: text(),
    name: text(),
    args: Type.Unknown(),
    ...callFacts,
  }),
  /** `content` is cut; `content_bytes` is the length of all of it in UTF-8. */
  event("tool_result", {
    call_id: text(),
    name: text(),
    ...callFacts,
    status: oneOf(CALL_STATUSES),
    content: text(),
    content_bytes: count(),
    duration_ms: count(),
  }),
  /**
   * The answer `message_id` failed with a transient error: what was reported of it is void. The
   * provider is asked again after `delay_ms`, for an answer with another id.
   */
  event("retry", {
    message_id: text(),
    attempt: Type.Integer({ minimum: 2 }),
    code: oneOf(ERROR_CODES),
    reason: text(),
    delay_ms: count(),
  }),
  /** The tokens of one answer or summary, as the provider counted them. */
  event("usage", { message_id: text(), input_tokens: count(), output_tokens: count() }),
  /** A sub-agent runs for the call `call_id`. */
  event("child", { call_id: text(), child_session_id: text(), persona_name: text() }),
  /** A sub-agent waits until one of those that run has finished. */
  event("child_waiting", { call_id: text(), running: count() }),
  /** A phase of a run has another state, or another attempt. */
  event("phase", {
    key: text(),
    attempt: Type.Integer({ minimum: 1 }),
    state: oneOf(PHASE_STATES),
    /** Why the last attempt failed or was refused; null for none. */
    error: Type.Union([Type.Object({ code: text(), sentence: text() }), Type.Null()]),
  }),
  /** Something that a person should know, in one sentence. */
  event("notice", {
    sentence: text(),
    /** What is counted of it, if anything is. */
    about: Type.Optional(oneOf(["reasoning_dropped", "fallback", "hook"])),
    /** The model that answers from now on, of a notice about a fallback. */
    model: Type.Optional(text()),
  }),
  event("done", ending),
  event("stopped", ending),
  /** A tool asks a person; the exchange is not finished. */
  event("waiting", ending),
  event("failed", {
    code: oneOf(ERROR_CODES),
    detail: text(),
    /** When the limit is over that was reached, if its provider says so: ISO 8601 in UTC. */
    resets_at: Type.Optional(text()),
  }),
]);
export type ExchangeEvent = Static<typeof ExchangeEvent>;

export type ExchangeListener = (event: ExchangeEvent) => void;

/** Fields of the result of every exchange that does not fail. */
interface ResultFields {
  readonly session: Session;
  readonly thread_id: string;
  /** Null for an agent that chooses its model itself. */
  readonly model: string | null;
  /** The rows that the exchange stored, in order of `seq`; the first 1,000. */
  readonly messages: readonly Message[];
}

/** How an exchange ended. One that failed throws instead. */
export type ExchangeResult =
  /** `answer` is the text of the last answer. */
  | (ResultFields & { readonly state: "done"; readonly answer: string })
  /** Somebody stopped it; `answer` is the text that had arrived, which is kept. */
  | (ResultFields & { readonly state: "stopped"; readonly answer: string })
  /**
   * A tool or a node asks a person. The exchange is not finished and can be continued. `interrupts`
   * has what a graph of its caller's asks.
   */
  | (ResultFields & {
      readonly state: "waiting";
      readonly interrupts?: readonly GraphQuestion[];
    });

/** A LangGraph interrupt. */
export interface GraphQuestion {
  readonly id: string | null;
  readonly value: unknown;
}
