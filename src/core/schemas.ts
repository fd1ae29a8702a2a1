import { Type, type Static, type TSchema } from "typebox";

import {
  DEFAULT_LIST_LIMIT,
  MAX_LIST_LIMIT,
  MAX_CONTENT_BYTES,
  MAX_NAME_LENGTH,
  MAX_PATH_LENGTH,
  MESSAGES_PER_READ,
} from "./limits.ts";
import { ACTIVITIES, type Message, ROLES, type Session, SESSION_STATES } from "./sessions.ts";

/**
 * The data transfer objects of the HTTP API. One schema gives the validation, the type, the
 * serializer and the OpenAPI document. All are closed: an unknown field is refused.
 */
const closed = { additionalProperties: false } as const;

const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const time = () => Type.String({ format: "date-time" });
const count = () => Type.Integer({ minimum: 0 });
const name = () => Type.String({ minLength: 1, maxLength: MAX_NAME_LENGTH });

const summaryFields = {
  id: Type.String({ format: "uuid" }),
  state: Type.Enum([...SESSION_STATES]),
  activity: Type.Enum([...ACTIVITIES]),
  title: nullable(Type.String()),
  persona_name: nullable(Type.String()),
  model: nullable(Type.String()),
  repo_path: nullable(Type.String()),
  project_key: nullable(Type.String()),
  plan_mode: Type.Boolean(),
  parent_session_id: nullable(Type.String()),
  depth: count(),
  total_input_tokens: count(),
  total_output_tokens: count(),
  last_seq: count(),
  created_at: time(),
  last_message_at: nullable(time()),
  ended_at: nullable(time()),
};

export const SessionSummary = Type.Object(summaryFields, { ...closed, $id: "SessionSummary" });
export type SessionSummary = Static<typeof SessionSummary>;

const ToolCall = Type.Object(
  { id: Type.String(), name: Type.String(), args: Type.Unknown() },
  closed,
);

export const MessageInfo = Type.Object(
  {
    session_id: Type.String({ format: "uuid" }),
    seq: Type.Integer({ minimum: 1 }),
    role: Type.Enum([...ROLES]),
    content: Type.String(),
    tool_calls: nullable(Type.Array(ToolCall)),
    token_count: count(),
    is_summary: Type.Boolean(),
    archived: Type.Boolean(),
    ts: time(),
  },
  { ...closed, $id: "MessageInfo" },
);
export type MessageInfo = Static<typeof MessageInfo>;

export const SessionDetail = Type.Object(
  {
    ...summaryFields,
    messages: Type.Array(MessageInfo, { maxItems: MESSAGES_PER_READ }),
    has_earlier: Type.Boolean(),
  },
  { ...closed, $id: "SessionDetail" },
);
export type SessionDetail = Static<typeof SessionDetail>;

export const SessionAck = Type.Object(
  {
    id: Type.String({ format: "uuid" }),
    state: Type.Enum([...SESSION_STATES]),
    seq: count(),
    title: nullable(Type.String()),
    total_input_tokens: count(),
    total_output_tokens: count(),
  },
  { ...closed, $id: "SessionAck" },
);
export type SessionAck = Static<typeof SessionAck>;

export const CreateSessionRequest = Type.Object(
  {
    persona_name: Type.Optional(nullable(name())),
    model_override: Type.Optional(nullable(name())),
    repo_path: Type.Optional(
      nullable(Type.String({ minLength: 1, maxLength: MAX_PATH_LENGTH, pattern: "^/" })),
    ),
  },
  { ...closed, $id: "CreateSessionRequest" },
);
export type CreateSessionRequest = Static<typeof CreateSessionRequest>;

export const PostMessageRequest = Type.Object(
  { content: Type.String({ minLength: 1, maxLength: MAX_CONTENT_BYTES }) },
  { ...closed, $id: "PostMessageRequest" },
);
export type PostMessageRequest = Static<typeof PostMessageRequest>;

export const ListQuery = Type.Object(
  {
    limit: Type.Integer({ minimum: 1, maximum: MAX_LIST_LIMIT, default: DEFAULT_LIST_LIMIT }),
    state: Type.Optional(Type.Enum([...SESSION_STATES])),
    project_key: Type.Optional(Type.String({ pattern: "^[0-9a-f]{16}$" })),
    cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  },
  closed,
);
export type ListQuery = Static<typeof ListQuery>;

/** The summary of a stored session: the same fields without what only the program needs. */
export function sessionSummary(session: Session): SessionSummary {
  const { thread_suffix: _, ...summary } = session;
  return summary;
}

export function messageInfo(message: Message): MessageInfo {
  const { message_id: _, tool_calls, ...info } = message;
  return { ...info, tool_calls: tool_calls === null ? null : [...tool_calls] };
}

/** What a session's writer gets back: `seq` is the message's, or the last one where none was stored. */
export function sessionAck(session: Session, seq: number): SessionAck {
  const { id, state, title, total_input_tokens, total_output_tokens } = session;
  return { id, state, seq, title, total_input_tokens, total_output_tokens };
}
