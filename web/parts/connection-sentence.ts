import type { Status } from "../streams/status.ts";

export interface ConnectionSentence {
  readonly kind: "hint" | "warning";
  /** Stays the same while attempts fail, so that a screen reader reads it once. */
  readonly text: string;
  /** When the next attempt is, in milliseconds since 1970; null if none is made. */
  readonly nextAt: number | null;
}

/** What a reader should know of the connection; null if what is shown is up to date. `timeOf` writes a time of day. */
export function connectionSentence(
  status: Status,
  timeOf: (ms: number) => string,
): ConnectionSentence | null {
  const say = (kind: ConnectionSentence["kind"], text: string, nextAt: number | null = null) => ({
    kind,
    text,
    nextAt,
  });
  const seen = (as_of: number | null): string =>
    as_of === null ? "" : ` What you see is from ${timeOf(as_of)}.`;
  switch (status.kind) {
    case "connecting":
    case "live":
      return null;
    case "polling":
      return say(
        "hint",
        "Other tabs have the live connections. This tab is updated every 3 seconds; answers appear when they are complete.",
      );
    case "offline":
      return say("warning", `The service does not answer.${seen(status.as_of)}`, status.next_at);
    case "unavailable":
      return say(
        "warning",
        `The database of the service does not answer.${seen(status.as_of)}`,
        status.next_at,
      );
    case "refused":
      return say("warning", "This is not shown without a login that allows it. Log in again.");
    case "gone":
      return say("warning", "This session was deleted. What you see is what was read before.");
    case "ended":
      return say("hint", "This session has ended. Nothing follows.");
  }
}

/** When the next attempt is, for readers who see it count down. */
export function nextAttempt(nextAt: number, now: number): string {
  const seconds = Math.ceil((nextAt - now) / 1000);
  return seconds < 1 ? "Trying again …" : `Trying again in ${seconds} s.`;
}
