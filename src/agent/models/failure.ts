import {
  type ErrorCode,
  isRepriseError,
  lacksDescriptors,
  RepriseError,
} from "../../core/errors.ts";
import type { Scrub } from "../../core/text/scrub.ts";
import type { Keyless } from "../../rules/models/settings.ts";
import { parseModelName } from "../../rules/models/name.ts";
import { providerLabel, withCapital } from "../../rules/models/providers.ts";
import { BROKEN_OFF, ENDED_EARLY } from "./follow-end.ts";
import { providerReason, type ReasonFilter } from "./provider-reason.ts";
import { isLongWait, mayRepeat, readProviderError, type ProviderError } from "./provider-error.ts";

/**
 * The causes in the order in which they are checked, each with its code and what to do about it.
 */
interface Cause {
  readonly code: ErrorCode;
  readonly applies: (error: ProviderError) => boolean;
  readonly says: string;
  readonly advice: string;
  /** True if another model may be able to answer: the request, the key and the account are not to blame. */
  readonly fallsBack?: true;
}

/** Codes of what a provider's filters refuse, in a request or an answer: OpenAI's and Azure's. */
const POLICIES: readonly string[] = [
  "bio_policy",
  "misalignment_policy_violation",
  "content_policy_violation",
  "content_filter",
];

const ABOUT_THE_KEY: readonly string[] = [
  "authentication_error",
  "invalid_api_key",
  "invalid_authentication",
];

/** The third and the fourth are of models that were shut down: Groq's. */
const ABOUT_THE_MODEL: readonly string[] = [
  "not_found_error",
  "model_not_found",
  "model_decommissioned",
  "model_terminated",
];

const CAUSES: readonly Cause[] = [
  {
    code: "model_context_full",
    applies: ({ contextFull }) => contextFull,
    says: "rejected the request: it is longer than the model's context",
    advice: "Start a new session, or choose a model with a larger context.",
  },
  {
    code: "model_rate_limited",
    applies: ({ quota, status }) => quota || status === 402,
    says: "reports that its quota or credit is used up",
    advice: "Check the plan and billing of the account.",
    fallsBack: true,
  },
  {
    code: "model_rate_limited",
    applies: ({ status, type }) =>
      status === 429 || type === "rate_limit_error" || type === "rate_limit_exceeded",
    says: "is rate-limiting your requests",
    advice: "Wait a moment.",
    fallsBack: true,
  },
  {
    code: "model_refused",
    applies: ({ type }) => type !== null && POLICIES.includes(type),
    says: "refuses to answer this",
    advice: "Change the request, or choose another model.",
  },
  {
    code: "model_unauthorized",
    applies: ({ status, type }) =>
      status === 401 || (type !== null && ABOUT_THE_KEY.includes(type)),
    says: "refused the key",
    advice: "Check that it is right and may use this model.",
  },
  {
    code: "model_unauthorized",
    applies: ({ status, type }) => status === 403 || type === "permission_error",
    says: "refuses this model to the account",
    advice: "Check what the account may use, or choose another model.",
  },
  {
    code: "model_unknown",
    applies: ({ status, type }) =>
      status === 404 || status === 410 || (type !== null && ABOUT_THE_MODEL.includes(type)),
    says: "does not know this model",
    advice:
      "Check its name, and the base URL if you set one. `reprise models` lists what the provider offers.",
    fallsBack: true,
  },
  {
    code: "model_unreachable",
    applies: ({ timedOut, status }) => timedOut || status === 408,
    says: "did not answer in time",
    advice: "Check the network and the server.",
    fallsBack: true,
  },
  {
    code: "model_unreachable",
    applies: ({ type }) => type === BROKEN_OFF,
    says: "can no longer be reached: the connection broke in the middle of the answer",
    advice: "Check the network, or try again.",
    fallsBack: true,
  },
  {
    code: "model_unreachable",
    applies: ({ connection }) => connection !== null,
    says: "cannot be reached",
    advice: "Check the network and the base URL.",
    fallsBack: true,
  },
  {
    code: "model_failed",
    applies: ({ type }) => type === ENDED_EARLY,
    says: "ended its answer before it was whole",
    advice: "Try again.",
    fallsBack: true,
  },
  {
    code: "model_failed",
    applies: (error) => (error.status !== null && error.status >= 500) || mayRepeat(error),
    says: "reported an error or is overloaded",
    advice: "Wait a moment.",
    fallsBack: true,
  },
  {
    code: "model_failed",
    applies: ({ status }) => status !== null,
    says: "rejected the request",
    advice: "Try another model or a new session.",
  },
];

