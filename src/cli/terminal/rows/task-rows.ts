import { type Task, tasksDone, TASKS_TOOL, type TaskState } from "../../../core/text/tasks.ts";
import type { ToolCall } from "../../../core/sessions.ts";
import { cutLine } from "../text/fold.ts";
import type { Theme } from "../text/theme.ts";
import type { Layout } from "./tool-rows.ts";

const MARKS: Readonly<Record<TaskState, string>> = { done: "✓", running: "▸", pending: "◦" };
/** Rows of the list at most. */
const MAX_ROWS = 7;
/** With fewer rows than this, one row has the count and the task that runs. */
const MIN_ROWS = 3;

/** The agent's to-do list in at most so many rows; of a long one what is around the first task that is not done. */
export function taskRows(tasks: readonly Task[], layout: Layout, rows: number): string[] {
  const max = Math.min(rows, MAX_ROWS);
  if (tasks.length === 0 || max < 1) {
    return [];
  }
  if (tasks.length <= max) {
    return tasks.map((task) => taskRow(task, layout));
  }
  if (max < MIN_ROWS) {
    return [openTaskRow(tasks, layout)];
  }
  const shown = max - 1;
  const current = tasks.findIndex(({ state }) => state !== "done");
  const from = Math.max(
    0,
    Math.min(current === -1 ? tasks.length : current - 1, tasks.length - shown),
  );
  return [
    ...tasks.slice(from, from + shown).map((task) => taskRow(task, layout)),
    layout.theme.dim(cutLine(`  … ${tasksDone(tasks)}`, layout.width)),
  ];
}

/** `▸ 2 of 5 done: fix the rounding`: the list in one row. */
export function openTaskRow(tasks: readonly Task[], { theme, width }: Layout): string {
  const next = tasks.find(({ state }) => state === "running") ?? tasks.find(isOpen);
  const text = next === undefined ? tasksDone(tasks) : `${tasksDone(tasks)}: ${next.text}`;
  return `${theme.accent(MARKS.running)} ${theme.dim(cutLine(text, Math.max(1, width - 2)))}`;
}

export function isOpen({ state }: Task): boolean {
  return state !== "done";
}

/** True for a call that is part of a group of those that read: a list that changes has a row for itself. */
export function isExploring({ name, effect }: Pick<ToolCall, "name" | "effect">): boolean {
  return effect === "reads" && name !== TASKS_TOOL;
}

function taskRow({ text, state }: Task, { theme, width }: Layout): string {
  const [mark, words] = stylesOf(state, theme);
  return `${mark(MARKS[state])} ${words(cutLine(text, Math.max(1, width - 2)))}`;
}

/** Styles of the mark and of the text. */
function stylesOf(state: TaskState, { success, accent, bold, dim }: Theme) {
  switch (state) {
    case "done":
      return [success, dim] as const;
    case "running":
      return [accent, bold] as const;
    case "pending":
      return [dim, asIs] as const;
  }
}

function asIs(text: string): string {
  return text;
}
