import type { MessageInfo } from "../../../src/entries/client.ts";
import { visibleName } from "../act/visible-text.ts";
import type { SessionModel } from "../model.ts";

const STATES = ["pending", "running", "done"] as const;

export interface Task {
  readonly text: string;
  readonly state: (typeof STATES)[number];
}

/** Messages in which the list is searched, the last ones. */
const MAX_SEARCHED = 500;
/** As the service reads them. */
const MAX_TASKS = 50;
const MAX_TASK = 300;

/** The agent's to-do list: that of its last call that succeeded, among the messages that are here. */
export function tasksOf({
  messages,
  first,
  last,
}: Pick<SessionModel, "messages" | "first" | "last">): readonly Task[] {
  const ended = new Set<string | null>();
  const end = Math.max(first.value, last.value - MAX_SEARCHED);
  for (let seq = last.value; seq >= end; seq -= 1) {
    const message = messages.get(seq);
    if (message?.archived === true) {
      return [];
    }
    if (message?.role === "tool" && message.status === "ok") {
      ended.add(message.call_id);
    }
    const tasks = message === undefined ? null : listOf(message, ended);
    if (tasks !== null) {
      return tasks;
    }
  }
  return [];
}

function listOf(
  { tool_calls }: MessageInfo,
  ended: ReadonlySet<string | null>,
): readonly Task[] | null {
  for (const { id, name, args } of tool_calls?.toReversed() ?? []) {
    const given: unknown = name === "update_tasks" && ended.has(id) ? fieldOf(args, "tasks") : null;
    if (Array.isArray(given)) {
      return given.slice(0, MAX_TASKS).flatMap((task: unknown) => taskOf(task) ?? []);
    }
  }
  return null;
}

function taskOf(given: unknown): Task | null {
  const [text, found] = [fieldOf(given, "text"), fieldOf(given, "state")];
  const state = STATES.find((each) => each === found);
  return typeof text === "string" && state !== undefined
    ? { text: visibleName(text.slice(0, MAX_TASK)), state }
    : null;
}

function fieldOf(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}
