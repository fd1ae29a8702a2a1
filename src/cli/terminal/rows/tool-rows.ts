import { reasonOf } from "../../../core/text/result-text.ts";
import type { CallStatus } from "../../../core/calls.ts";
import { oneLine, visible } from "../../../core/text/terminal-text.ts";
import type { ToolCall } from "../../../core/sessions.ts";
import { notesOf, subjectText } from "../../output/tool-lines.ts";
import { took } from "../text/amounts.ts";
import { cutLine, foldLine } from "../text/fold.ts";
import { sliceByColumn, visibleWidth } from "../pi/text.ts";
import type { Theme } from "../text/theme.ts";

export interface Layout {
  readonly theme: Theme;
  readonly width: number;
}

/** How a call ended, as its row shows it: one that was denied has failed. */
export type CallEnd = "ok" | "failed" | "unknown";

/** Texts of a call, made once: its arguments may be large. All of it is clean, and one line. */
export interface CallText {
  readonly name: string;
  readonly subject: string;
  readonly isCommand: boolean;
  /** True for one word, such as a path: its end says more. */
  readonly isPath: boolean;
}

/** A call with its end, as a row shows it. */
export interface EndedCall {
  readonly call: CallText;
  /** `unknown` for a call without a result; null if it was not recorded. */
  readonly status: CallStatus | null;
  /** Result of the tool, or its beginning. It is not clean. */
  readonly content: string;
  readonly duration_ms: number | null;
  /** For `/show`. */
  readonly n: number;
  /** Further facts, such as `+3 -1`; they are clean. */
  readonly facts: readonly string[];
}

const MARKS = { ok: "✓", failed: "✗", unknown: "–" } as const;
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

/** Draws what a person has to know of a command's result: `/show` has all of a long note. */
export function noteRows(
  result: Parameters<typeof notesOf>[0],
  { theme, width }: Layout,
): string[] {
  return notesOf(result).flatMap((note) =>
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

/** The tools of a group of calls: `read_file × 3, list_files`. */
export function readSummary(names: readonly string[]): string {
  return [...Map.groupBy(names, (name) => name)]
    .map(([name, { length }]) => (length === 1 ? name : `${name} × ${length}`))
    .join(", ");
}

/** How a call ended, as its row shows it. */
export function endOf(status: CallStatus | null): CallEnd {
  return status === "ok" ? "ok" : status === "unknown" || status === null ? "unknown" : "failed";
}

/** How it ended, and why: the first line of its result says so. */
export function outcomeOf({ status, content }: Pick<EndedCall, "status" | "content">): {
  readonly end: CallEnd;
  /** In one line; empty if it did not fail, or `facts` say it. */
  readonly reason: string;
  readonly facts: readonly string[];
} {
  const end = endOf(status);
  const isSaid = end === "failed" || status === "unknown";
  const reason = isSaid ? oneLine(reasonOf(content)) : "";
  return { end, reason, facts: status === "unknown" && reason === "" ? ["no result"] : [] };
}

export function styleOf(end: CallEnd, theme: Theme): (text: string) => string {
  return end === "ok" ? theme.success : end === "failed" ? theme.error : theme.dim;
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

export function callText(call: Omit<ToolCall, "id">): CallText {
  const text = subjectText(call);
  return {
    name: nameOf(call.name),
    subject: oneLine(text.slice(0, MAX_SUBJECT)),
    isCommand: call.effect === "runs",
    isPath: call.subject !== null && !/\s/.test(call.subject),
  };
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
