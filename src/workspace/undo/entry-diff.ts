import type { Entry } from "../../core/files/file-entries.ts";
import { shortenedDiff, textDiff } from "../files/text-diff.ts";
import type { Conceal } from "../../core/secrets.ts";

/** Entry at a path, with the bytes of a file if they are known. */
export interface Side {
  readonly entry: Entry | null;
  readonly bytes: Buffer | null;
}

export interface EntryDiff {
  /** Unified, cut; a line in its place if the bytes are binary, unknown, or too many. */
  readonly diff: string;
  /** Lines; null if they were not compared. */
  readonly added: number | null;
  readonly removed: number | null;
}

/** Bytes that are checked to recognise text, as git does. */
const SNIFFED_BYTES = 8000;

interface Compared {
  readonly path: string;
  readonly before: Side;
  readonly after: Side;
  /** Applied to the diff. */
  readonly conceal: Conceal;
}

/** Compares two sides of a path. */
export async function entryDiff({ path, before, after, conceal }: Compared): Promise<EntryDiff> {
  const notes = [`${described(before.entry)} -> ${described(after.entry)}`];
  const texts = [textOf(before), textOf(after)];
  const [old, current] = texts;
  const names = [
    before.entry === null ? "/dev/null" : path,
    after.entry === null ? "/dev/null" : path,
  ] as const;
  const compared =
    typeof old === "string" && typeof current === "string"
      ? await textDiff({ names, before: old, after: current })
      : null;
  if (compared === null) {
    return { diff: conceal([...names, ...notes].join("\n")), added: null, removed: null };
  }
  const lines = compared.split("\n").slice(2);
  const diff = shortenedDiff(conceal(compared));
  return {
    diff: hasOtherMode(before, after) ? [...notes, diff].join("\n") : diff,
    added: lines.filter((line) => line.startsWith("+")).length,
    removed: lines.filter((line) => line.startsWith("-")).length,
  };
}

function described(entry: Entry | null): string {
  switch (entry?.kind) {
    case undefined:
      return "nothing";
    case "file":
      return `a file of ${entry.size} bytes, mode ${octal(entry.mode)}`;
    case "unrecorded":
      return "something that is not recorded";
    case "link":
      return `a link to ${entry.target}`;
    case "folder":
      return entry.mode === null ? "a folder" : `a folder, mode ${octal(entry.mode)}`;
  }
}

function octal(mode: number): string {
  return mode.toString(8).padStart(3, "0");
}

function hasOtherMode({ entry: a }: Side, { entry: b }: Side): boolean {
  return a?.kind === "file" && b?.kind === "file" && a.mode !== b.mode;
}

/** Nothing is like an empty text; undefined for bytes that are binary or unknown. */
function textOf({ entry, bytes }: Side): string | undefined {
  if (entry === null) {
    return "";
  }
  return entry.kind !== "file" || bytes === null || bytes.subarray(0, SNIFFED_BYTES).includes(0)
    ? undefined
    : bytes.toString("utf8");
}
