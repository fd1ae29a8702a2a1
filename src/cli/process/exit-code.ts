import type { ErrorCode } from "../../core/errors.ts";

/** Exit codes: 0 done, 1 failed, 2 usage, 3 not found, 4 ambiguous, 5 ended, 6 busy, 7 asks, 8 denied. */
const EXIT_CODES: Partial<Record<ErrorCode, number>> = {
  invalid_request: 2,
  invalid_usage: 2,
  body_too_large: 2,
  config_invalid: 2,
  effort_unknown: 2,
  price_unknown: 2,
  search_off: 2,
  folder_not_trusted: 2,
  folder_missing: 2,
  folder_moved: 2,
  not_confirmed: 2,
  terminal_required: 2,
  graph_unsuitable: 2,
  agent_differs: 2,
  run_takes_no_message: 2,
  role_unknown: 2,
  sandbox_missing: 2,
  session_not_found: 3,
  run_missing: 3,
  exchange_not_found: 3,
  question_not_found: 3,
  thread_not_found: 3,
  persona_not_found: 3,
  schema_unknown: 3,
  access_not_found: 3,
  ambiguous_id: 4,
  session_ended: 5,
  session_busy: 6,
  run_exists: 6,
  schema_checks_busy: 6,
  answers_unread: 6,
  question_open: 7,
  hook_denied: 8,
};

/** Exit code of an exchange that waits for an answer: `sessions answer` gives it. */
export const ASKS = 7;

/** Exit code of an exchange of `-p` that was answered although rules denied some of its calls. */
export const DENIED = 8;

export function exitCodeOf(code: ErrorCode): number {
  return EXIT_CODES[code] ?? 1;
}
