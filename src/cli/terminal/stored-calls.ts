import type { FileChangeInfo } from "../../core/file-change-schemas.ts";
import type { Message, ToolCall } from "../../core/sessions.ts";
import { oneLine } from "../../core/terminal-text.ts";
import { RUN_COMMAND, SESSION_TOOLS } from "../../exchange/tool-catalogue.ts";
import { changeLines } from "../change-lines.ts";
import { DIFF_LINES_SHOWN } from "../sessions/show-lines.ts";
import { toolCallLine } from "../tool-lines.ts";
import { sliceByColumn, visibleWidth, wrapTextWithAnsi } from "./pi/text.ts";
import type { Theme } from "./theme.ts";

/** A call with its result; one of them may be missing. */
export interface StoredCall {
  readonly call: ToolCall | null;
  readonly result: Message | null;
}

/**
 * The calls of each message, and for a result whose call is unknown that result alone: results of older versions do not
 * name their call, and messages before those that are read may have it.
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

interface CallView {
  readonly width: number;
  readonly theme: Theme;
  /** By the id of the call. */
  readonly changes: ReadonlyMap<string, readonly FileChangeInfo[]>;
  readonly withheld: boolean;
}

/** Calls on one row each with their state, with why they failed and what they changed; reads after each other on one. */
export function callRows(calls: readonly StoredCall[], view: CallView): string[] {
  const rows: string[] = [];
  for (let at = 0; at < calls.length;) {
    const group = readsFrom(calls, at);
    const [first] = group;
    if (first !== undefined && group.length > 1) {
      const subjects = [...new Set(group.map((each) => subjectOf(each)))].join(", ");
      rows.push(`${view.theme.success("✓")} ${cut(`${first.call?.name ?? ""} ${subjects}`, view)}`);
    } else {
      rows.push(...oneCallRows(calls[at], view));
    }
    at += Math.max(1, group.length);
  }
  return rows;
}

const READS: ReadonlySet<string> = new Set(
  SESSION_TOOLS.filter(({ repeatable }) => repeatable).map(({ name }) => name),
);

/** Calls of one tool that only reads, which succeeded. */
function readsFrom(calls: readonly StoredCall[], from: number): StoredCall[] {
  const name = calls[from]?.call?.name ?? "";
  const others = calls
    .slice(from)
    .findIndex((each) => each.call?.name !== name || stateOf(each) !== "done");
  return READS.has(name) ? calls.slice(from, others === -1 ? undefined : from + others) : [];
}

/** The line of the call without the name of its tool. */
function subjectOf({ call }: StoredCall): string {
  return call === null ? "" : textOf(call).slice(call.name.length + 1);
}

function textOf(call: ToolCall | null): string {
  return call === null ? "a tool" : toolCallLine(call).replace(/^· /, "");
}

function oneCallRows(stored: StoredCall | undefined, view: CallView): string[] {
  const { call = null, result = null } = stored ?? {};
  const { theme, width } = view;
  const state = stateOf({ call, result });
  const sign = { done: theme.success("✓"), failed: theme.error("✗"), open: theme.warning("…") };
  const reason = { done: "", failed: reasonOf(result), open: "It has no result." }[state];
  const changes = call === null ? [] : (view.changes.get(call.id) ?? []);
  const changed = changeLines(changes, { max: DIFF_LINES_SHOWN, withheld: view.withheld });
  return [
    `${sign[state]} ${cut(textOf(call), view)}`,
    ...(reason === "" ? [] : [`  ${theme.dim(cut(reason, view))}`]),
    ...changed.flatMap((line) => {
      const style = diffStyle(line, theme);
      const rows = wrapTextWithAnsi(line.replaceAll("\t", "    "), Math.max(1, width - 2));
      return rows.map((row) => `  ${style(row)}`);
    }),
  ];
}

type CallState = "done" | "failed" | "open";

/** What a tool returned that failed begins so. */
const FAILED = /^Error: */;
/** What `run_command` returns begins with how the command ended. */
const NOT_ZERO = /^(?:exit code (?!0 )|ended )/;

function stateOf({ call, result }: StoredCall): CallState {
  if (result === null) {
    return "open";
  }
  const isCommand = call?.name === RUN_COMMAND;
  const { content } = result;
  return FAILED.test(content) || (isCommand && NOT_ZERO.test(content)) ? "failed" : "done";
}

function reasonOf(result: Message | null): string {
  const [first = ""] = (result?.content ?? "").replace(FAILED, "").trimStart().split("\n", 1);
  return oneLine(first);
}

/** Lines of a diff are indented, and begin with their sign. */
function diffStyle(line: string, theme: Theme): (text: string) => string {
  const sign = /^ {2}([+-])/.exec(line)?.[1];
  return sign === "+" ? theme.added : sign === "-" ? theme.removed : theme.dim;
}

/** Cleaned text after a sign and a space. */
function cut(text: string, { width }: CallView): string {
  const room = Math.max(1, width - 2);
  return visibleWidth(text) <= room ? text : `${sliceByColumn(text, 0, room - 1, true)}…`;
}
