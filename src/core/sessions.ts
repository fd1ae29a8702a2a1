export const SESSION_STATES = ["active", "ended"] as const;
export type SessionState = (typeof SESSION_STATES)[number];

export const ACTIVITIES = ["idle", "running", "interrupted"] as const;
/**
 * What the agent is doing with the session: `running` while a process holds its lease,
 * `interrupted` when an exchange began and never came to its end, else `idle`.
 */
export type Activity = (typeof ACTIVITIES)[number];

/** Why an exchange failed: an error code and a sentence for a person, without any secret. */
export interface ExchangeFailure {
  readonly code: string;
  readonly sentence: string;
}

export const ROLES = ["user", "assistant", "tool", "system"] as const;
export type Role = (typeof ROLES)[number];

/** A stored session as the rest of the program sees it. Times are ISO 8601 in UTC. */
export interface Session {
  readonly id: string;
  readonly state: SessionState;
  readonly activity: Activity;
  readonly title: string | null;
  readonly persona_name: string | null;
  readonly model: string | null;
  readonly repo_path: string | null;
  readonly project_key: string | null;
  readonly plan_mode: boolean;
  readonly parent_session_id: string | null;
  readonly depth: number;
  readonly total_input_tokens: number;
  readonly total_output_tokens: number;
  readonly thread_suffix: number;
  readonly last_seq: number;
  readonly created_at: string;
  readonly last_message_at: string | null;
  readonly ended_at: string | null;
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly args: unknown;
}

/** A stored message. `tool_calls` is null if the message called no tool. */
export interface Message {
  readonly session_id: string;
  readonly seq: number;
  readonly message_id: string;
  readonly role: Role;
  readonly content: string;
  readonly tool_calls: readonly ToolCall[] | null;
  readonly token_count: number;
  readonly is_summary: boolean;
  readonly archived: boolean;
  readonly ts: string;
}

/**
 * `activity`: the latest activity first. A session that gets a message moves to the front, so one
 * that was not listed yet may move past whoever reads page by page.
 *
 * `created`: the oldest first. A session never moves, so pages lose none and repeat none, and a
 * session created meanwhile is on the last page.
 */
export const LIST_ORDERS = ["activity", "created"] as const;
export type ListOrder = (typeof LIST_ORDERS)[number];
