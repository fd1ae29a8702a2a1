import { plural } from "../../../core/text/text.ts";
import { inSeconds } from "../text/amounts.ts";
import { cutLine } from "../text/fold.ts";
import type { ShownCall } from "./shown-call.ts";
import {
  type CallEnd,
  endedRows,
  endOf,
  folded,
  indented,
  type Layout,
  readSummary,
  styleOf,
} from "./tool-rows.ts";

/** Calls of one group; the next one begins another. */
const MAX_CALLS = 200;
/** Calls whose subjects are shown, and failures. */
const MAX_NAMED = 20;
const MAX_FAILED = 5;
/** Rows of one failure. */
const REASON_ROWS = 2;

/** Consecutive calls that only read. */
export interface ReadGroup {
  readonly kind: "reads";
  /** False once it can take no further call. */
  takes(): boolean;
  add(call: ShownCall): void;
  close(): void;
  /** True if it is closed and every call has a result. */
  isReady(): boolean;
  running(layout: Layout, now: number): string[];
  ended(layout: Layout, n: number): string[];
  title(): string;
  lines(): string[];
  size(): number;
}

export function createReadGroup(now: () => number): ReadGroup {
  const begunAt = now();
  const calls: ShownCall[] = [];
  let endedAt: number | null = null;
  let isClosed = false;
  const summary = (of: readonly ShownCall[]): string => {
    return readSummary(of.map(({ text }) => text.name));
  };
  const withEnd = (end: CallEnd): ShownCall[] =>
    calls.filter(({ result }) => result !== null && endOf(result.status) === end);
  const title = (): string => `Explored: ${summary(calls)}`;
  const isReady = (): boolean => isClosed && calls.every(({ result }) => result !== null);
  return {
    kind: "reads",
    takes: () => !isClosed && calls.length < MAX_CALLS,
    add: (call) => void calls.push(call),
    close: () => {
      isClosed = true;
    },
    isReady: () => {
      const isDone = isReady();
      endedAt ??= isDone ? now() : null;
      return isDone;
    },
    running: ({ theme, width }, at) => {
      const last = calls.findLast(({ result }) => result === null) ?? calls.at(-1);
      const head = `${summary(calls)}  ${inSeconds(at - begunAt)}`;
      const now = last === undefined ? "" : `${last.text.name} ${last.text.subject}`;
      return [
        `${theme.accent("•")} ${theme.bold("Exploring:")} ${cutLine(head, Math.max(1, width - 13))}`,
        ...(calls.length > 1 ? indented([cutLine(now, width - 2)], theme.dim) : []),
      ];
    },
    ended: (layout, n) => {
      const [only] = calls;
      if (only !== undefined && calls.length === 1) {
        return only.ended(layout, n);
      }
      const { theme, width } = layout;
      const [done, failed, unknown] = [withEnd("ok"), withEnd("failed"), withEnd("unknown")];
      const isTimed = calls.some(({ result }) => result?.duration_ms !== null);
      const names = calls.slice(0, MAX_NAMED).map(({ text }) => text.subject);
      const head = {
        call: { name: "Explored:", subject: summary(done), isCommand: false, isPath: false },
        status: done.length > 0 ? "ok" : failed.length > 0 ? "failed" : "unknown",
        content: "",
        duration_ms: isTimed ? (endedAt ?? now()) - begunAt : null,
        n,
        facts: [
          ...(failed.length > 0 ? [`${failed.length} failed`] : []),
          ...(unknown.length > 0 && done.length > 0 ? [`${unknown.length} without result`] : []),
        ],
      } as const;
      return [
        ...endedRows(head, layout),
        ...indented([cutLine([...new Set(names)].join(", "), width - 2)], theme.dim),
        ...failed.slice(0, MAX_FAILED).flatMap((call) => failureRows(call, layout)),
        ...(failed.length > MAX_FAILED
          ? indented(
              [cutLine(`… ${plural(failed.length - MAX_FAILED, "more failure")}`, width - 2)],
              theme.dim,
            )
          : []),
      ];
    },
    title,
    lines: () => calls.flatMap((call) => [...call.lines(), ""]),
    size: () => calls.reduce((sum, call) => sum + call.size(), 0),
  };
}

function failureRows(call: ShownCall, { theme, width }: Layout): string[] {
  const { name, subject } = call.text;
  const said = `✗ ${name} ${subject}: ${call.outcome().reason}`;
  return indented(folded(said, width - 2, REASON_ROWS), styleOf("failed", theme));
}
