import type { CacheLife, Effort } from "../../core/model-settings.ts";
import type { Generated, GeneratedAlways } from "kysely";

import type { CallStatus } from "../../core/calls.ts";
import type { AskedBy, ExchangeState } from "../../core/exchanges.ts";
import type { Origin } from "../../core/principal.ts";
import type { KeptMode } from "../../core/permissions.ts";
import type { Role, SessionState } from "../../core/sessions.ts";
import type { AccessTables } from "./access.ts";
import type { ChangeNumber, ChangeTables } from "./changes.ts";
import type { CheckpointTables } from "./checkpoints.ts";
import type { QuestionTables } from "./questions.ts";
import type { FileChangeTable } from "./file-changes.ts";
import type { ModelCallTables } from "./model-calls.ts";
import type { PlanTables } from "./plans.ts";
import type { SearchTables } from "./search.ts";

/**
 * The tables as kysely sees them. Times are ISO 8601 text in UTC, flags are 0 or 1, JSON is text:
 * the same on both engines. The checkpoint tables are described in `checkpoints/schema.ts`, those
 * of changes in `changes/schema.ts`, those of questions in `questions/schema.ts`, those of the page's logins in
 * `access/schema.ts`, those of costs in `model-calls.ts`, those of plans in `plans.ts`, those of the
 * search in `search.ts`.
 */
export interface Database
  extends
    CheckpointTables,
    ChangeTables,
    QuestionTables,
    AccessTables,
    ModelCallTables,
    PlanTables,
    SearchTables {
  sessions: SessionTable;
  messages: MessageTable;
  session_changes: SessionChangeTable;
  exchanges: ExchangeTable;
  file_changes: FileChangeTable;
  session_metadata: SessionMetadataTable;
  answer_pieces: AnswerPieceTable;
  live_states: LiveStateTable;
  readiness_probes: ReadinessProbeTable;
  nodes: NodeTable;
}

export interface SessionTable {
  id: string;
  state: Generated<SessionState>;
  persona_name: string | null;
  model: string | null;
  repo_path: string | null;
  project_key: string | null;
  /** See `projectIdOf`. */
  project_id: string | null;
  title: string | null;
  plan_mode: Generated<number>;
  /** Null for the model's default, and for that of the provider's cache. */
  effort: Effort | null;
  cache: CacheLife | null;
  /** In each prefix of its threads that was made in this database. No export has it, so no file can forge it. */
  prefix_mark: string | null;
  /** JSON of the list; null for that of the persona or the config. */
  fallback: string | null;
  /** The session that a fork began from, which may be deleted by now, and its last message that the fork has; null for others. */
  forked_from_session_id: string | null;
  forked_from_seq: number | null;
  parent_session_id: string | null;
  /** The tool call of the parent that began this session: called again, it finds it again. */
  parent_call_id: string | null;
  /** 0..3, checked by the database. */
  depth: Generated<number>;
  total_input_tokens: Generated<number>;
  total_output_tokens: Generated<number>;
  thread_suffix: Generated<number>;
  /** The highest `seq` given out; raised in the transaction that inserts the message. */
  last_seq: Generated<number>;
  /** Messages up to this one were archived by the clear action. */
  cleared_seq: Generated<number>;
  created_at: Generated<string>;
  last_message_at: string | null;
  /** `last_message_at`, or `created_at` before the first message: what the list is ordered by. */
  last_activity_at: GeneratedAlways<string>;
  ended_at: string | null;
  /** JSON of LeaseOwner while an exchange holds the session. */
  lease_owner: string | null;
  /** Raised whenever the lease changes hands; a write with an older one is refused. */
  lease_epoch: Generated<number>;
  lease_expires_at: string | null;
  /** 1 from the moment an exchange begins until it finishes. */
  exchange_open: Generated<number>;
  /** Why the open exchange failed: an error code and its sentence; null for one that was cut. */
  failure_code: string | null;
  failure_sentence: string | null;
  /** Who created it; null for a program that does not say so. */
  origin: Origin | null;
  /** 0 if the caller who created it was not authenticated. */
  authenticated: Generated<number>;
  /**
   * When the model, persona and folder of an HTTP caller were confirmed or, with the token, shown.
   */
  accepted_at: string | null;
  /** The Idempotency-Key of the request that created it, and a fingerprint of that request. */
  create_key: string | null;
  create_request: string | null;
  /**
   * `total_input_tokens` never falls: this much of it is more than was counted, because estimates
   * were higher than what the provider counted in their place.
   */
  input_tokens_ahead: Generated<number>;
  /** How the user opened it by its id or from a list: `terminal` or `prompt`. */
  chosen: Origin | null;
  /** The session at the top of its tree; the session itself if it has no parent. Null only if another program cleared it. */
  root_session_id: string | null;
  /** The name of the agent that runs it; null for the built-in one. */
  agent: string | null;
  /** The `n` of its last exchange record. */
  exchange_count: Generated<number>;
  /**
   * Since when a node may run its next exchange: one is queued, and none has begun that has not
   * ended. Null if not.
   */
  ready_at: string | null;
  /** Tokens that its models may use: see `TOKEN_LIMITS`. Null for no limit, and below a root. */
  exchange_limit: number | null;
  session_limit: number | null;
  tree_limit: number | null;
  /** Micro-dollars that they may cost, in the same way. */
  exchange_price_limit: number | null;
  session_price_limit: number | null;
  tree_price_limit: number | null;
  /** The user's own title; `title` follows from the first message. */
  name: string | null;
  /** When `name` was last set or taken away; null if it never was. Of two databases the later name counts. */
  named_at: string | null;
  archived_at: string | null;
  /** When the archive mark was last set or taken away, as `named_at`. */
  archive_changed_at: string | null;
  /** Since when it is at the top; null if it is not. */
  pinned_at: string | null;
  pin_changed_at: string | null;
  metadata_changed_at: string | null;
  changed: Generated<ChangeNumber>;
  /** The number of its creation. */
  created_change: Generated<ChangeNumber>;
  /** Mode of its tree, outside of planning mode. Only that of a root counts; no export has it. */
  permission_mode: Generated<KeptMode>;
  /** JSON: what a person allowed, as GivenRule[]; of a whole session in its root. No export has it. */
  permission_rules: string | null;
}

