import { Type, type Static, type TSchema } from "typebox";

import { CALL_STATUSES } from "../calls.ts";
import { ERROR_CODES } from "../errors.ts";
import { ASKED_BY, EXCHANGE_STATES } from "../exchanges.ts";
import {
  closed,
  fieldSchemas,
  nullable,
  nullableOneOf,
  oneOf,
  Permission,
  QuestionChoice,
  text,
  ToolCall,
} from "./field-schemas.ts";
import {
  MAX_NAME_LENGTH,
  MAX_PATH_LENGTH,
  MAX_POSTPONED_DAYS,
  MESSAGES_PER_READ,
} from "../limits.ts";
import { KEPT_MODES, PERMISSION_MODES } from "../permissions.ts";
import { CACHE_LIVES, EFFORTS, MAX_FALLBACKS } from "../model-settings.ts";
import { metadata } from "./label-schemas.ts";
import { costFields } from "./usage-schemas.ts";
import type { Metadata } from "../labels.ts";
import {
  ANSWERERS,
  MAX_ANSWER,
  QUESTION_FIELDS,
  QUESTION_KINDS,
  QUESTION_STATES,
} from "../questions.ts";
import {
  ACTIVITIES,
  EXCHANGE_FIELDS,
  type FieldTypes,
  MESSAGE_FIELDS,
  ROLES,
  SESSION_FIELDS,
  SESSION_STATES,
} from "../sessions.ts";

/**
 * The data transfer objects of the HTTP API. One schema gives the validation, the type, the
 * serializer and the OpenAPI document. All are closed: an unknown field is refused.
 *
 * A `description` that begins with "an" or "a" completes the sentence "Must be …" in a refusal.
 */

/** The schema under its own name: the OpenAPI document describes it once. */
export function named<T extends TSchema>(schema: T) {
  if (!("$id" in schema)) {
    throw new TypeError("only a schema with an $id has a name");
  }
  return Type.Unsafe<Static<T>>({ $ref: `${String(schema.$id)}#` });
}

const time = () => Type.String({ format: "date-time" });
const uuid = () => Type.String({ format: "uuid" });
const count = () => Type.Integer({ minimum: 0 });
export const name = () =>
  Type.String({ minLength: 1, maxLength: MAX_NAME_LENGTH, format: "storable-text" });

const FALLBACK = {
  maxItems: MAX_FALLBACKS,
  description: `a list of up to ${MAX_FALLBACKS} models, as provider:model`,
};
/** Models that answer in the place of one that cannot, as they are stored. */
const fallback = () => Type.Array(name(), FALLBACK);

/** The schema of each kind of field; see `FieldTypes`. */
const KINDS: Readonly<Record<keyof FieldTypes, () => TSchema>> = {
  id: uuid,
  state: () => oneOf(SESSION_STATES),
  activity: () => oneOf(ACTIVITIES),
  role: () => oneOf(ROLES),
  text: () => Type.String(),
  "text?": () => nullable(Type.String()),
  time,
  "time?": () => nullable(time()),
  count,
  "count?": () => nullable(count()),
  exchange_state: () => oneOf(EXCHANGE_STATES),
  asked_by: () => oneOf(ASKED_BY),
  position: () => Type.Integer({ minimum: 1 }),
  question_state: () => oneOf(QUESTION_STATES),
  question_kind: () => oneOf(QUESTION_KINDS),
  "answerer?": () => nullableOneOf(ANSWERERS),
  "effort?": () => nullableOneOf(EFFORTS),
  "cache?": () => nullableOneOf(CACHE_LIVES),
  "fallback?": () => nullable(fallback()),
  "choices?": () => nullable(Type.Array(QuestionChoice)),
  "permission?": () => nullable(Permission),
  flag: () => Type.Boolean(),
  "calls?": () => nullable(Type.Array(ToolCall)),
  "call_status?": () => nullableOneOf(CALL_STATUSES),
};

const summaryFields = {
  ...fieldSchemas(SESSION_FIELDS, KINDS),
  metadata: Type.Unsafe<Metadata>(Type.Record(Type.String(), Type.String())),
  /** The mode that counts while `plan_mode` is false; null for another agent. */
  permission: nullableOneOf(KEPT_MODES),
  /** The session that a fork began from, which may be deleted by now, and the last of its messages that the fork has, or 0. */
  forked_from: nullable(Type.Object({ session_id: uuid(), seq: count() }, closed)),
  /** The exchange that the session runs now, or ran last; null if it has none. */
  exchange: nullable(
    Type.Object({ n: Type.Integer({ minimum: 1 }), state: oneOf(EXCHANGE_STATES) }, closed),
  ),
};

export const SessionSummary = Type.Object(summaryFields, { ...closed, $id: "SessionSummary" });
export type SessionSummary = Static<typeof SessionSummary>;

