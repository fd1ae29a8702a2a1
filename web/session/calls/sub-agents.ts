import type { SessionSummary } from "../../../src/entries/client.ts";
import type { StoredCall } from "../rows.ts";

/** Characters of a title; see `title` of a session. */
const TITLE = 50;

/** The sub-agent that a call began: its title is the beginning of the task, and it was made after the call. */
export function childOf(
  { call, asked_at }: StoredCall,
  children: readonly SessionSummary[],
): SessionSummary | null {
  const task: unknown =
    typeof call.args === "object" && call.args !== null ? Reflect.get(call.args, "task") : null;
  if (typeof task !== "string") {
    return null;
  }
  const title = Array.from(task.slice(0, 2 * TITLE))
    .slice(0, TITLE)
    .join("");
  // the clock of the database and that of the agent may differ by a little
  const since = Date.parse(asked_at) - 5000;
  return (
    children.find((child) => child.title === title && Date.parse(child.created_at) >= since) ?? null
  );
}