/** Pairs of text that a client keeps with a session, and finds it by. */
export interface SessionMetadataTable {
  session_id: string;
  key: string;
  value: string;
}

export const CHANGED_FIELDS = ["model", "persona_name", "repo_path", "title"] as const;
export type ChangedField = (typeof CHANGED_FIELDS)[number];

/** A change of a session after its creation. */
export interface SessionChangeTable {
  session_id: string;
  /** From 1 in each session, in the order of commits. */
  number: number;
  field: Generated<ChangedField>;
  value: Generated<string>;
  origin: Origin | null;
  authenticated: Generated<number>;
  accepted_at: string | null;
  ts: Generated<string>;
}

export interface MessageTable {
  session_id: string;
  seq: number;
  /** The id of the same message in the checkpoint: joins the mirror to the checkpoint. */
  message_id: Generated<string>;
  role: Generated<Role>;
  content: Generated<string>;
  tool_calls: string | null;
  /** Call that a tool's result answers. */
  call_id: string | null;
  /** Status of the call of a tool's result; null for what was not recorded. */
  status: CallStatus | null;
  token_count: Generated<number>;
  is_summary: Generated<number>;
  archived: Generated<number>;
  ts: Generated<string>;
  /** 1 once a checkpoint holds the message. A user message with 0 is pending. */
  checkpointed: Generated<number>;
  idempotency_key: string | null;
  /** Who stored it; null for a program that does not say so. */
  origin: Origin | null;
  /** 0 if that caller was not authenticated: the agent gets it only once it was accepted. */
  authenticated: Generated<number>;
  accepted_at: string | null;
}

/**
 * An exchange of a session; `core/exchanges.ts` draws its life. At most one of a session is running,
 * waiting or interrupted, and has the session's `exchange_open` and `lease_epoch`.
 */
export interface ExchangeTable {
  session_id: string;
  /** From 1 in each session. */
  n: number;
  /** The `exchange_id` of its events. */
  id: string;
  /** Raised whenever the row changes. */
  revision: Generated<number>;
  /**
   * A process that is killed leaves `running`: until the session is written to again, the lease
   * says whether that is true.
   */
  state: ExchangeState;
  asked_by: AskedBy;
  /** The exchange of the parent session whose tool call this one answers. */
  parent_n: number | null;
  /** The thread of the session in which it runs. */
  thread_suffix: number | null;
  /** The lease under which it runs or ran last. */
  epoch: number | null;
  model: string | null;
  /** The model that took over from it; null if none has. */
  fallback_model: string | null;
  persona_name: string | null;
  /** The position of its first message; there may be none yet. */
  first_seq: number | null;
  /** The last position of the session when it ended. */
  last_seq: number | null;
  /** The totals of the session when it began. */
  input_before: number | null;
  output_before: number | null;
  /** Tokens that it used, once it has ended. */
  input_tokens: number | null;
  output_tokens: number | null;
  /** Why it failed, or was stopped by something else than its caller. */
  error_code: string | null;
  error_sentence: string | null;
  /** When the limit is over that it failed at, if its provider says so. */
  resets_at: string | null;
  begun_at: string | null;
  ended_at: string | null;
  /** A queued exchange is not run before; null for at once. */
  not_before: string | null;
  /** The message of a queued exchange; it moves to `messages` when the exchange begins. */
  content: string | null;
  /** Who sent it. */
  origin: Origin | null;
  authenticated: Generated<number>;
  /** Key of the request that queued it, and its fingerprint. */
  idempotency_key: string | null;
  request: string | null;
  /** How many processes that ran it have died. */
  attempts: Generated<number>;
  /** How many of them had died when it last made progress. */
  attempts_before: Generated<number>;
  /** Progress of its tree when the last of its agents died: see `readProgress`. */
  progress: Generated<number>;
  /** When somebody asked its process to stop. */
  stop_asked_at: string | null;
  /** When it was queued: if its process dies, a node continues it by itself. Null for others. */
  queued_at: string | null;
  changed: Generated<ChangeNumber>;
}

/**
 * A piece of an answer that is being written, until a checkpoint holds the answer. The pieces of an answer
 * that never came stay, and nobody is shown them.
 */
export interface AnswerPieceTable {
  session_id: string;
  message_id: string;
  /** The lease under which it was written: an exchange that is continued may write the answer again. */
  epoch: number;
  /** Code points of the answer before this piece. */
  position: number;
  /** The exchange. */
  n: number;
  text: string;
}

/** Activity of an exchange that no other row shows. It counts only while the lease has this epoch. */
export interface LiveStateTable {
  session_id: string;
  n: number;
  epoch: number;
  /** Raised whenever the row changes. */
  revision: number;
  /** The answer that is being written; null between two answers. */
  message_id: string | null;
  /** JSON of `LiveState`. */
  value: string;
}

/** Services that run exchanges now. A row that was not seen for a while is of one that died. */
export interface NodeTable {
  id: string;
  /** The name of the agent that it runs; null for the built-in one. */
  agent: string | null;
  /** JSON of `NodeFolders`. */
  folders: string;
  seen_at: string;
}

/** Empty between transactions: see `readiness.ts`. */
export interface ReadinessProbeTable {
  id: string;
}