export const MessageInfo = Type.Object(fieldSchemas(MESSAGE_FIELDS, KINDS), {
  ...closed,
  $id: "MessageInfo",
});
export type MessageInfo = Static<typeof MessageInfo>;

/** Thoughts of a model before an answer. */
export const ReasoningInfo = Type.Object(
  {
    seq: Type.Integer({ minimum: 1, description: "Of the answer." }),
    message_id: Type.String(),
    text: Type.String({ description: "The beginning of it; empty if its provider hides it." }),
    bytes: Type.Integer({ minimum: 0, description: "UTF-8 bytes of the whole text." }),
    is_hidden: Type.Boolean({
      description: "True if the model thought, and its provider does not show what.",
    }),
  },
  { ...closed, $id: "ReasoningInfo" },
);
export type ReasoningInfo = Static<typeof ReasoningInfo>;

const exchangeFields = fieldSchemas(EXCHANGE_FIELDS, KINDS);

export const ExchangeInfo = Type.Object(exchangeFields, { ...closed, $id: "ExchangeInfo" });
export type ExchangeInfo = Static<typeof ExchangeInfo>;

/** An exchange with what the requests of its session's models cost; those of sub-agents are in their sessions. */
export const ListedExchange = Type.Object(
  { ...exchangeFields, ...costFields },
  { ...closed, $id: "ListedExchange" },
);
export type ListedExchange = Static<typeof ListedExchange>;

export const ExchangeDetail = Type.Object(
  {
    ...exchangeFields,
    ...costFields,
    content: nullable(Type.String({ description: "The message, until the exchange begins." })),
  },
  { ...closed, $id: "ExchangeDetail" },
);
export type ExchangeDetail = Static<typeof ExchangeDetail>;

/** An exchange that was queued, and whether a node runs it. */
export const QueuedExchangeInfo = Type.Object(
  {
    ...exchangeFields,
    runnable: Type.Boolean({
      description: "False if no node that is alive runs exchanges of this session.",
    }),
    command: nullable(Type.String({ description: "What starts such a node, if there is none." })),
    open_question: nullable(
      Type.String({
        format: "uuid",
        description: "The question whose answer the session waits for; null if it waits for none.",
      }),
    ),
  },
  { ...closed, $id: "QueuedExchangeInfo" },
);
export type QueuedExchangeInfo = Static<typeof QueuedExchangeInfo>;

/** `path`: the sessions from the root down to the one that asks, if a list was asked for. */
export const QuestionInfo = Type.Object(
  { ...fieldSchemas(QUESTION_FIELDS, KINDS), path: Type.Optional(Type.Array(uuid())) },
  { ...closed, $id: "QuestionInfo" },
);
export type QuestionInfo = Static<typeof QuestionInfo>;

/** Either `choice` or `text`, never both. */
export const AnswerRequest = Type.Object(
  {
    choice: Type.Optional(
      Type.Unsafe<string>({
        ...text(),
        minLength: 1,
        maxLength: MAX_ANSWER,
        description: "the id of one of the choices, for a question that has choices",
      }),
    ),
    text: Type.Optional(
      Type.Unsafe<string>({
        ...text(),
        minLength: 1,
        maxLength: MAX_ANSWER,
        description: `a text of 1 to ${MAX_ANSWER} characters, for a question without choices`,
      }),
    ),
    note: Type.Optional(nullable(Type.String({ ...text(), maxLength: MAX_ANSWER }))),
  },
  { ...closed, minProperties: 1, $id: "AnswerRequest" },
);
export type AnswerRequest = Static<typeof AnswerRequest>;

export const SessionDetail = Type.Object(
  {
    ...summaryFields,
    ...costFields,
    messages: Type.Array(named(MessageInfo), { maxItems: MESSAGES_PER_READ }),
    has_earlier: Type.Boolean(),
  },
  { ...closed, $id: "SessionDetail" },
);
export type SessionDetail = Static<typeof SessionDetail>;

export const SessionAck = Type.Object(
  {
    id: uuid(),
    state: oneOf(SESSION_STATES),
    seq: count(),
    title: nullable(Type.String()),
    total_input_tokens: count(),
    total_output_tokens: count(),
  },
  { ...closed, $id: "SessionAck" },
);
export type SessionAck = Static<typeof SessionAck>;

/** A session that was deleted, and how much of it there was. */
export const DeletedSession = Type.Object(
  {
    id: uuid(),
    title: nullable(Type.String()),
    parent_session_id: nullable(uuid()),
    messages: count(),
    threads: count(),
    checkpoints: count(),
  },
  { ...closed, $id: "DeletedSession" },
);
export type DeletedSession = Static<typeof DeletedSession>;

