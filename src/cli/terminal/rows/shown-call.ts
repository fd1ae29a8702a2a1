import { commandOutput } from "../../../core/text/command-notes.ts";
import type { CallStatus } from "../../../core/calls.ts";
import type { FileChangeInfo } from "../../../core/schemas/file-change-schemas.ts";
import type { QuestionKind } from "../../../core/questions.ts";
import type { ToolCall } from "../../../core/sessions.ts";
import { plural } from "../../../core/text/text.ts";
import { visible } from "../../../core/text/terminal-text.ts";
import { mayHaveChanged } from "../../output/tool-lines.ts";
import { changeRows, changeText } from "./change-rows.ts";
import { cutLine } from "../text/fold.ts";
import { createKeptOutput } from "./kept-output.ts";
import { isExploring } from "./task-rows.ts";
import {
  type CallEnd,
  type CallText,
  callText,
  endedRows,
  folded,
  indented,
  type Layout,
  noteRows,
  outcomeOf,
  runningRow,
} from "./tool-rows.ts";

/** Rows of what a call returned that turned to somebody. */
const SAID_ROWS = 3;

/** Lines of a command's output that are live rows, and that stay below one that failed. */
const OUTPUT_ROWS = 3;
/** Characters of a call's arguments and of its result that are kept. */
const MAX_KEPT = 64 * 1024;

/** A result as events and messages have it. */
export interface ShownResult {
  /** `unknown` without a result; null if it was not recorded. */
  readonly status: CallStatus | null;
  /** Result of the tool, or its beginning. */
  readonly content: string;
  /** Null if nobody knows. */
  readonly duration_ms: number | null;
}

/** Call from its beginning to its end. */
export interface ShownCall {
  readonly id: string;
  readonly text: CallText;
  readonly isReading: boolean;
  /** True if it may change files. */
  readonly isChanging: boolean;
  readonly result: ShownResult | null;
  /** Lines that it prints: all of them. */
  output(text: string): void;
  /** Some of the lines that it prints: its result has more, and replaces them. */
  arrived(text: string): void;
  finish(result: ShownResult): void;
  changed(changes: readonly FileChangeInfo[]): void;
  /** Further facts of its row; they are clean. */
  notes(facts: readonly string[]): void;
  /** True if it may have changed files, or sub-agents of it, if it ended so. */
  mayHaveDone(result: ShownResult): boolean;
  /** A question of it was shown: a diff in it is not shown again. */
  asked(kind: QuestionKind): void;
  /** True if its end needs no row. */
  isSilent(): boolean;
  title(): string;
  running(layout: Layout, now: number): string[];
  /** Rows once it has a result. */
  ended(layout: Layout, n: number): string[];
  outcome(): ReturnType<typeof outcomeOf>;
  /** All that is kept of it, in clean lines. */
  lines(): string[];
  /** Characters that `lines` needs. */
  size(): number;
}

const NO_RESULT: ShownResult = { status: "unknown", content: "", duration_ms: null };

