import { refusal } from "../../../workspace/files/refusal.ts";

/** What a patch does to one file. */
export type FilePatch =
  | { readonly kind: "add"; readonly path: string; readonly content: string }
  | { readonly kind: "delete"; readonly path: string }
  | {
      readonly kind: "update";
      readonly path: string;
      /** Its new path; null if it keeps its path. */
      readonly to: string | null;
      readonly hunks: readonly Hunk[];
    };

/** Lines of a file that are replaced. */
export interface Hunk {
  /** Lines that come before it in the file, in this order. */
  readonly headers: readonly string[];
  readonly lines: readonly HunkLine[];
  /** True if it is at the end of the file. */
  readonly atEnd: boolean;
}

export interface HunkLine {
  /** A line that stays, one that goes away, a new one. */
  readonly mark: " " | "-" | "+";
  readonly text: string;
}

export const MAX_FILES = 20;
const MAX_HUNKS = 500;

const BEGIN = "*** Begin Patch";
const END = "*** End Patch";
const ADD = "*** Add File: ";
const DELETE = "*** Delete File: ";
const UPDATE = "*** Update File: ";
const MOVE = "*** Move to: ";
const END_OF_FILE = "*** End of File";

/** The lines of a patch, read one after the other. */
interface Reader {
  /** The next line; null at the end of the patch. */
  peek(): string | null;
  next(): string;
  /** A refusal that names the line which comes next. */
  wrong(message: string): Error;
}

/**
 * Reads a patch between `*** Begin Patch` and `*** End Patch`. Nothing is repaired: what is not exactly of this
 * form is refused with the number of its line.
 */
export function parsePatch(text: string): readonly FilePatch[] {
  const reader = readLines(text);
  const files: FilePatch[] = [];
  while (reader.peek() !== null) {
    files.push(readFile(reader));
    if (files.length > MAX_FILES) {
      throw refusal(`a patch changes at most ${MAX_FILES} files; split it`);
    }
  }
  if (files.length === 0) {
    throw reader.wrong(`name a file with ${UPDATE.trim()}, ${ADD.trim()} or ${DELETE.trim()}`);
  }
  return files;
}

function readLines(text: string): Reader {
  const lines = text.trim().split(/\r?\n/);
  const last = lines.length - 1;
  if (lines[0]?.trimEnd() !== BEGIN || lines[last]?.trimEnd() !== END || last === 0) {
    throw refusal(`a patch begins with the line ${BEGIN} and ends with the line ${END}`);
  }
  let at = 1;
  return {
    peek: () => (at < last ? (lines[at] ?? null) : null),
    next: () => lines[at++] ?? "",
    wrong: (message) => refusal(`line ${at + 1} of the patch: ${message}`),
  };
}

function readFile(reader: Reader): FilePatch {
  const line = reader.peek() ?? "";
  const [kind, path = ""] = line.startsWith(ADD)
    ? (["add", line.slice(ADD.length)] as const)
    : line.startsWith(DELETE)
      ? (["delete", line.slice(DELETE.length)] as const)
      : line.startsWith(UPDATE)
        ? (["update", line.slice(UPDATE.length)] as const)
        : [];
  if (kind === undefined || path.trim() === "") {
    throw reader.wrong(
      `write ${ADD}path, ${DELETE}path or ${UPDATE}path here, or begin the line with a space, + or -`,
    );
  }
  reader.next();
  switch (kind) {
    case "add":
      return { kind, path: path.trim(), content: readContent(reader) };
    case "delete":
      return { kind, path: path.trim() };
    case "update":
      return { kind, path: path.trim(), ...readUpdate(reader) };
  }
}

function readContent(reader: Reader): string {
  const lines: string[] = [];
  for (let line = reader.peek(); line?.startsWith("+") === true; line = reader.peek()) {
    lines.push(line.slice(1));
    reader.next();
  }
  return lines.map((line) => `${line}\n`).join("");
}

function readUpdate(reader: Reader): {
  readonly to: string | null;
  readonly hunks: readonly Hunk[];
} {
  const line = reader.peek();
  const to = line?.startsWith(MOVE) === true ? line.slice(MOVE.length).trim() : null;
  if (to !== null) {
    reader.next();
  }
  const hunks: Hunk[] = [];
  while (isOfHunk(reader.peek())) {
    hunks.push(readHunk(reader));
    if (hunks.length > MAX_HUNKS) {
      throw reader.wrong(`a file has at most ${MAX_HUNKS} parts here; split the patch`);
    }
  }
  if (to === "" || (hunks.length === 0 && to === null)) {
    throw reader.wrong(to === "" ? "name the new path" : "write what changes in the file here");
  }
  return { to, hunks };
}

function isOfHunk(line: string | null): boolean {
  return line !== null && (line === "" || /^(@@| |\+|-)/.test(line));
}

function readHunk(reader: Reader): Hunk {
  const headers: string[] = [];
  for (let line = reader.peek(); line?.startsWith("@@") === true; line = reader.peek()) {
    // `@@` alone begins a part; the line numbers of a unified diff mean nothing here
    const header = line.slice(2).trim();
    if (/^-\d+(,\d+)? \+\d+(,\d+)? @@/.test(header)) {
      throw reader.wrong("write a line of the file after @@, or nothing: no line numbers");
    }
    headers.push(...(header === "" ? [] : [header]));
    reader.next();
  }
  const lines: HunkLine[] = [];
  for (let line = reader.peek(); line !== null; line = reader.peek()) {
    const mark = line === "" ? " " : line.charAt(0);
    if (mark !== " " && mark !== "-" && mark !== "+") {
      break;
    }
    lines.push({ mark, text: line.slice(1) });
    reader.next();
  }
  const atEnd = reader.peek()?.trimEnd() === END_OF_FILE;
  if (lines.every(({ mark }) => mark === " ")) {
    throw reader.wrong("this part of the patch changes nothing");
  }
  if (atEnd) {
    reader.next();
  }
  return { headers, lines, atEnd };
}
