import { STATUS_CODES } from "node:http";

import { FAILED_LOGINS_MS } from "../core/access.ts";
import {
  type ErrorCode,
  isRepriseError,
  lacksDescriptors,
  RepriseError,
  systemCode,
} from "../core/errors.ts";
import type { Problem } from "../core/schemas/schemas.ts";

/** The one table from an error code to a status. A code that no request can cause is 500. */
const STATUSES: Record<ErrorCode, number> = {
  invalid_request: 422,
  invalid_usage: 422,
  malformed_json: 400,
  malformed_request: 400,
  headers_too_large: 431,
  unsupported_media_type: 415,
  body_too_large: 413,
  method_not_allowed: 405,
  route_not_found: 404,
  unauthorized: 401,
  token_required: 403,
  host_refused: 403,
  origin_refused: 403,
  request_timeout: 408,
  login_refused: 401,
  too_many_logins: 429,
  access_not_found: 404,
  idempotency_key_reused: 422,
  session_not_found: 404,
  ambiguous_id: 409,
  session_ended: 409,
  session_busy: 409,
  lease_lost: 409,
  lease_required: 409,
  depth_exceeded: 422,
  session_exists: 409,
  export_invalid: 422,
  nothing_to_continue: 409,
  exchange_interrupted: 409,
  exchange_not_found: 404,
  exchange_changed: 412,
  exchange_ended: 409,
  exchange_begun: 409,
  attempts_used_up: 500,
  nothing_to_undo: 409,
  changes_elsewhere: 409,
  question_open: 409,
  question_not_found: 404,
  question_answered: 409,
  question_withdrawn: 409,
  terminal_required: 403,
  call_limit_reached: 409,
  budget_reached: 409,
  price_limit_reached: 409,
  price_unknown: 422,
  search_off: 409,
  not_confirmed: 409,
  thread_not_found: 404,
  thread_exists: 409,
  thread_of_session: 409,
  graph_unsuitable: 422,
  agent_differs: 409,
  agent_failed: 502,
  database_newer: 503,
  database_too_old: 503,
  database_foreign: 503,
  database_locked: 503,
  database_readonly: 503,
  database_corrupt: 503,
  database_full: 503,
  database_network: 503,
  database_unsupported: 503,
  database_unavailable: 503,
  model_unknown: 422,
  effort_unknown: 422,
  model_key_missing: 502,
  package_missing: 502,
  model_unauthorized: 502,
  model_unreachable: 502,
  model_rate_limited: 502,
  model_context_full: 502,
  model_failed: 502,
  model_refused: 502,
  hook_denied: 409,
  answer_cut: 502,
  persona_not_found: 422,
  persona_invalid: 422,
  folder_not_trusted: 422,
  folder_missing: 422,
  folder_moved: 422,
  schema_unknown: 404,
  schema_invalid: 422,
  schema_checks_busy: 503,
  plan_invalid: 422,
  run_exists: 409,
  run_missing: 404,
  run_takes_no_message: 409,
  role_unknown: 422,
  phase_failed: 409,
  artifact_missing: 409,
  check_failed: 409,
  sandbox_missing: 422,
  file_unreadable: 500,
  output_failed: 500,
  follow_failed: 500,
  file_unwritable: 500,
  config_invalid: 500,
  address_unavailable: 500,
  node_too_old: 500,
  shutting_down: 503,
  answers_unread: 503,
  descriptors_exhausted: 503,
  internal: 500,
};

/** Seconds after which a refused client may try again, sent with every 503. */
const RETRY_AFTER_SECONDS = 5;

export const PROBLEM_TYPE = "application/problem+json";

/** An error as the client sees it: an RFC 9457 problem and the headers that belong to it. */
export interface ProblemAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Problem;
}

/** Turns any failure into a problem. What is not a RepriseError shows nothing of itself. */
export function problemOf(error: unknown): ProblemAnswer {
  const refusal = refusalFor(error);
  const status = STATUSES[refusal.code];
  return {
    status,
    headers: headersOf(refusal, status),
    body: {
      type: "about:blank",
      title: STATUS_CODES[status] ?? "Error",
      status,
      code: refusal.code,
      detail: status === 500 ? INTERNAL.message : refusal.message,
      ...(refusal.faults.length > 0 ? { faults: [...refusal.faults] } : {}),
      ...(refusal.candidates.length > 0 ? { candidates: [...refusal.candidates] } : {}),
      ...(refusal.open_question === null ? {} : { open_question: refusal.open_question }),
    },
  };
}

function refusalFor(error: unknown): RepriseError {
  const refusal = isRepriseError(error) ? error : refusalOf(error);
  // parts of the program are loaded with the first request that needs them
  return STATUSES[refusal.code] === 500 && lacksDescriptors(error) ? NO_DESCRIPTORS : refusal;
}

const NO_DESCRIPTORS = new RepriseError(
  "descriptors_exhausted",
  "The service has no file descriptor left. Try again later; raise its limit (ulimit -n) if this repeats.",
);

function headersOf(refusal: RepriseError, status: number): Record<string, string> {
  switch (status) {
    case 401:
      return { "www-authenticate": "Bearer" };
    case 405:
      return { allow: refusal.allow.join(", ") };
    case 429:
      return { "retry-after": String(FAILED_LOGINS_MS / 1000) };
    case 503:
      return { "retry-after": String(RETRY_AFTER_SECONDS) };
    default:
      return {};
  }
}

const INTERNAL = new RepriseError(
  "internal",
  "The service failed to answer this request; try again, and see its log if it fails again.",
);

/** Translates a refusal of the HTTP framework, by the framework's own error codes. */
function refusalOf(error: unknown): RepriseError {
  switch (systemCode(error)) {
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return new RepriseError(
        "body_too_large",
        "The request body is too large; a message or an artifact holds 1 MiB of UTF-8 text at most.",
      );
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
      return new RepriseError(
        "unsupported_media_type",
        "The request body must be JSON in UTF-8; send it with Content-Type: application/json.",
      );
    case "FST_ERR_CTP_INVALID_CONTENT_LENGTH":
    case "ECONNRESET":
      return new RepriseError(
        "malformed_request",
        "The request body ended early; send as many bytes as Content-Length says.",
      );
    default:
      return INTERNAL;
  }
}
