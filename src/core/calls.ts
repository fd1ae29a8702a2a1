import { MAX_SUBJECT } from "./limits.ts";
import { oneLine } from "./text/terminal-text.ts";
import { isServerTool, isToolEffect, type Tool, type ToolEffect, type ToolSet } from "./tools.ts";

/**
 * How a call of a tool ended. `ok`, `failed`: the tool says so. `unknown`: it began, and nobody knows how it ended.
 * `denied`: a rule or a person said no. `not_run`: it never began.
 */
export const CALL_STATUSES = ["ok", "failed", "unknown", "denied", "not_run"] as const;
export type CallStatus = (typeof CALL_STATUSES)[number];

/** With the one of a call that has not ended. */
export const LIVE_CALL_STATUSES = ["running", ...CALL_STATUSES] as const;
export type LiveCallStatus = (typeof LIVE_CALL_STATUSES)[number];

/** Facts of a call besides its name and arguments; null for what nobody said of the tool. */
export interface CallFacts {
  readonly effect: ToolEffect | null;
  /** Subject of the call, in one line: a command, paths, a search, a question, a task. */
  readonly subject: string | null;
}

export const NO_FACTS: CallFacts = { effect: null, subject: null };

export function isCallStatus(value: unknown): value is CallStatus {
  return CALL_STATUSES.some((status) => status === value);
}

/** The facts of a call of one of these tools. A tool of a server may change something; of another tool nothing is known. */
export function factsOfCall(
  { name, args }: { readonly name: string; readonly args: unknown },
  tools: ToolSet,
): CallFacts {
  if (!tools.has(name)) {
    return isServerTool(name) ? { effect: "changes", subject: null } : NO_FACTS;
  }
  const tool = tools.get(name);
  return { effect: tool.effect, subject: shownSubject(subjectOf(tool, args)) };
}

function subjectOf({ subject }: Tool, args: unknown): string | null {
  try {
    return subject?.(args) ?? null;
  } catch {
    // the function of a program's own tool; an exchange does not fail for what is only shown
    return null;
  }
}

/** The facts that a stored value has; an import may have any value. */
export function factsIn(value: unknown): CallFacts {
  if (typeof value !== "object" || value === null) {
    return NO_FACTS;
  }
  const effect: unknown = Reflect.get(value, "effect");
  const subject: unknown = Reflect.get(value, "subject");
  return {
    effect: isToolEffect(effect) ? effect : null,
    subject: typeof subject === "string" ? shownSubject(subject) : null,
  };
}

/** Cleans a text of a model for one line, and cuts it; null if nothing is left. */
export function shownSubject(subject: string | null): string | null {
  // a text that is cut off is not cleaned: an argument may have megabytes
  const line = oneLine((subject ?? "").slice(0, 2 * MAX_SUBJECT))
    .slice(0, MAX_SUBJECT)
    .toWellFormed()
    .trimEnd();
  return line === "" ? null : line;
}
