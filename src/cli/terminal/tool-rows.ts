import { plural } from "../../core/text.ts";
import { oneLine, visible } from "../../core/terminal-text.ts";
import type { ToolCall } from "../../core/sessions.ts";
import { isHarmless } from "../../core/tools.ts";
import { ASK_USER, BUILT_IN_TOOLS, DELEGATE, RUN_COMMAND } from "../../exchange/tools/built-in.ts";
import { callSubject, fieldOf, notesOf } from "../tool-lines.ts";
import { took } from "./amounts.ts";
import { cutLine, foldLine } from "./fold.ts";
import { sliceByColumn, visibleWidth } from "./pi/text.ts";
import type { Theme } from "./theme.ts";

export interface Layout {
  readonly theme: Theme;
  readonly width: number;
}

/** How a call ended. `unknown`: nobody knows, because the exchange ended before. */
export type CallEnd = "success" | "error" | "unknown";

/** What a call is, made once: its arguments may be large. All of it is clean, and one line. */
export interface CallText {
  readonly name: string;
  readonly subject: string;
  readonly isCommand: boolean;
  /** Of a path the end says more. */
  readonly isPath: boolean;
}

/** A call with its end, as a row shows it. */
export interface EndedCall {
  readonly call: CallText;
  readonly end: CallEnd;
  /** What the tool returned, or its beginning. It is not clean. */
  readonly content: string;
  readonly duration_ms: number | null;
  /** For `/show`. */
  readonly n: number;
  /** Further facts, such as `+3 -1`; they are clean. */
  readonly facts: readonly string[];
}

const MARKS = { success: "✓", error: "✗", unknown: "–" } as const;
const MAX_NAME = 40;
/** Characters of a subject that are measured. */
const MAX_SUBJECT = 4000;
/** A subject with fewer columns gets rows for itself. */
const MIN_SUBJECT = 12;
const SUBJECT_ROWS = 4;
const REASON_ROWS = 3;

/** `✓ write_file src/a.ts  +3 -1  0.2 s  [4]`, and below it what does not fit; a failure with its reason. */
export function endedRows(ended: EndedCall, { theme, width }: Layout): string[] {
  const { name, subject, isCommand } = ended.call;
  const { end, reason, facts } = outcomeOf(ended);
  const style = styleOf(end, theme);
  const said = [...facts, ...ended.facts, ...timeOf(ended.duration_ms), `[${ended.n}]`].join("  ");
  const room = width - visibleWidth(`✓ ${name} `) - visibleWidth(said) - 2;
  const head = `${style(MARKS[end])} ${theme.bold(name)}`;
  const isWhole = visibleWidth(subject) <= room;
  const inline = isWhole || (!isCommand && room >= MIN_SUBJECT);
  const fitting = inline ? fit(ended.call, room) : "";
  const first = [`${head}${fitting === "" ? "" : ` ${theme.code(fitting)}`}`, theme.dim(said)];
  const left = room - visibleWidth(fitting);
  if (reason !== "" && inline && visibleWidth(reason) + 2 <= left) {
    return [`${first.join("  ")}: ${style(reason)}`];
  }
  const isTooNarrow = fitting === "" && visibleWidth(`✓ ${name}  ${said}`) > width;
  return [
    ...(isTooNarrow
      ? [
          `${style(MARKS[end])} ${theme.bold(cutLine(name, width - 2))}`,
          ...indented(folded(said, width - 2, 2), theme.dim),
        ]
      : [first.join("  ")]),
    ...(inline ? [] : indented(folded(subject, width - 2, SUBJECT_ROWS), theme.code)),
    ...(reason === "" ? [] : indented(folded(reason, width - 2, REASON_ROWS), style)),
  ];
}

const NOTE_ROWS = 8;

/** What a person has to know of a command's result: `/show` has all of a long note. */
export function noteRows(name: string, content: string, { theme, width }: Layout): string[] {
  return notesOf({ name, content }).flatMap((note) =>
    indented(folded(note, Math.max(1, width - 2), NOTE_ROWS), theme.warning),
  );
}

/** `• write_file src/a.ts  12 s`: a call that runs. */
export function runningRow(call: CallText, ms: number, { theme, width }: Layout): string {
  const { name } = call;
  const time = took(Math.max(0, ms));
  const room = width - visibleWidth(`• ${name}   ${time}`);
  const subject = room < 4 ? "" : fit(call, room);
  return room < 0
    ? cutLine(`• ${name}`, width)
    : `${theme.accent("•")} ${theme.bold(name)} ${theme.code(subject)}  ${theme.dim(time)}`;
}

