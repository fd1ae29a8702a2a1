import {
  type CheckpointPendingWrite,
  ERROR,
  INTERRUPT,
  RESUME,
  SCHEDULED,
} from "@langchain/langgraph-checkpoint";

/** What is written for a task that has not finished. */
const NOT_DONE: ReadonlySet<string> = new Set([INTERRUPT, RESUME, ERROR, SCHEDULED]);

/** LangGraph stores what a Command writes, and an answer for whatever asks, under this id. */
export const NO_TASK = "00000000-0000-0000-0000-000000000000";

/** True for a task that LangGraph does not run again. */
export function isDone(
  task: string,
  pendingWrites: readonly CheckpointPendingWrite[] | undefined = [],
): boolean {
  return pendingWrites.some(([id, channel]) => id === task && !NOT_DONE.has(channel));
}
