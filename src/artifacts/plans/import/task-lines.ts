/** A line of Markdown that matters in a list of tasks. */
export type TaskLine = HeadingLine | CheckLine | TextLine | FenceLine;

interface HeadingLine {
  readonly kind: "heading";
  readonly line: number;
  readonly level: number;
  readonly text: string;
}

/** `- [ ] text`. */
export interface CheckLine {
  readonly kind: "check";
  readonly line: number;
  readonly indent: number;
  /** The sign in the brackets. */
  readonly mark: string;
  /** Kiro's star after the brackets. */
  readonly starred: boolean;
  readonly text: string;
}

interface TextLine {
  readonly kind: "text";
  readonly line: number;
  readonly indent: number;
  /** With its indentation. */
  readonly text: string;
}

/** A block of code as a whole. */
interface FenceLine {
  readonly kind: "fence";
  readonly line: number;
  readonly indent: number;
  /** Its lines as they are, the fences too. */
  readonly text: string;
  readonly content: string;
}

const CHECK = /^([ \t]*)[-*+] \[([ xX]|[^\p{L}\p{N}])\](\*?)(?:[ \t]+(.*))?$/u;
const HEADING = /^(#{1,6})[ \t]+(.*?)[ \t]*#*$/;
const FENCE = /^[ \t]*(`{3,}|~{3,})/;
/** The block of fields at the beginning of a file. */
const FRONT = /^---\n[^]*?\n---(?:\n|$)/;
const COMMENT = /^[ \t]*<!--/gm;
const COMMENT_END = "-->";

/**
 * Reads the lines of Markdown, without comments, front matter and what only looks like a task inside a block of code.
 * A block that is never closed is none: no task may disappear in it.
 */
export function taskLines(text: string): TaskLine[] {
  const lines = blanked(text.replaceAll(/\r\n?/g, "\n")).split("\n");
  const read: TaskLine[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const end = fenceEnd(lines, at);
    if (end === null) {
      read.push(lineOf(lines[at] ?? "", at + 1));
      continue;
    }
    read.push({
      kind: "fence",
      line: at + 1,
      indent: indentOf(lines[at] ?? ""),
      text: lines.slice(at, end + 1).join("\n"),
      content: lines.slice(at + 1, end).join("\n"),
    });
    at = end;
  }
  return read;
}

/** Returns where the block of code ends that begins on a line; null if none does. */
function fenceEnd(lines: readonly string[], begin: number): number | null {
  const fence = FENCE.exec(lines[begin] ?? "")?.[1];
  if (fence === undefined) {
    return null;
  }
  for (let at = begin + 1; at < lines.length; at += 1) {
    const line = lines[at]?.trim() ?? "";
    if (line.startsWith(fence) && line.replaceAll(fence.charAt(0), "") === "") {
      return at;
    }
  }
  return null;
}

/** Empties front matter and comments, so that every line keeps its number. */
function blanked(text: string): string {
  const empty = (found: string) => found.replaceAll(/[^\n]/g, "");
  return withoutComments(text.replace(FRONT, empty), empty);
}

function withoutComments(text: string, empty: (found: string) => string): string {
  const parts: string[] = [];
  let at = 0;
  for (const { index } of text.matchAll(COMMENT)) {
    const end = index < at ? at : text.indexOf(COMMENT_END, index);
    if (end === -1) {
      // no later one is closed either
      break;
    }
    if (index >= at) {
      const after = end + COMMENT_END.length;
      parts.push(text.slice(at, index), empty(text.slice(index, after)));
      at = after;
    }
  }
  return [...parts, text.slice(at)].join("");
}

function lineOf(text: string, line: number): TaskLine {
  const heading = HEADING.exec(text);
  if (heading !== null) {
    const [, signs = "", title = ""] = heading;
    return { kind: "heading", line, level: signs.length, text: title };
  }
  const check = CHECK.exec(text);
  if (check !== null) {
    const [, space = "", mark = " ", star = "", rest = ""] = check;
    const starred = star !== "";
    const indent = indentOf(space);
    return { kind: "check", line, indent, mark, starred, text: rest.trim() };
  }
  return { kind: "text", line, indent: indentOf(text), text };
}

const TAB = 4;

function indentOf(text: string): number {
  const [space = ""] = /^[ \t]*/.exec(text) ?? [];
  return space.replaceAll("\t", " ".repeat(TAB)).length;
}

/** Returns lines without the indentation that they share, and without empty ones around them. */
export function dedented(lines: readonly string[]): string {
  const filled = lines.filter((line) => line.trim() !== "");
  const least = filled.reduce((min, line) => Math.min(min, indentOf(line)), Infinity);
  return lines
    .map((line) => line.replaceAll("\t", " ".repeat(TAB)).slice(least).trimEnd())
    .join("\n")
    .replace(/^\n+|\n+$/g, "")
    .replaceAll(/\n{3,}/g, "\n\n");
}

/** True for the signs of a task that is done. */
export function isDone(mark: string): boolean {
  return mark === "x" || mark === "X";
}

const MAX_TITLE = 120;

/** Returns a text as a title: one line without signs of success and of emphasis, cut between words. */
export function titleOf(text: string): string {
  const line = text
    .replaceAll("**", "")
    .replaceAll(/[✅☑✔]\ufe0f?/gu, "")
    .replaceAll(/\s+/g, " ")
    .trim();
  if (line.length <= MAX_TITLE) {
    return line;
  }
  const cut = line
    .slice(0, MAX_TITLE)
    .toWellFormed()
    .replace(/\ufffd$/, "");
  return `${cut.replace(/\s+\S*$/, "")}…`;
}
