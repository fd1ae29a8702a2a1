import { checksumOf } from "./checksum.ts";
import { FORMAT, type PortableThread, type SessionTree } from "./export-schema.ts";

/**
 * An export as text, in pieces. Each message, body, list and checkpoint has a line of its own, so
 * that two exports can be compared line by line. The same tree and time always give the same bytes.
 */
export function* exportText(tree: SessionTree, exportedAt: string): Generator<string> {
  yield `{"format":${JSON.stringify(FORMAT)},\n`;
  yield `"exported_at":${JSON.stringify(exportedAt)},\n`;
  yield `"sha256":"${checksumOf(tree)}",\n`;
  yield* members(tree);
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

function* threadText({ suffix, ...parts }: PortableThread): Generator<string> {
  yield `{"suffix":${suffix}`;
  for (const name of ["bodies", "lists", "checkpoints", "writes"] as const) {
    yield `,\n"${name}":`;
    yield* lines<unknown>(parts[name], jsonLine);
  }
  yield `,\n"folded":${JSON.stringify(parts.folded)}}`;
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
