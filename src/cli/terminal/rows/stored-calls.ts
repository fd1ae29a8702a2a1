import type { FileChangeInfo } from "../../../core/schemas/file-change-schemas.ts";
import type { Message, ToolCall } from "../../../core/sessions.ts";
import { plural } from "../../../core/text/text.ts";
import { changedFile, whyNoDiff } from "../../output/change-lines.ts";
import { DIFF_LINES_SHOWN } from "../../output/show-lines.ts";
import { diffRows } from "./diff-rows.ts";
import { cutLine } from "../text/fold.ts";
import { visibleWidth } from "../pi/text.ts";
import { isExploring } from "./task-rows.ts";
import {
  type CallEnd,
  type CallText,
  callText,
  indented,
  type Layout,
  noteRows,
  outcomeOf,
  readSummary,
  styleOf,
} from "./tool-rows.ts";

/** A call with its result; one of them may be missing. */
export interface StoredCall {
  readonly call: ToolCall | null;
  readonly result: Message | null;
}

/**
 * The calls of each message, and for a result whose call is unknown that result alone: messages before those that are
 * read may have it.
 */
export function storedCalls(messages: readonly Message[]): ReadonlyMap<Message, StoredCall[]> {
  const results = new Map<ToolCall, Message>();
  const open = new Map<string, ToolCall>();
  const unknown = new Set<Message>();
  for (const message of messages) {
    for (const call of message.tool_calls ?? []) {
      open.set(call.id, call);
    }
    if (message.role === "tool") {
      const call = open.get(message.call_id ?? "");
      open.delete(message.call_id ?? "");
      if (call === undefined) {
        unknown.add(message);
      } else {
        results.set(call, message);
      }
    }
  }
  return new Map(
    messages.map((message) => [
      message,
      unknown.has(message)
        ? [{ call: null, result: message }]
        : (message.tool_calls ?? []).map((call) => ({ call, result: results.get(call) ?? null })),
    ]),
  );
}

interface CallView extends Layout {
  /** By the id of the call. */
  readonly changes: ReadonlyMap<string, readonly FileChangeInfo[]>;
  /** True if the diffs of these are left out, because the config cannot be read. */
  readonly withheld: boolean;
}

/** Calls with how they ended, why they failed and what they changed; those that read are one group. */
export function callRows(calls: readonly StoredCall[], view: CallView): string[] {
  const rows: string[] = [];
  for (let at = 0; at < calls.length;) {
    const next = calls.slice(at).findIndex(({ call }) => call === null || !isExploring(call));
    const reads = calls.slice(at, next === -1 ? undefined : at + next);
    rows.push(...(reads.length > 1 ? groupRows(reads, view) : oneCallRows(calls[at], view)));
    at += Math.max(1, reads.length);
  }
  return rows;
}

function groupRows(calls: readonly StoredCall[], view: CallView): string[] {
  const isOk = ({ result }: StoredCall): boolean => result?.status === "ok";
  const done = calls.filter(isOk).map(shownOf);
  const summary = readSummary(done.map(({ name }) => name));
  const subjects = [...new Set(done.map(({ subject }) => subject))].join(", ");
  const others = calls.filter((stored) => !isOk(stored));
  return [
    ...(done.length === 0
      ? []
      : [
          headRow("ok", { name: "Explored:", text: summary }, view),
          ...below([subjects], view, view.theme.dim),
        ]),
    ...others.flatMap((stored) => oneCallRows(stored, view)),
  ];
}

function oneCallRows(stored: StoredCall | undefined, view: CallView): string[] {
  const { call = null, result = null } = stored ?? {};
  const text = shownOf({ call, result });
  const { reason, facts, end } = outcomeOf(result ?? { status: "unknown", content: "" });
  const said = [text.subject, ...facts].filter((each) => each !== "").join("  ");
  return [
    headRow(end, { name: text.name, text: said }, view),
    ...(reason === "" ? [] : below([reason], view, styleOf(end, view.theme))),
    ...noteRows({ effect: call?.effect ?? null, content: result?.content ?? "" }, view),
    ...(call === null ? [] : (view.changes.get(call.id) ?? [])).flatMap((change) =>
      changeRows(change, view),
    ),
  ];
}

const MARKS = { ok: "✓", failed: "✗", unknown: "…" } as const;

function headRow(
  end: CallEnd,
  { name, text }: { readonly name: string; readonly text: string },
  { theme, width }: CallView,
): string {
  const room = width - visibleWidth(`${MARKS[end]} ${name} `);
  return room < 1
    ? `${styleOf(end, theme)(MARKS[end])} ${theme.bold(cutLine(name, Math.max(1, width - 2)))}`
    : `${styleOf(end, theme)(MARKS[end])} ${theme.bold(name)} ${theme.code(cutLine(text, room))}`.trimEnd();
}

function below(texts: readonly string[], { width }: CallView, style: (text: string) => string) {
  return indented(
    texts.map((text) => cutLine(text, Math.max(1, width - INDENT))),
    style,
  );
}

/** Columns before the rows below a call. */
const INDENT = 2;

function shownOf({ call }: StoredCall): CallText {
  return call === null
    ? { name: "a tool", subject: "", isCommand: false, isPath: false }
    : callText(call);
}

/** The file with its counts, and its diff, cut after so many rows. */
function changeRows(change: FileChangeInfo, view: CallView): string[] {
  const { theme, width, withheld } = view;
  const file = below([changedFile(change)], view, theme.dim);
  if (change.diff === null) {
    return [...file, ...below([whyNoDiff(change, withheld)], view, theme.dim)];
  }
  const rows = diffRows(change.diff, { theme, width: Math.max(1, width - 2 * INDENT) });
  const left = rows.length - DIFF_LINES_SHOWN;
  return [
    ...file,
    ...rows.slice(0, DIFF_LINES_SHOWN).map((row) => `${" ".repeat(2 * INDENT)}${row}`),
    ...(left > 0 ? below([`… ${plural(left, "more row")}`], view, theme.dim) : []),
  ];
}