/** What a group of reading calls did: `read 3 files, listed 2 folders`. */
export function readSummary(counts: ReadonlyMap<string, number>): string {
  const of = (name: string): number => counts.get(name) ?? 0;
  const searches = of("find_files") + of("search_files");
  return [
    ...(of("read_file") > 0 ? [`read ${plural(of("read_file"), "file")}`] : []),
    ...(of("list_files") > 0 ? [`listed ${plural(of("list_files"), "folder")}`] : []),
    ...(searches > 0 ? [`searched ${searches === 1 ? "once" : `${searches} times`}`] : []),
  ].join(", ");
}

/** How it ended, and why: of a command its exit code says so. */
export function outcomeOf({ call, content, end }: Pick<EndedCall, "call" | "content" | "end">): {
  readonly end: CallEnd;
  /** In one line; empty if it did not fail, or `facts` say it. */
  readonly reason: string;
  readonly facts: readonly string[];
} {
  const first = oneLine(content.slice(0, MAX_SUBJECT).split("\n", 1)[0] ?? "");
  if (end === "error") {
    return { end, reason: first.replace(/^Error: /, ""), facts: [] };
  }
  const code = /^exit code (\d+) after/.exec(first)?.[1];
  if (end === "unknown" || !call.isCommand || code === "0") {
    return { end, reason: "", facts: end === "unknown" ? ["no result"] : [] };
  }
  return code === undefined
    ? { end: "error", reason: first, facts: [] }
    : { end: "error", reason: "", facts: [`exit ${code}`] };
}

export function styleOf(end: CallEnd, theme: Theme): (text: string) => string {
  return end === "success" ? theme.success : end === "error" ? theme.error : theme.dim;
}

/** True for a tool that may change files of the session's folder. */
export function mayChangeFiles(name: string): boolean {
  return BUILT_IN_TOOLS.has(name) && !isHarmless(BUILT_IN_TOOLS.get(name));
}

/** A name from outside, on one line and cut. */
export function nameOf(name: string): string {
  return cutLine(oneLine(name.slice(0, 2 * MAX_NAME)), MAX_NAME);
}

/** A text in at most so many rows of `width` columns. */
export function folded(text: string, width: number, max: number): string[] {
  // two columns a character at most would be cut anyway
  const rows = visible(text.slice(0, (max + 1) * width * 2))
    .trimEnd()
    .split("\n", max + 1)
    .flatMap((line) => foldLine(line, width));
  return rows.length > max
    ? [...rows.slice(0, max - 1), `${cutLine(rows[max - 1] ?? "", width - 1)}…`]
    : rows;
}

/** Rows below another one. */
export function indented(rows: readonly string[], style: (text: string) => string): string[] {
  return rows.map((row) => `  ${style(row)}`);
}

export function callText({ name, args }: Pick<ToolCall, "name" | "args">): CallText {
  const { kind, text } = callSubject({ name, args });
  const short = shortSubject(name, args);
  return {
    name: nameOf(name),
    subject: oneLine((short?.text ?? text).slice(0, MAX_SUBJECT)),
    isCommand: name === RUN_COMMAND.name,
    isPath: short?.isPath ?? (kind === "files" && !text.includes(", ")),
  };
}

/** Of the calls whose main argument is enough. */
function shortSubject(
  name: string,
  args: unknown,
): { readonly text: string; readonly isPath: boolean } | null {
  const path = fieldOf(args, "path");
  const folder = typeof path === "string" && path !== "" ? path : ".";
  switch (name) {
    case "read_file":
      return typeof path === "string" ? { text: path, isPath: true } : null;
    case "list_files":
      return { text: folder, isPath: true };
    case "find_files":
    case "search_files": {
      const wanted = fieldOf(args, name === "find_files" ? "pattern" : "text");
      return typeof wanted === "string"
        ? { text: folder === "." ? wanted : `${wanted} in ${folder}`, isPath: false }
        : null;
    }
    case ASK_USER.name: {
      const question = fieldOf(args, "question");
      return typeof question === "string" ? { text: question, isPath: false } : null;
    }
    case DELEGATE.name: {
      const [persona, task] = [fieldOf(args, "persona"), fieldOf(args, "task")];
      return typeof task === "string"
        ? { text: typeof persona === "string" ? `${persona}: ${task}` : task, isPath: false }
        : null;
    }
    default:
      return null;
  }
}

function fit({ subject: text, isPath }: CallText, columns: number): string {
  const width = visibleWidth(text);
  return isPath && width > columns
    ? `…${sliceByColumn(text, width - columns + 1, columns - 1, true)}`
    : cutLine(text, columns);
}

function timeOf(ms: number | null): string[] {
  return ms === null || ms < 100 ? [] : [took(ms)];
}
