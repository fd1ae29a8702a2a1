import { AIMessage, type BaseMessage, ToolMessage } from "@langchain/core/messages";

import { type Task, tasksDone, tasksIn, tasksOf, TASKS_TOOL } from "../../core/text/tasks.ts";
import { statusOf } from "../../store/records/messages/call-facts.ts";

/** Member of a summary with the to-do list that it hides. */
const TASKS = "reprise_tasks";
/** Characters of the tasks that the model is shown. */
const MAX_CHARS = 2_000;

/** Messages that a summary replaces, and those that it keeps. */
interface Summarised {
  /** The list that the summary before hides. */
  readonly tasks: readonly Task[];
  /** Messages that no summary covers. */
  readonly kept: readonly BaseMessage[];
  /** Position of the first that is not summarised now. */
  readonly cut: number;
}

/** Returns the list that a summary hides: that of the last call that succeeded (`readTasks`), unless the model still sees the call. */
export function hiddenTasks({ tasks: earlier, kept, cut }: Summarised): readonly Task[] {
  const succeeded = new Set<string>();
  for (let at = kept.length - 1; at >= 0; at -= 1) {
    const message = kept[at];
    if (ToolMessage.isInstance(message) && statusOf(message) === "ok") {
      succeeded.add(message.tool_call_id);
    }
    if (AIMessage.isInstance(message)) {
      const calls = (message.tool_calls ?? []).filter(({ id }) => succeeded.has(id ?? ""));
      const tasks = calls.map(tasksOf).findLast((each) => each !== null);
      if (tasks !== undefined && tasks !== null) {
        return at < cut ? tasks : [];
      }
    }
  }
  return earlier;
}

/** Members of a summary that keep its list: older messages are not read again, and what a model was sent stays. */
export function tasksMark(tasks: readonly Task[]): Record<string, unknown> {
  return tasks.length === 0 ? {} : { [TASKS]: tasks };
}

/** Reads the list that a summary keeps. An import may have any value. */
export function markedTasks({ additional_kwargs }: BaseMessage): readonly Task[] {
  return tasksIn({ tasks: additional_kwargs[TASKS] }) ?? [];
}

/** Returns the list as a model reads it; null if all is done. */
export function tasksText(tasks: readonly Task[]): string | null {
  const open = tasks.filter(({ state }) => state !== "done");
  if (open.length === 0) {
    return null;
  }
  let left = MAX_CHARS;
  const lines = open.map(({ state, text }) => `- ${state}: ${text}`);
  const shown = lines.filter((line) => (left -= line.length) >= 0);
  const hidden = lines.length - shown.length;
  return [
    `Your to-do list when the summary was made, ${tasksDone(tasks)}. ${TASKS_TOOL} replaces it.`,
    "<tasks>",
    ...shown,
    ...(hidden === 0 ? [] : [`- and ${hidden} more that are not done`]),
    "</tasks>",
  ].join("\n");
}
