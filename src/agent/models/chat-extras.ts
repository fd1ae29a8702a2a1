import { AIMessage, type BaseMessage } from "@langchain/core/messages";

import type { Quirks } from "../../rules/models/providers.ts";

/** In an answer's `additional_kwargs`: blocks of reasoning as OpenRouter sent them. */
export const REASONING_DETAILS = "reasoning_details";

/** In an answer's `additional_kwargs`: for each of its calls what Gemini sent beside it, or null. */
export const CALL_EXTRAS = "reprise_call_extras";

/** Field of a call that holds its signature. */
const EXTRA = "extra_content";

/**
 * Signature of a call that has none, such as one of another provider: Gemini 3 and later refuse a call without any.
 * Source: ai.google.dev/gemini-api/docs/thought-signatures.
 */
const UNSIGNED = { google: { thought_signature: "skip_thought_signature_validator" } };

type Fields = Readonly<Record<string, unknown>>;

/**
 * Gathers what servers stream beside an answer and want back unchanged. LangChain's joining of pieces would double
 * their texts that do not grow, such as a format.
 */
export class ChatExtras {
  readonly #details: Record<string, unknown>[] = [];
  readonly #calls: { readonly key: unknown; extra: unknown }[] = [];

  add(delta: Fields): void {
    for (const piece of recordsIn(delta, REASONING_DETAILS)) {
      this.#addDetail(piece);
    }
    for (const piece of recordsIn(delta, "tool_calls")) {
      const call = this.#callOf(piece);
      call.extra = piece[EXTRA] ?? call.extra;
    }
  }

  /** Returns the part that an answer keeps; nothing without any. */
  kept(): Fields {
    return {
      ...(this.#details.length === 0 ? {} : { [REASONING_DETAILS]: this.#details }),
      ...(this.#calls.some(({ extra }) => extra !== null)
        ? { [CALL_EXTRAS]: this.#calls.map(({ extra }) => extra) }
        : {}),
    };
  }

  /** Texts and summaries come in pieces with one index, their signature with one of them. */
  #addDetail(piece: Fields): void {
    const last = this.#details.at(-1);
    const grows = typeof piece["text"] === "string" || typeof piece["summary"] === "string";
    const isSigned = typeof piece["signature"] === "string";
    const isSame =
      last !== undefined &&
      last["type"] === piece["type"] &&
      last["index"] === piece["index"] &&
      last["type"] !== "reasoning.encrypted";
    if (!isSame || !(grows || isSigned)) {
      this.#details.push({ ...piece });
      return;
    }
    for (const [name, value] of Object.entries(piece)) {
      const before = last[name];
      const isText = name === "text" || name === "summary";
      last[name] =
        isText && typeof value === "string" && typeof before === "string"
          ? before + value
          : (value ?? before);
    }
  }

  /** The call of a piece: by its index, else by its id; a piece without both belongs to the last one. */
  #callOf({ index, id }: Fields): { extra: unknown } {
    const key = index ?? (id === "" ? null : id) ?? null;
    const known = key === null ? this.#calls.at(-1) : this.#calls.find((call) => call.key === key);
    if (known !== undefined) {
      return known;
    }
    const call = { key, extra: null };
    this.#calls.push(call);
    return call;
  }
}

/** Returns what an answer is sent back with, to a server that wants it; null for nothing. */
export function sentBack(message: BaseMessage, quirks: Quirks, model: string): SentBack | null {
  if (!AIMessage.isInstance(message)) {
    return null;
  }
  const details = quirks.keeps_reasoning_details === true ? detailsOf(message) : null;
  const calls = quirks.signs_calls === true ? callExtrasOf(message, model) : null;
  return details === null && calls === null
    ? null
    : { fields: details === null ? {} : { [REASONING_DETAILS]: details }, calls: calls ?? [] };
}

export interface SentBack {
  /** Fields of the message. */
  readonly fields: Fields;
  /** For each call what is beside it; null for nothing. */
  readonly calls: readonly unknown[];
}

/** A call of a request with what is beside it. */
export function withExtra<Call extends object>(call: Call, extra: unknown): Call {
  return (extra ?? null) === null ? call : { ...call, [EXTRA]: extra };
}

function detailsOf({ additional_kwargs }: AIMessage): readonly unknown[] | null {
  const details: unknown = additional_kwargs[REASONING_DETAILS];
  return Array.isArray(details) && details.length > 0 ? details : null;
}

function callExtrasOf(
  { additional_kwargs, tool_calls = [] }: AIMessage,
  model: string,
): readonly unknown[] | null {
  const extras: unknown = additional_kwargs[CALL_EXTRAS];
  if (Array.isArray(extras) && extras.length === tool_calls.length) {
    return extras;
  }
  return tool_calls.length > 0 && needsSignature(model) ? [UNSIGNED] : null;
}

/** Earlier models take calls without a signature. */
function needsSignature(model: string): boolean {
  const version = /gemini-(\d+)/.exec(model)?.[1];
  return version !== undefined && Number(version) >= 3;
}

function recordsIn(from: Fields, name: string): readonly Fields[] {
  const value = from[name];
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

function isRecord(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