export const Problem = Type.Object(
  {
    type: Type.String(),
    title: Type.String(),
    status: Type.Integer(),
    code: oneOf(ERROR_CODES),
    detail: Type.String(),
    faults: Type.Optional(
      Type.Array(Type.Object({ pointer: Type.String(), message: Type.String() }, closed)),
    ),
    candidates: Type.Optional(
      Type.Array(
        Type.Object(
          { id: Type.String(), title: nullable(Type.String()), last_activity_at: time() },
          closed,
        ),
      ),
    ),
    /** Id of the question that has to be answered first, with `question_open`. */
    open_question: Type.Optional(uuid()),
  },
  { ...closed, $id: "Problem" },
);
export type Problem = Static<typeof Problem>;

export const limit = () => Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });

export const repoPath = () =>
  Type.String({
    minLength: 1,
    maxLength: MAX_PATH_LENGTH,
    pattern: "^/",
    format: "storable-text",
    description: "an absolute path",
  });

export const permissionMode = () => oneOf(PERMISSION_MODES);

/** How much the model reasons; null is its default. */
export const effort = () => nullableOneOf(EFFORTS);
/** How long the provider keeps what it has read; null is the default. */
export const cacheLife = () => nullableOneOf(CACHE_LIVES);
/** Returns the schema of the models that a client sets in place of one that cannot answer: each has a provider, and none is named twice. */
export function chosenFallback() {
  const named = { pattern: NAMED_MODEL, description: "a model as provider:model" };
  return Type.Array(Type.String({ ...name(), ...named }), { ...FALLBACK, uniqueItems: true });
}
/** `demo`, or a provider and a model. */
const NAMED_MODEL = "^(?:demo$|[a-z][a-z0-9_-]{0,31}:.*\\S)";

const scopedLimits = (description: string) =>
  Type.Object(
    {
      exchange: Type.Optional(limit()),
      session: Type.Optional(limit()),
      tree: Type.Optional(limit()),
    },
    { ...closed, description },
  );

export const CreateSessionRequest = Type.Object(
  {
    persona_name: Type.Optional(nullable(name())),
    model_override: Type.Optional(nullable(name())),
    repo_path: Type.Optional(nullable(repoPath())),
    token_limits: Type.Optional(
      scopedLimits(
        "Tokens, read and written ones together, that an exchange with its sub-agents, the session alone, and the session with its sub-agents may use",
      ),
    ),
    price_limits: Type.Optional(
      scopedLimits("Micro-dollars that the requests of models may cost, in the same way"),
    ),
    metadata: Type.Optional(metadata()),
    permission: Type.Optional(permissionMode()),
    effort: Type.Optional(effort()),
    cache: Type.Optional(cacheLife()),
    fallback: Type.Optional(nullable(chosenFallback())),
  },
  { ...closed, $id: "CreateSessionRequest" },
);
export type CreateSessionRequest = Static<typeof CreateSessionRequest>;

export const PostMessageRequest = Type.Object(
  // no maxLength: content that is too long is answered with 413, which has its own code
  {
    content: Type.Unsafe<string>({
      ...text(),
      minLength: 1,
      description: "text of 1 character to 1 MiB of UTF-8",
    }),
  },
  { ...closed, $id: "PostMessageRequest" },
);
export type PostMessageRequest = Static<typeof PostMessageRequest>;

/** Without content, what was interrupted is continued, or pending messages are handed over. */
export const QueueExchangeRequest = Type.Object(
  {
    content: Type.Optional(PostMessageRequest.properties.content),
    supersede: Type.Optional(
      Type.Boolean({
        description: "true to withdraw the open questions, so that the message need not wait",
      }),
    ),
    if_idle: Type.Optional(
      Type.Boolean({
        description: "true to queue nothing while another exchange is queued, runs or waits",
      }),
    ),
    not_before: Type.Optional(
      nullable(
        Type.String({
          format: "date-time",
          description: `a time of ISO 8601, at most ${MAX_POSTPONED_DAYS} days ahead: no node runs the exchange before`,
        }),
      ),
    ),
  },
  { ...closed, $id: "QueueExchangeRequest" },
);
export type QueueExchangeRequest = Static<typeof QueueExchangeRequest>;

/** Point at which a fork begins: at the end of the last exchange up to this message; without it, at the session's last. */
export const ForkSessionRequest = Type.Object(
  {
    at_seq: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: "a position of a message, or 0",
      }),
    ),
  },
  { ...closed, $id: "ForkSessionRequest" },
);
export type ForkSessionRequest = Static<typeof ForkSessionRequest>;

/** Ending takes nothing: no body, or an empty object. */
export const EndSessionRequest = Type.Object({}, { ...closed, $id: "EndSessionRequest" });
