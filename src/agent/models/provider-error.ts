import { MAX_POSTPONED_MS } from "../../core/limits.ts";
import { BROKEN_OFF, ENDED_EARLY } from "./follow-end.ts";
import { resetOf } from "./limit-reset.ts";

/** Facts of a provider's failure, without its text. */
export interface ProviderError {
  /** HTTP status, or null if no answer came. */
  readonly status: number | null;
  /** The provider's own short code, such as `invalid_request_error`. */
  readonly type: string | null;
  /** The system's code of a broken connection, such as `ECONNREFUSED`. */
  readonly connection: string | null;
  readonly timedOut: boolean;
  readonly contextFull: boolean;
  readonly quota: boolean;
  /** How long the provider asks to wait, in milliseconds; null if it does not say. */
  readonly retryAfterMs: number | null;
  /** When the limit is over that was reached, in milliseconds of this machine's clock; null if it does not say. */
  readonly resetsAt: number | null;
}

/** A client wraps the network's error two or three deep; a loop of causes must end. */
const MAX_LINKS = 8;

const CONTEXT_FULL =
  /context_length_exceeded|prompt is too long|maximum context length|exceeds the (?:available )?context|context window|input tokens exceed/i;
const QUOTA = /insufficient_quota|credit balance is too low|exceeded your current quota/i;
const CONNECTION =
  /^(?:ECONN|ENOTFOUND|EAI_|EHOST|ENET|EPIPE|EPROTO|ERR_SSL|ERR_TLS|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|UND_ERR_)[A-Z_\d]{0,60}$/;
const TIMED_OUT = /^(?:ETIMEDOUT|UND_ERR_(?:CONNECT|HEADERS|BODY)_TIMEOUT)$/;
/** Words: a provider may write what it was sent, such as a key, in the place of a code. */
const SHORT_CODE = /^(?=.{2,41}$)[a-z]{1,24}\d{0,3}(?:_(?:[a-z]{1,24}\d{0,3}|\d{1,3}))*$/;

/** Sentence of Ollama's client for a stream without its last line, which has no code. */
const OLLAMA_ENDED_EARLY = "Did not receive done or success response in stream.";

/** Reads the errors of the openai, anthropic and ollama clients, of fetch, and their causes. */
export function readProviderError(error: unknown): ProviderError {
  const chain = causes(error);
  const codes = chain.flatMap((link) => strings(link, "code"));
  const names = chain.flatMap((link) => strings(link, "name"));
  const text = chain.flatMap((link) => [...strings(link, "message"), ...strings(link, "error")]);
  const all = [...codes, ...text].join("\n");
  const retryAfterMs = chain.map(retryAfterOf).find((ms) => ms !== null) ?? null;
  const now = Date.now();
  return {
    status: chain.map(statusOf).find((status) => status !== null) ?? null,
    type:
      chain.flatMap(shortCodes).find((code) => SHORT_CODE.test(code)) ??
      (text.includes(OLLAMA_ENDED_EARLY) ? ENDED_EARLY : null),
    connection: codes.find((code) => CONNECTION.test(code)) ?? connectionByName(names, text),
    timedOut: codes.some((code) => TIMED_OUT.test(code)) || names.some(isTimeout),
    contextFull: names.includes("ContextOverflowError") || CONTEXT_FULL.test(all),
    quota: QUOTA.test(all),
    retryAfterMs,
    resetsAt:
      retryAfterMs === null
        ? (chain.map((link) => resetIn(link, now)).find((at) => at !== null) ?? null)
        : retryAfterMs > MAX_POSTPONED_MS
          ? null
          : now + retryAfterMs,
  };
}

/** Types of errors in a stream that has begun with status 200: Anthropic's, then OpenAI's and those of compatible servers. */
const PASSING_TYPES: readonly (string | null)[] = [
  "rate_limit_error",
  "overloaded_error",
  "api_error",
  "timeout_error",
  "rate_limit_exceeded",
  "server_error",
  "server_overloaded",
  "internal_server_error",
  "service_unavailable",
  ENDED_EARLY,
  BROKEN_OFF,
];

