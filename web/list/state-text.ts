import type { ShownState } from "./filters.ts";

/** Each state in a word, as the list and its filter show it. */
export const STATE_TEXTS: Readonly<Record<ShownState, string>> = {
  waiting: "asks you",
  running: "running",
  queued: "queued",
  interrupted: "interrupted",
  failed: "failed",
  stopped: "stopped",
  idle: "ready",
  ended: "ended",
};

/** The user's own title, else the beginning of the first message. */
export function titleOf(session: {
  readonly name?: string | null;
  readonly title: string | null;
}): string {
  return session.name ?? session.title ?? "(no message yet)";
}

/** As `1.2k`: a list needs no more. */
export function shortCount(count: number): string {
  return Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 })
    .format(count)
    .toLowerCase();
}

/** The last part of a path, with the one before it: `work/reprise`. */
export function shortFolder(path: string): string {
  const parts = path.split("/").filter((part) => part !== "");
  return parts.length === 0 ? "/" : parts.slice(-2).join("/");
}
