import type { ListRequest } from "./list-request.ts";

/** A model as its provider lists it. */
export interface ListedModel {
  /** As the provider knows it, without the provider's name. */
  readonly model: string;
  /** Tokens that it reads at most, if the provider says so. */
  readonly context: number | null;
  /** Its last day, `2026-12-11`, if the provider says so. */
  readonly ends: string | null;
}

const TIMEOUT_MS = 5000;
/** The largest known list, of 400 models with descriptions, has less than 1 MB. */
const MAX_BYTES = 4 * 1024 * 1024;
/** More help nobody. */
const MAX_LISTED = 1000;
/** Visible ASCII: what is listed is shown in terminals and sent back in requests. */
const NAME = /^[\x21-\x7e]{1,200}$/;
const MAX_CONTEXT = 1_000_000_000;

/** Returns the provider's own list, or why there is none: half a sentence for a person. */
export async function askList({
  url,
  headers,
}: ListRequest): Promise<readonly ListedModel[] | string> {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const answer = await fetch(url, { headers, signal, redirect: "error" });
    if (!answer.ok) {
      await answer.body?.cancel();
      return `answered ${answer.status}`;
    }
    const text = await readText(answer);
    return text === null ? "sent a list that is too large" : readList(text);
  } catch (error) {
    return error instanceof DOMException && error.name === "TimeoutError"
      ? `did not answer within ${TIMEOUT_MS / 1000} s`
      : "cannot be reached";
  }
}

/** Null for more than `MAX_BYTES`, of which no more is read. */
async function readText({ body }: Response): Promise<string | null> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of body ?? []) {
    size += piece.length;
    if (size > MAX_BYTES) {
      return null;
    }
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}

function readList(text: string): readonly ListedModel[] | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return "sent no list";
  }
  return readListed(member(value, "data") ?? member(value, "models")) ?? "sent no list";
}

/** Takes what can be used of a list; null for anything else. Also reads what is kept of one. */
export function readListed(entries: unknown): readonly ListedModel[] | null {
  if (!Array.isArray(entries)) {
    return null;
  }
  const found = new Map<string, ListedModel>();
  for (const entry of entries) {
    const model = member(entry, "id") ?? member(entry, "name") ?? member(entry, "model");
    if (found.size < MAX_LISTED && typeof model === "string" && NAME.test(model)) {
      found.set(model, { model, context: contextOf(entry), ends: endOf(entry) });
    }
  }
  return [...found.values()];
}

/** As OpenRouter, Groq, Anthropic and vLLM name it, and as it is kept. */
function contextOf(entry: unknown): number | null {
  for (const name of [
    "context_length",
    "context_window",
    "max_input_tokens",
    "max_model_len",
    "context",
  ]) {
    const value = member(entry, name);
    if (typeof value === "number" && Number.isSafeInteger(value)) {
      return value > 0 && value <= MAX_CONTEXT ? value : null;
    }
  }
  return null;
}

/** As OpenAI names it, and as it is kept. */
function endOf(entry: unknown): string | null {
  const value = member(entry, "shutdown_date") ?? member(entry, "ends");
  return typeof value === "string" &&
    /^\d{4}-\d{2}-\d{2}$/.test(value) &&
    !Number.isNaN(Date.parse(value))
    ? value
    : null;
}

function member(value: unknown, name: string): unknown {
  return isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
