import type { Role } from "../sessions.ts";

/** Roles of messages that a search can be limited to. */
export const SEARCHED_ROLES = ["user", "assistant", "tool"] as const satisfies readonly Role[];
export type SearchedRole = (typeof SEARCHED_ROLES)[number];

/** UTF-16 units of a query over HTTP. */
export const MAX_QUERY_LENGTH = 255;
export const MAX_SEARCH_RESULTS = 50;
export const DEFAULT_SEARCH_RESULTS = 20;
/** Messages that are read for words too short for the index. */
export const SCANNED_MESSAGES = 50_000;
/** Messages that are indexed before an answer, and for how long at most. */
export const INDEXED_BEFORE = 2000;
export const INDEXED_BEFORE_MS = 1000;
/** Trigrams of one query that the index is asked for; the texts that it finds are read and compared. */
const MAX_GRAMS = 40;

// oxlint-disable-next-line no-control-regex -- all of ASCII
const ASCII = /^[\0-\x7f]*$/;

/**
 * A text as it is compared: capital letters become small ones, each by itself and only if that keeps its length, so
 * that positions are those of the text.
 */
export function comparedText(text: string): string {
  if (ASCII.test(text)) {
    return text.toLowerCase();
  }
  return text.replace(/[\p{Lu}\p{Lt}]/gu, (letter) => {
    const small = letter.toLowerCase();
    return small.length === letter.length ? small : letter;
  });
}

/**
 * The words of a query, compared, each once: between blanks, or all that is between two `"`. There are no operators, so
 * any text is a query. Empty for one without words.
 */
export function searchWords(query: string): readonly string[] {
  // half of a character would be found in whole ones; no text that is stored has one, or NUL
  const text = comparedText(query.toWellFormed().replaceAll("\0", " "));
  const found = [...text.matchAll(/"([^"]*)(?:"|$)|([^\s"]+)/gu)];
  const words = found.map(([, phrase, word]) => phrase ?? word ?? "");
  return [...new Set(words.filter((word) => word.trim() !== ""))];
}

/** The trigrams of words that the index is asked for; empty if every word is too short for it. */
export function queryGrams(words: readonly string[]): readonly string[] {
  const grams = [...new Set(words.flatMap((word) => [...gramsOf(word)]))];
  const step = Math.max(1, Math.ceil(grams.length / MAX_GRAMS));
  return grams.filter((_, at) => at % step === 0);
}

/** Every run of three code points of a compared text, each once. */
export function gramsOf(text: string): ReadonlySet<string> {
  const grams = new Set<string>();
  let [first, second] = ["", ""];
  for (const third of text) {
    if (first !== "") {
      grams.add(first + second + third);
    }
    [first, second] = [second, third];
  }
  return grams;
}

/** True if a compared text has all of the words. */
export function hasWords(compared: string, words: readonly string[]): boolean {
  return words.every((word) => compared.includes(word));
}

/** Fields of a message that are searched. */
export interface SearchedMessage {
  readonly content: string;
  /** JSON of its calls. */
  readonly tool_calls: string | null;
}

/** The text of a message as it is searched: its content, then the names and the values of its calls, a line each. */
export function searchedText({ content, tool_calls }: SearchedMessage): string {
  const lines = tool_calls === null ? [] : callLines(tool_calls);
  // values of calls may hold halves of characters
  return [content, ...lines]
    .filter((line) => line !== "")
    .join("\n")
    .toWellFormed();
}

/** A damaged list of calls has no lines: `verify` reports it. */
function callLines(json: string): string[] {
  try {
    const calls: unknown = JSON.parse(json);
    return Array.isArray(calls) ? calls.flatMap(linesOfCall) : [];
  } catch {
    return [];
  }
}

function linesOfCall(call: unknown): string[] {
  if (typeof call !== "object" || call === null) {
    return [];
  }
  const name: unknown = Reflect.get(call, "name");
  return [...(typeof name === "string" ? [name] : []), ...valuesOf(Reflect.get(call, "args"))];
}

function valuesOf(value: unknown): string[] {
  if (typeof value === "object" && value !== null) {
    return Object.entries(value).flatMap(([key, member]) => [
      ...(Array.isArray(value) ? [] : [key]),
      ...valuesOf(member),
    ]);
  }
  const isWord = ["string", "number", "boolean"].includes(typeof value);
  return isWord ? [`${value as string | number | boolean}`] : [];
}

/** The name and the title of a session as they are searched. */
export function searchedLabels(name: string | null, title: string | null): string {
  return [name, title].filter((label) => label !== null && label !== "").join("\n");
}

/** Documents of one rank are found before those of a lower one: labels of sessions, then what people and models wrote, then tools. */
export function searchRank(role: Role | null): number {
  return role === null ? 2 : role === "tool" ? 0 : 1;
}

const EPOCH = Date.UTC(2020);
const UNIT_MS = 64;
const RANK = 2 ** 40;
/** Messages of later times, and those that get a run of numbers, keep half of the numbers of a rank. */
const LAST_UNIT = RANK / 2;

/**
 * The least number that a document of a rank and a time may have: the order of numbers is that of results. Units are
 * short enough that a conversation keeps its order, and long enough that the index stays small.
 */
export function documentNumber(rank: number, ts: string): number {
  const unit = Math.floor((Date.parse(ts) - EPOCH) / UNIT_MS);
  return rank * RANK + Math.min(Math.max(Number.isNaN(unit) ? 0 : unit, 0), LAST_UNIT) + 1;
}

/** The numbers between which all documents of a role are; of all, without one. */
export function documentNumbers(role: Role | undefined): {
  readonly after: number;
  readonly end: number;
} {
  if (role === undefined) {
    return { after: 0, end: Number.MAX_SAFE_INTEGER };
  }
  const after = searchRank(role) * RANK;
  return { after, end: after + RANK + 1 };
}
