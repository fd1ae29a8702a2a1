import type { TaskWrites } from "../store/checkpoints/read.ts";
import type { StoredWrite } from "../store/checkpoints/value.ts";

interface TaskWrite {
  readonly task_id: string;
  readonly write: StoredWrite;
}

/**
 * Returns what tasks wrote, in the order in which LangGraph applies it: by the path of the task, its id and the index
 * of the write. Takes the tasks by id, as they are read.
 */
export function inOrder(tasks: readonly TaskWrites[]): TaskWrite[] {
  const all = tasks.flatMap(({ task_id, writes }) => writes.map((write) => ({ task_id, write })));
  // sorting keeps the order of ids and indexes
  return all.some(({ write: [, , , path] }) => path !== undefined)
    ? all.sort((a, b) => compareTexts(a.write[3] ?? "", b.write[3] ?? ""))
    : all;
}

/** By code point: UTF-16 code units have another order beyond U+FFFF. */
function compareTexts(a: string, b: string): number {
  return a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b));
}