export function createShownCall(call: ToolCall, begunAt: number): ShownCall {
  const text = callText(call);
  const args = argumentText(call.args).slice(0, MAX_KEPT);
  let kept: ReturnType<typeof createKeptOutput> | null = null;
  let result: ShownResult | null = null;
  let changes: readonly FileChangeInfo[] = [];
  let notes: readonly string[] = [];
  let isPart = false;
  let isAsked = false;
  let isAnswered = false;
  const outcome = (): ReturnType<typeof outcomeOf> => outcomeOf(result ?? NO_RESULT);
  const output = (): ReturnType<typeof createKeptOutput> =>
    kept ?? (text.isCommand ? outputOf(result?.content ?? "") : createKeptOutput());
  return {
    id: call.id,
    text,
    isReading: isExploring(call),
    isChanging: call.effect === "changes" || call.effect === "runs",
    get result() {
      return result;
    },
    output: (piece) => (kept ??= createKeptOutput()).add(piece),
    arrived: (piece) => {
      isPart = true;
      (kept ??= createKeptOutput()).add(piece);
    },
    finish: ({ content, ...rest }) => {
      result = { ...rest, content: content.slice(0, MAX_KEPT) };
      kept = isPart && content !== "" ? null : kept;
    },
    changed: (found) => {
      changes = found;
    },
    notes: (facts) => {
      notes = facts;
    },
    mayHaveDone: ({ status }) => status === "ok" || mayHaveChanged({ ...call, status }),
    asked: (kind) => {
      isAsked = true;
      // a server's call does more than ask
      isAnswered ||= kind === "question" && call.effect === "asks";
    },
    // a question was shown with its answer
    isSilent: () => isAnswered && result?.status === "ok",
    title: () => `${text.name} ${text.subject}`.trim(),
    running: (layout, now) => [
      runningRow(text, now - begunAt, layout),
      ...outputRows(kept?.last(OUTPUT_ROWS) ?? [], layout),
    ],
    ended: (layout, n) => {
      const ended = result ?? NO_RESULT;
      const { content } = ended;
      const facts = [...countsOf(changes), ...notes];
      return [
        ...endedRows({ ...ended, call: text, n, facts }, layout),
        ...noteRows({ ...call, content }, layout),
        ...(text.isCommand ? outputSummary(output(), outcome().end, layout) : []),
        ...(call.effect === "asks" && ended.status === "ok"
          ? indented(folded(content, layout.width - 2, SAID_ROWS), layout.theme.dim)
          : []),
        ...changeRows(changes, layout, { isDiffShown: !isAsked }),
      ];
    },
    outcome,
    lines: () => [
      `${text.name} ${text.isCommand ? text.subject : ""}`.trim(),
      ...(text.isCommand ? [] : visible(args).split("\n")),
      "",
      ...(kept === null ? visible(result?.content ?? "(no result)").split("\n") : kept.lines()),
      ...(changes.length === 0 ? [] : ["", ...changeText(changes)]),
    ],
    size: () =>
      args.length +
      (kept?.size ?? 0) +
      (result?.content.length ?? 0) +
      changes.reduce((sum, { diff }) => sum + (diff?.length ?? 0), 0),
  };
}

/** Texts of several lines as lines, not as JSON. */
function argumentText(args: unknown): string {
  if (typeof args !== "object" || args === null) {
    return JSON.stringify(args) ?? "";
  }
  return Object.entries(args)
    .map(([name, value]: [string, unknown]) =>
      typeof value === "string"
        ? `${name}: ${value.includes("\n") ? `\n${value}` : value}`
        : `${name}: ${JSON.stringify(value)}`,
    )
    .join("\n");
}

/** Returns what the result of a command says that it printed. */
function outputOf(content: string): ReturnType<typeof createKeptOutput> {
  const kept = createKeptOutput();
  const text = commandOutput(content);
  if (text !== "") {
    kept.add(text);
  }
  return kept;
}

/** All of a short output; of a longer one the end, if the command failed. */
function outputSummary(
  output: ReturnType<typeof createKeptOutput>,
  end: CallEnd,
  layout: Layout,
): string[] {
  if (output.count <= OUTPUT_ROWS) {
    return outputRows(output.last(OUTPUT_ROWS), layout);
  }
  const shown = end === "failed" ? output.last(OUTPUT_ROWS) : [];
  const hidden = plural(output.count - shown.length, shown.length > 0 ? "earlier line" : "line");
  return [
    ...indented([cutLine(`… ${hidden}, Ctrl-O shows them`, layout.width - 2)], layout.theme.dim),
    ...outputRows(shown, layout),
  ];
}

function outputRows(lines: readonly string[], { theme, width }: Layout): string[] {
  return lines.map((line) => `  ${theme.dim(cutLine(`| ${line}`, width - 2))}`);
}

function countsOf(changes: readonly FileChangeInfo[]): string[] {
  const sum = (of: (change: FileChangeInfo) => number | null): number =>
    changes.reduce((total, change) => total + (of(change) ?? 0), 0);
  return changes.length === 0
    ? []
    : [`+${sum(({ added }) => added)} -${sum(({ removed }) => removed)}`];
}
