import { createHash } from "node:crypto";

import type { SessionTree } from "./export-schema.ts";

/**
 * The hex SHA-256 of a tree: of its JSON without white space, members sorted by name. So a file
 * that a tool has laid out anew still fits, and one of which a character changed does not.
 */
export function checksumOf({ session, messages, threads, children }: SessionTree): string {
  const hash = createHash("sha256");
  for (const piece of canonicalPieces({ session, messages, threads, children }, LEVELS)) {
    hash.update(piece);
  }
  return hash.digest("hex");
}

/** So deep the text is made in pieces: a long session as one more text would double its memory. */
const LEVELS = 4;

function* canonicalPieces(value: unknown, levels: number): Generator<string> {
  if (levels === 0 || typeof value !== "object" || value === null) {
    yield canonicalText(value);
    return;
  }
  const isList = Array.isArray(value);
  let before = isList ? "[" : "{";
  for (const [name, member] of isList ? value.entries() : sortedEntries(value)) {
    yield isList ? before : `${before}${JSON.stringify(name)}:`;
    yield* canonicalPieces(member, levels - 1);
    before = ",";
  }
  yield `${before === "," ? "" : before}${isList ? "]" : "}"}`;
}

function canonicalText(value: unknown): string {
  if (typeof value !== "object" || value === null) {
    return JSON.stringify(value);
  }
  if (Array.isArray(value)) {
    return `[${value.map(canonicalText).join(",")}]`;
  }
  const members = sortedEntries(value).map(
    ([name, member]) => `${JSON.stringify(name)}:${canonicalText(member)}`,
  );
  return `{${members.join(",")}}`;
}

function sortedEntries(value: object): [string, unknown][] {
  return Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
}
