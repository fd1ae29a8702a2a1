import type { CallFacts, CallStatus } from "./calls.ts";
import type { CacheLife, Effort, Fallback } from "./model-settings.ts";
import type { AskedBy, ExchangeState } from "./exchanges.ts";
import type {
  Answerer,
  AskedPermission,
  Choice,
  QUESTION_FIELDS,
  QuestionKind,
  QuestionState,
} from "./questions.ts";

export const SESSION_STATES = ["active", "ended"] as const;
export type SessionState = (typeof SESSION_STATES)[number];

export const ACTIVITIES = ["idle", "running", "interrupted"] as const;
/**
 * Activity of the agent in the session: `running` while a process holds its lease, `interrupted` if an exchange began
 * and never finished, else `idle`.
 */
export type Activity = (typeof ACTIVITIES)[number];

/** Why an exchange failed: an error code and a sentence for a person, without any secret. */
export interface ExchangeFailure {
  /** When the limit is over that was reached, if its provider says so. */
  readonly resets_at?: string | null;
  readonly code: string;
  readonly sentence: string;
}

export const ROLES = ["user", "assistant", "tool", "system"] as const;
export type Role = (typeof ROLES)[number];

/** A call of a tool, as a model makes it. */
export interface MadeCall {
  readonly id: string;
  readonly name: string;
  readonly args: unknown;
}

/** With what is known of it. */
export interface ToolCall extends MadeCall, CallFacts {}

/** Type of a field of the API: with a question mark it may be null. Times are ISO 8601 in UTC. */
export interface FieldTypes {
  id: string;
  state: SessionState;
  activity: Activity;
  role: Role;
  text: string;
  "text?": string | null;
  time: string;
  "time?": string | null;
  count: number;
  "count?": number | null;
  position: number;
  exchange_state: ExchangeState;
  asked_by: AskedBy;
  question_state: QuestionState;
  question_kind: QuestionKind;
  "answerer?": Answerer | null;
  "effort?": Effort | null;
  "cache?": CacheLife | null;
  "fallback?": Fallback | null;
  "choices?": readonly Choice[] | null;
  "permission?": AskedPermission | null;
  flag: boolean;
  "calls?": ToolCall[] | null;
  "call_status?": CallStatus | null;
}
export type FieldTable = Readonly<Record<string, keyof FieldTypes>>;
export type FieldValues<T extends FieldTable> = { readonly [Name in keyof T]: FieldTypes[T[Name]] };

/**
 * Fields of a session's row that the API shows, in their order. Its schema, the columns that are read for it
 * and its JSON follow from this table. `activity` is not a column. `agent` names the agent that runs the session: null for
 * the built-in one, or if none has run it yet; `plan` for a run of a plan.
 */
export const SESSION_FIELDS = {
  id: "id",
  state: "state",
  activity: "activity",
  title: "text?",
  name: "text?",
  persona_name: "text?",
  model: "text?",
  agent: "text?",
  repo_path: "text?",
  project_key: "text?",
  project_id: "text?",
  plan_mode: "flag",
  effort: "effort?",
  cache: "cache?",
  fallback: "fallback?",
  parent_session_id: "text?",
  depth: "count",
  total_input_tokens: "count",
  total_output_tokens: "count",
  last_seq: "count",
  created_at: "time",
  last_message_at: "time?",
  archived_at: "time?",
  pinned_at: "time?",
  ended_at: "time?",
} as const;

/** A stored session as the rest of the program uses it. */
export interface Session extends FieldValues<typeof SESSION_FIELDS> {
  readonly thread_suffix: number;
  /** The call of the session above it that began it: see `isDelegated`. */
  readonly parent_call_id: string | null;
}

/**
 * A message in the API, as `SESSION_FIELDS`. `message_id` is that of the checkpoint's message; `tool_calls` is null if
 * it called no tool. Of a tool's result, `call_id` is the call that it answers, and `status` how that ended; both are
 * null for other messages, and for what was not recorded.
 */
export const MESSAGE_FIELDS = {
  session_id: "id",
  seq: "position",
  message_id: "text",
  role: "role",
  content: "text",
  tool_calls: "calls?",
  call_id: "text?",
  status: "call_status?",
  token_count: "count",
  is_summary: "flag",
  archived: "flag",
  ts: "time",
} as const;

/** A stored message. */
export type Message = FieldValues<typeof MESSAGE_FIELDS>;

/** The record of an exchange in the API, as `SESSION_FIELDS`. */
export const EXCHANGE_FIELDS = {
  session_id: "id",
  n: "position",
  id: "id",
  revision: "position",
  state: "exchange_state",
  asked_by: "asked_by",
  parent_n: "count?",
  model: "text?",
  fallback_model: "text?",
  persona_name: "text?",
  first_seq: "count?",
  last_seq: "count?",
  input_tokens: "count?",
  output_tokens: "count?",
  error_code: "text?",
  error_sentence: "text?",
  attempts: "count",
  resets_at: "time?",
  queued_at: "time?",
  not_before: "time?",
  begun_at: "time?",
  ended_at: "time?",
} as const;

/** A stored record of an exchange. */
export type ExchangeRecord = FieldValues<typeof EXCHANGE_FIELDS>;

/** A stored question. */
export type QuestionRecord = FieldValues<typeof QUESTION_FIELDS>;

/**
 * `activity`: the latest activity first. A session that gets a message moves to the front, so one
 * that was not listed yet may be missed while the pages are read.
 *
 * `created`: the oldest first. A session never moves, so pages lose none and repeat none, and a
 * session created meanwhile is on the last page.
 */
export const LIST_ORDERS = ["activity", "created"] as const;
export type ListOrder = (typeof LIST_ORDERS)[number];

/** By `seq`: the oldest message first, or the latest. */
export const MESSAGE_ORDERS = ["asc", "desc"] as const;
export type MessageOrder = (typeof MESSAGE_ORDERS)[number];

/** Groups into which the requests of models are summed. A session's have those of its sub-agents. */
export const STATS_BY = ["day", "session", "folder", "model"] as const;
export type StatsBy = (typeof STATS_BY)[number];

/** Forms of an export: `json` can be imported, the others are for people. */
export const EXPORT_FORMATS = ["json", "md", "html"] as const;
