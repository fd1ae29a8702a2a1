/**
 * Every way in which Reprise refuses or fails, as one closed set. Code that reacts to a failure
 * compares `code`; nobody matches a message. `http/problem.ts` turns a code into a status and
 * `cli/process/exit-code.ts` into an exit code, each in one table.
 */
export const ERROR_CODES = [
  // errors of the caller's request
  "invalid_request",
  "invalid_usage",
  "malformed_json",
  "malformed_request",
  "headers_too_large",
  "unsupported_media_type",
  "body_too_large",
  "method_not_allowed",
  "route_not_found",
  "unauthorized",
  "token_required",
  "host_refused",
  "origin_refused",
  "request_timeout",
  "login_refused",
  "too_many_logins",
  "access_not_found",
  "idempotency_key_reused",
  // sessions
  "session_not_found",
  "ambiguous_id",
  "session_ended",
  "session_busy",
  "lease_lost",
  "lease_required",
  "depth_exceeded",
  "session_exists",
  "export_invalid",
  "nothing_to_continue",
  "exchange_interrupted",
  "exchange_not_found",
  "exchange_changed",
  "exchange_ended",
  "exchange_begun",
  "attempts_used_up",
  "nothing_to_undo",
  "changes_elsewhere",
  "question_open",
  "question_not_found",
  "question_answered",
  "question_withdrawn",
  "terminal_required",
  "call_limit_reached",
  "budget_reached",
  "price_limit_reached",
  "price_unknown",
  "not_confirmed",
  // the search
  "search_off",
  // threads
  "thread_not_found",
  "thread_exists",
  "thread_of_session",
  // a caller's own agent
  "graph_unsuitable",
  "agent_differs",
  "agent_failed",
  // the database
  "database_newer",
  "database_too_old",
  "database_foreign",
  "database_locked",
  "database_readonly",
  "database_corrupt",
  "database_full",
  "database_network",
  "database_unsupported",
  "database_unavailable",
  // models and personas
  "model_unknown",
  "effort_unknown",
  "model_key_missing",
  "package_missing",
  "model_unauthorized",
  "model_unreachable",
  "model_rate_limited",
  "model_context_full",
  "model_failed",
  "model_refused",
  "hook_denied",
  "answer_cut",
  "persona_not_found",
  "persona_invalid",
  "folder_not_trusted",
  "folder_missing",
  "folder_moved",
  // artifacts
  "schema_unknown",
  "schema_invalid",
  "schema_checks_busy",
  "plan_invalid",
  // runs of plans
  "run_exists",
  "run_missing",
  "run_takes_no_message",
  "role_unknown",
  "phase_failed",
  "artifact_missing",
  "check_failed",
  "sandbox_missing",
  // files and output
  "file_unreadable",
  "output_failed",
  "follow_failed",
  "file_unwritable",
  // the program itself
  "config_invalid",
  "address_unavailable",
  "node_too_old",
  "shutting_down",
  "answers_unread",
  "descriptors_exhausted",
  "internal",
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** Error in a request body, query or file; `pointer` is a JSON pointer (RFC 6901). */
export interface Fault {
  readonly pointer: string;
  readonly message: string;
}

/** A session that an ambiguous id could have meant. */
export interface Candidate {
  readonly id: string;
  readonly title: string | null;
  readonly last_activity_at: string;
}

/** A call of a model that its provider failed or refused. */
export interface ProviderFailure {
  /** Why, for a person who need not do anything about it: without what to do, and without the provider's text. */
  readonly reason: string;
  /** True if another model may be able to answer. */
  readonly may_fall_back: boolean;
  /** When the limit is over that was reached, as ISO 8601 in UTC; null if there is none, or nobody knows. */
  readonly resets_at: string | null;
}

export interface ErrorDetails {
  readonly faults?: readonly Fault[];
  readonly candidates?: readonly Candidate[];
  /** Methods that the path does take, for `method_not_allowed`. */
  readonly allow?: readonly string[];
  /** The id of the question that has to be answered first, for `question_open`. */
  readonly open_question?: string;
  /** The sentence without what a model's provider wrote, for those who may not read that. */
  readonly without_reason?: string;
  readonly failure?: ProviderFailure;
  /** True if the exchange meets it again when it is continued. */
  readonly is_lasting?: boolean;
  readonly cause?: unknown;
}

const IS_REPRISE_ERROR = Symbol.for("reprise.error");

/**
 * The only error that Reprise throws on purpose.
 *
 * `message` is one sentence for a person: what is wrong and what to do next. It never holds a
 * stack trace, a secret or a value that the caller sent.
 */
export class RepriseError extends Error {
  /** True for an error of another copy of this module, too: `--agent` loads a second one. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof Error && IS_REPRISE_ERROR in value;
  }
  readonly [IS_REPRISE_ERROR] = true;
  override readonly name = "RepriseError";
  readonly code: ErrorCode;
  readonly faults: readonly Fault[];
  readonly candidates: readonly Candidate[];
  readonly allow: readonly string[];
  readonly open_question: string | null;
  /** The same sentence, for everybody: `message` may hold what a model's provider wrote. */
  readonly without_reason: string;
  /** Null for an error that no provider of models has caused. */
  readonly failure: ProviderFailure | null;
  readonly is_lasting: boolean;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.faults = details.faults ?? [];
    this.candidates = details.candidates ?? [];
    this.allow = details.allow ?? [];
    this.open_question = details.open_question ?? null;
    this.without_reason = details.without_reason ?? message;
    this.failure = details.failure ?? null;
    this.is_lasting = details.is_lasting ?? false;
  }
}

/** Narrows an unknown failure to a RepriseError with one of the given codes (any code if none). */
export function isRepriseError(error: unknown, ...codes: ErrorCode[]): error is RepriseError {
  return error instanceof RepriseError && (codes.length === 0 || codes.includes(error.code));
}

/** Causes of causes that are read at most: they may form a cycle. */
const MAX_CAUSES = 10;

/** True if an error, or what caused it, is that this process or its machine has no file descriptor left. */
export function lacksDescriptors(error: unknown): boolean {
  let next = error;
  for (let depth = 0; depth < MAX_CAUSES && next instanceof Error; depth += 1) {
    if (["EMFILE", "ENFILE"].includes(String(systemCode(next)))) {
      return true;
    }
    next = next.cause;
  }
  return false;
}

/** The code of an error of the system or of a library, such as `ENOENT`. */
export function systemCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string"
    ? error.code
    : undefined;
}