/** True for a failure that may be over in a moment. */
export function mayRepeat(error: ProviderError): boolean {
  const { status, type, connection, timedOut, contextFull, quota } = error;
  if (contextFull || quota) {
    return false;
  }
  return status === null
    ? connection !== null || timedOut || PASSING_TYPES.includes(type)
    : status >= 500 || status === 408 || status === 409 || status === 429;
}

/**
 * True if a provider refuses reasoning that it gave, because what comes before it has changed. The sentence is that
 * of "Preserved thinking" in Anthropic's documentation (2026-11-26).
 */
export function isPrefixRefusal(error: unknown): boolean {
  const text = causes(error).flatMap((link) => strings(link, "message"));
  return text.some((line) => line.includes("bound to a different conversation"));
}

/** A provider that asks for a longer pause is not asked again. */
export const MAX_RETRY_AFTER_MS = 60_000;

/** True if a failure may be over, but only after a longer pause than an exchange takes. */
export function isLongWait(error: ProviderError): boolean {
  return mayRepeat(error) && (error.retryAfterMs ?? 0) > MAX_RETRY_AFTER_MS;
}

/**
 * Milliseconds that a `Retry-After` means, which is a number of seconds of at most nine digits or an HTTP date; null
 * for anything else.
 */
export function parseRetryAfter(value: string, now: number): number | null {
  if (/^\d{1,9}(?:\.\d+)?$/.test(value.trim())) {
    return Number(value) * 1000;
  }
  // a date begins with its weekday; Date.parse takes `-1` for one too
  const date = /^\s*[A-Z][a-z]{2,8}, /.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}

function retryAfterOf(link: object): number | null {
  const headers: unknown = Reflect.get(link, "headers");
  const value = headers instanceof Headers ? headers.get("retry-after") : null;
  return value === null ? null : parseRetryAfter(value, Date.now());
}

function resetIn(link: object, now: number): number | null {
  const headers: unknown = Reflect.get(link, "headers");
  return headers instanceof Headers ? resetOf(headers, now) : null;
}

/** The error, its causes, and the parsed bodies that the clients keep in `error`. */
export function causes(error: unknown): object[] {
  const found: object[] = [];
  const waiting: unknown[] = [error];
  while (waiting.length > 0 && found.length < MAX_LINKS) {
    const link = waiting.shift();
    if (typeof link !== "object" || link === null || found.includes(link)) {
      continue;
    }
    found.push(link);
    waiting.push(Reflect.get(link, "cause"), Reflect.get(link, "error"));
  }
  return found;
}

function strings(link: object, key: string): string[] {
  const value: unknown = Reflect.get(link, key);
  return typeof value === "string" ? [value] : [];
}

/** An error in a stream that has begun has no HTTP status; some servers give one as its code. */
function statusOf(link: object): number | null {
  for (const key of ["status", "statusCode", "status_code", "code"]) {
    const value: unknown = Reflect.get(link, key);
    const status = typeof value === "string" && STATUS.test(value) ? Number(value) : value;
    if (typeof status === "number" && status >= 400 && status <= 599) {
      return status;
    }
  }
  return null;
}

const STATUS = /^[45]\d\d$/;

function shortCodes(link: object): string[] {
  return [...strings(link, "code"), ...strings(link, "type")].filter((code) => code !== "error");
}

function isTimeout(name: string): boolean {
  return name === "TimeoutError" || name === "APIConnectionTimeoutError";
}

/** A stream that breaks in the middle, and old clients, name no code. */
function connectionByName(names: readonly string[], text: readonly string[]): string | null {
  if (names.includes("APIConnectionError")) {
    return "connection failed";
  }
  const broken = text.some((line) =>
    /^(?:fetch failed|terminated|connection error\.?)$/i.test(line),
  );
  return broken ? "connection failed" : null;
}
