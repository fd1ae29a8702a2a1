import type { MessageInfo } from "../../src/entries/client.ts";

export type ToolCall = NonNullable<MessageInfo["tool_calls"]>[number];

const MAX_SUBJECT = 1000;

/** True for a call that only reads; a list that changes is for itself. */
export function isReading({ effect, name }: Pick<ToolCall, "effect" | "name">): boolean {
  return effect === "reads" && name !== "update_tasks";
}

/** What a call is about, or its arguments, in one line. */
export function subjectOf({ subject, args }: Pick<ToolCall, "subject" | "args">): string {
  return (subject ?? JSON.stringify(args) ?? "").slice(0, MAX_SUBJECT).replace(/\s+/gu, " ").trim();
}

/** Arguments for a person: texts of several lines as lines, not as JSON. */
export function argumentsText(args: unknown): string {
  if (typeof args !== "object" || args === null || Array.isArray(args)) {
    return JSON.stringify(args, null, 2) ?? "";
  }
  return Object.entries(args)
    .map(([name, value]: [string, unknown]) =>
      typeof value === "string"
        ? `${name}: ${value.includes("\n") ? `\n${value}` : value}`
        : `${name}: ${JSON.stringify(value, null, 2)}`,
    )
    .join("\n");
}

/** The tools of a group of calls: `read_file × 3, list_files`. */
export function readSummary(calls: readonly Pick<ToolCall, "name">[]): string {
  const counts = new Map<string, number>();
  for (const { name } of calls) {
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts]
    .map(([name, count]) => (count === 1 ? name : `${name} × ${count.toLocaleString("en")}`))
    .join(", ");
}

/** `1 message`, `2 messages`. */
export function plural(count: number, thing: string): string {
  return `${count.toLocaleString("en")} ${thing}${count === 1 ? "" : "s"}`;
}

/** How long something took: `0.2 s`, `12 s`, `3 min 5 s`. */
export function tookText(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  return seconds < 10 ? `${(Math.floor(seconds * 10) / 10).toFixed(1)} s` : secondsText(ms);
}

/** In whole seconds: `0 s`, `12 s`, `3 min 5 s`. */
export function secondsText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
