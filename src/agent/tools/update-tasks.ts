import { tool, type StructuredToolInterface } from "@langchain/core/tools";
import { z } from "zod";

import { MAX_TASK, MAX_TASKS, TASK_STATES, tasksDone } from "../../core/text/tasks.ts";
import { UPDATE_TASKS } from "../../rules/tools/built-in.ts";

const TASK = z.object({
  text: z
    .string()
    .max(MAX_TASK)
    .refine((text) => text.trim() !== ""),
  state: z.enum(TASK_STATES),
});
const SCHEMA = z.object({ tasks: z.array(TASK).max(MAX_TASKS) });

/** The agent's to-do list: the last call that succeeded has it, so nothing is stored besides the call. */
export function updateTasksTool(): StructuredToolInterface {
  return tool(({ tasks }) => `The user sees the list: ${tasksDone(tasks)}.`, {
    name: UPDATE_TASKS.name,
    description:
      "Keep a to-do list that the user sees, for work of several steps: give all tasks each time, one of them running at most.",
    schema: SCHEMA,
  });
}
