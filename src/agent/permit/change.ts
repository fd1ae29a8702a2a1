import { createHash } from "node:crypto";

import type { ResolvedPath } from "../../rules/paths/resolve-path.ts";
import { addedText, shortenedDiff, textDiff } from "../../workspace/files/text-diff.ts";
import { isBinary, openFile } from "../../workspace/files/open-file.ts";

/** What a call is about to do to a file. */
export interface Change {
  /** For a person: the unified diff. */
  readonly shown: string;
  /** Of the file before and after: another basis is another change. */
  readonly basis: string;
  /** Subject of a call that works on no file. */
  readonly subject?: string;
}

interface Content {
  readonly target: ResolvedPath;
  /** Null if there is none, or none that is shown. */
  readonly before: string | null;
  readonly after: string;
}

/** Larger files are not compared. */
const MAX_COMPARED_BYTES = 1024 * 1024;

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
  const compared =
    before === null ? null : await textDiff({ names: [shown, shown], before, after });
  const notes =
    stat === null || compared !== null
      ? []
      : [`The content before (${stat.size} bytes) is not shown; all of it is replaced by:`];
  const identity =
    before === null ? [stat?.ino, stat?.size, stat?.mtimeNs].map(String) : [hashOf(before)];
  return {
    shown: shortenedDiff(
      [...notes, compared ?? (await addedText(shown, after))].join("\n"),
      compared === null ? after : "",
    ),
    basis: JSON.stringify([target.path, identity, hashOf(after)]),
  };
}

/** For a question about a call that only reads. */
export async function describeReading({ path, shown }: ResolvedPath): Promise<Change> {
  return { shown, basis: path };
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
