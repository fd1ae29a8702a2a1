import { oneLine } from "./terminal-text.ts";

/** Tool with which an agent keeps its to-do list: each call has all of it. */
export const TASKS_TOOL = "update_tasks";

export const TASK_STATES = ["pending", "running", "done"] as const;
export type TaskState = (typeof TASK_STATES)[number];

export interface Task {
  /** On one line, and clean. */
  readonly text: string;
  readonly state: TaskState;
}

export const MAX_TASKS = 50;
/** Characters of one task. */
export const MAX_TASK = 300;

/** Counts the tasks of a list that are done: `2 of 5 done`. */
export function tasksDone(tasks: readonly Task[]): string {
  return `${tasks.filter(({ state }) => state === "done").length} of ${tasks.length} done`;
}

/** Returns the list of a call; null for another call, and for arguments that the tool refuses. */
export function tasksOf({
  name,
  args,
}: {
  readonly name: string;
  readonly args: unknown;
}): readonly Task[] | null {
  return name === TASKS_TOOL ? tasksIn(args) : null;
}

/** Reads the arguments of a call: an import may have any value. */
export function tasksIn(args: unknown): readonly Task[] | null {
  const given = fieldOf(args, "tasks");
  if (!Array.isArray(given) || given.length > MAX_TASKS) {
    return null;
  }
  const tasks = given.map(taskOf);
  return tasks.every((task) => task !== null) ? tasks : null;
}

function taskOf(given: unknown): Task | null {
  const [text, found] = [fieldOf(given, "text"), fieldOf(given, "state")];
  const state = TASK_STATES.find((each) => each === found);
  return typeof text === "string" && text.length <= MAX_TASK && state !== undefined
    ? { text: oneLine(text), state }
    : null;
}

function fieldOf(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}