/**
 * Turns what a provider's client threw into one sentence with what to do: `model_unauthorized`,
 * `model_unknown`, `model_unreachable`, `model_rate_limited`, `model_context_full`, else
 * `model_refused` or `model_failed`. It names the status, the provider's short codes and the kind of network error,
 * and the provider's own reason if there is a `filter`: `providerReason`. A RepriseError passes
 * through. A call that the user stopped is not a failure: check the signal first. How the message
 * gets its answer is for the front end to say.
 */
export function modelFailure(
  error: unknown,
  name: string,
  keyless: Keyless | null = null,
  filter: ReasonFilter | null = null,
): RepriseError {
  if (isRepriseError(error)) {
    return error;
  }
  if (lacksDescriptors(error)) {
    return new RepriseError(
      "descriptors_exhausted",
      "This process has no file descriptor left. Try again later; raise its limit (ulimit -n) if this repeats.",
      { cause: error },
    );
  }
  const found = readProviderError(error);
  const facts = detail(found, filter?.scrub);
  const cause = CAUSES.find(({ applies }) => applies(found));
  const why = filter === null ? null : providerReason(error, filter);
  const mayFallBack = cause?.fallsBack === true;
  const resetsAt =
    cause?.code === "model_rate_limited" || isLongWait(found) ? found.resetsAt : null;
  if (cause === undefined) {
    const what = `The call to ${labelOf(name)} failed in an unexpected way`;
    return failed("model_failed", what, {
      why,
      advice: "Try again.",
      mayFallBack,
      resetsAt,
      error,
    });
  }
  if (cause.code === "model_unauthorized" && keyless !== null) {
    const what = withCapital(`${labelOf(name)} requires an API key, and none is set${facts}`);
    const advice = `Set ${keyless.variable}. The request was sent to ${keyless.host}.`;
    return failed(cause.code, what, { why, advice, mayFallBack, resetsAt });
  }
  const reason = withCapital(`${labelOf(name)} ${cause.says}${facts}`);
  const advice = isLongWait(found) ? waitAdvice(found.retryAfterMs) : cause.advice;
  return failed(cause.code, reason, { why, advice, mayFallBack, resetsAt });
}

function failed(
  code: ErrorCode,
  what: string,
  { why, advice, mayFallBack, resetsAt, error }: Failed,
): RepriseError {
  const without_reason = `${what}. ${advice}`;
  const resets_at = resetsAt === null ? null : new Date(resetsAt).toISOString();
  const failure = { reason: what, may_fall_back: mayFallBack, resets_at };
  return why === null
    ? new RepriseError(code, without_reason, { cause: error, failure })
    : new RepriseError(code, `${what}: "${why}". ${advice}`, { without_reason, failure });
}

interface Failed {
  readonly why: string | null;
  readonly advice: string;
  readonly mayFallBack: boolean;
  /** By the clock of this machine, in milliseconds. */
  readonly resetsAt: number | null;
  readonly error?: unknown;
}

/** Why a call failed, for a person who need not do anything about it: without what to do. */
export function failureReason(error: unknown, name: string, scrub: Scrub): string {
  const found = readProviderError(error);
  const cause = CAUSES.find(({ applies }) => applies(found));
  return `${labelOf(name)} ${cause?.says ?? "failed"}${detail(found, scrub)}`;
}

function waitAdvice(ms: number | null): string {
  const seconds = Math.ceil((ms ?? 0) / 1000);
  const [unit, length] = UNITS.find(([, length]) => seconds >= 2 * length) ?? ["seconds", 1];
  return `It asks to wait ${Math.ceil(seconds / length)} ${unit}. Try again after that.`;
}

/** Units of a wait in seconds; each is used from two of it on. */
const UNITS = [
  ["days", 86_400],
  ["hours", 3600],
  ["minutes", 60],
] as const;

function labelOf(name: string): string {
  try {
    return providerLabel(parseModelName(name).provider);
  } catch {
    return "the model's provider";
  }
}

/** A code that is, or holds, a secret is left out. */
function detail({ status, type, connection }: ProviderError, scrub?: Scrub): string {
  const isCode = type !== null && type !== ENDED_EARLY && type !== BROKEN_OFF;
  const isShown = isCode && (scrub?.(type) ?? type) === type;
  const named = isShown ? type : null;
  const parts = [status === null ? null : `status ${status}`, named, connection];
  const known = parts.filter((part) => part !== null);
  return known.length === 0 ? "" : ` (${known.join(", ")})`;
}
