import { createHash } from "node:crypto";

import type { ResolvedPath } from "../../exchange/files/resolve-path.ts";
import { isBinary, openFile } from "./open-file.ts";

/** What a call is about to do to a file. */
export interface Change {
  /** For a person: the unified diff. */
  readonly shown: string;
  /** Of the file before and after: another basis is another change. */
  readonly basis: string;
}

interface Content {
  readonly target: ResolvedPath;
  /** Null if there is none, or none that is shown. */
  readonly before: string | null;
  readonly after: string;
}

/** Larger files are not compared. */
const MAX_COMPARED_BYTES = 1024 * 1024;
/** Lines of both files together. */
const MAX_COMPARED_LINES = 100_000;
/** Lines that differ at most. */
const MAX_DIFFERENT_LINES = 1000;
/** Lines times those that differ: comparing blocks the process, here for about 0.1 s. */
const MAX_STEPS = 20_000_000;
/** Characters of a diff in a question. */
const MAX_SHOWN = 14_000;

/** The text of a file as far as it is shown to a person; null for none, a large or a binary one. */
export async function shownText(target: ResolvedPath): Promise<string | null> {
  if (target.stat === null || target.stat.size > BigInt(MAX_COMPARED_BYTES)) {
    return null;
  }
  await using file = await openFile(target);
  return (await isBinary(file)) ? null : file.readFile("utf8");
}

/** The unified diff of a change, and what it depends on. */
export async function describeChange({ target, before, after }: Content): Promise<Change> {
  const { shown, stat } = target;
  const { createTwoFilesPatch, FILE_HEADERS_ONLY: headerOptions } = await import("diff");
  const maxEditLength = before === null ? 0 : mostDifferent(before, after);
  const compared =
    before !== null && maxEditLength > 0
      ? createTwoFilesPatch(shown, shown, before, after, "", "", {
          context: 3,
          maxEditLength,
          headerOptions,
        })
      : undefined;
  const begins = after.slice(0, MAX_SHOWN).toWellFormed();
  const added = createTwoFilesPatch("/dev/null", shown, "", begins, "", "", { headerOptions });
  const notes =
    stat === null || compared !== undefined
      ? []
      : [`The content before (${stat.size} bytes) is not shown; all of it is replaced by:`];
  const identity =
    before === null ? [stat?.ino, stat?.size, stat?.mtimeNs].map(String) : [hashOf(before)];
  return {
    shown: shortened([...notes, compared ?? added].join("\n"), compared === undefined ? after : ""),
    basis: JSON.stringify([target.path, identity, hashOf(after)]),
  };
}

/** For a question about a call that only reads. */
export async function describeReading({ path, shown }: ResolvedPath): Promise<Change> {
  return { shown, basis: path };
}

/** How many lines may differ for the texts to be compared; 0 if they are not compared. */
function mostDifferent(before: string, after: string): number {
  if (Math.max(before.length, after.length) > MAX_COMPARED_BYTES) {
    return 0;
  }
  const lines = before.split("\n").length + after.split("\n").length;
  return lines > MAX_COMPARED_LINES
    ? 0
    : Math.min(MAX_DIFFERENT_LINES, Math.floor(MAX_STEPS / lines));
}

/** `all` is the text of which only the beginning may be in what is shown. */
function shortened(text: string, all: string): string {
  const end = text.lastIndexOf("\n", MAX_SHOWN);
  const cut = text.length > MAX_SHOWN ? text.slice(0, end === -1 ? MAX_SHOWN : end) : text;
  const left = Math.max(text.length - cut.length, all.length - MAX_SHOWN);
  return left > 0
    ? `${cut.toWellFormed()}\n… ${left} more characters of the change are not shown`
    : text;
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
