import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";

import { FORMAT, type SessionTree, type WrittenTree } from "./export-schema.ts";
import {
  type FreeThread,
  type PortableThread,
  THREAD_FORMAT,
  type ThreadContent,
} from "./portable-threads.ts";

/**
 * An export as text, in pieces. Each message, body, list and checkpoint has its own line, so
 * that two exports can be compared line by line. The same tree and time always give the same bytes.
 */
export function* exportText(
  tree: SessionTree,
  exportedAt: string,
  sha256 = checksumOf(tree),
): Generator<string> {
  yield `{"format":${JSON.stringify(FORMAT)},\n`;
  yield `"exported_at":${JSON.stringify(exportedAt)},\n`;
  yield `"sha256":"${sha256}",\n`;
  yield* members(tree);
  yield "}\n";
}

/** Writes the export of a thread without a session. */
export function* threadExportText(thread: FreeThread, exportedAt: string): Generator<string> {
  const { thread_id, ...content } = thread;
  yield `{"format":${JSON.stringify(THREAD_FORMAT)},\n`;
  yield `"exported_at":${JSON.stringify(exportedAt)},\n`;
  yield `"sha256":"${threadChecksumOf(thread)}",\n`;
  yield `"thread_id":${JSON.stringify(thread_id)}`;
  yield* contentText(content);
  yield "}\n";
}

function* members({ session, messages, threads, children }: SessionTree): Generator<string> {
  yield `"session":${JSON.stringify(session)},\n"messages":`;
  yield* lines(messages, jsonLine);
  yield `,\n"threads":`;
  yield* lines(threads, threadText);
  yield `,\n"children":`;
  yield* lines(children, childText);
}

function* childText(tree: SessionTree): Generator<string> {
  yield "{";
  yield* members(tree);
  yield "}";
}

function* threadText({ suffix, ...thread }: PortableThread): Generator<string> {
  yield `{"suffix":${suffix}`;
  yield* contentText(thread);
  yield "}";
}

function* contentText(thread: ThreadContent): Generator<string> {
  for (const name of ["bodies", "lists", "checkpoints", "writes"] as const) {
    yield `,\n"${name}":`;
    yield* lines<unknown>(thread[name], jsonLine);
  }
  yield `,\n"folded":${JSON.stringify(thread.folded)}`;
}

function* jsonLine(value: unknown): Generator<string> {
  yield JSON.stringify(value);
}

function* lines<T>(items: readonly T[], write: (item: T) => Generator<string>): Generator<string> {
  yield "[";
  for (const [index, item] of items.entries()) {
    yield index === 0 ? "\n" : ",\n";
    yield* write(item);
  }
  yield items.length === 0 ? "]" : "\n]";
}

/**
 * The hex SHA-256 of a tree: of its JSON without white space, members sorted by name. So a
 * reformatted file still matches, and a file with one changed character does not.
 */
export function checksumOf({
  session,
  messages,
  threads,
  children,
}: SessionTree | WrittenTree): string {
  return sha256Of({ session, messages, threads, children });
}

/** Computes the checksum in a process that has other work to do in between. */
export async function checksumInSteps(tree: SessionTree): Promise<string> {
  const { session, messages, threads, children } = tree;
  const hash = createHash("sha256");
  let length = 0;
  for (const piece of canonicalPieces({ session, messages, threads, children }, LEVELS)) {
    hash.update(piece);
    length += piece.length;
    if (length > STEP_LENGTH) {
      length = 0;
      await nextTurn();
    }
  }
  return hash.digest("hex");
}

/** Characters after which other work gets its turn. */
const STEP_LENGTH = 1024 * 1024;

/** Computes the checksum of a thread without a session. */
export function threadChecksumOf(thread: FreeThread): string {
  const { thread_id, bodies, lists, checkpoints, writes, folded } = thread;
  return sha256Of({ thread_id, bodies, lists, checkpoints, writes, folded });
}

function sha256Of(value: object): string {
  const hash = createHash("sha256");
  for (const piece of canonicalPieces(value, LEVELS)) {
    hash.update(piece);
  }
  return hash.digest("hex");
}

/** Levels that are serialized in pieces: a long session as one more text would double its memory. */
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
