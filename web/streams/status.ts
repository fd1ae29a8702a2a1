import { ClientError } from "../../src/entries/client.ts";

/**
 * How what a page shows is kept up to date:
 * - `live` over a stream, of this tab or another one;
 * - `polling` every 3 s, because other tabs have the streams;
 * - `offline`: the service does not answer; `unavailable`: its database does not;
 * - `refused`: without a login, or without the right to read this; `gone`: it was deleted; `ended`: nothing follows.
 *
 * Times are in milliseconds since 1970: of the next attempt, and when what is shown was confirmed last (null if never).
 */
export type Status =
  | { readonly kind: "connecting" | "live" | "polling" | "refused" | "gone" | "ended" }
  | {
      readonly kind: "offline" | "unavailable";
      readonly next_at: number;
      readonly as_of: number | null;
    };

export const CONNECTING: Status = { kind: "connecting" };

/** What a failed read means. An `offline` one is worth another attempt, and so is `unavailable`. */
export function failureOf(error: unknown): "refused" | "gone" | "offline" | "unavailable" {
  const { status, code } =
    error instanceof ClientError ? error : { status: 0, code: "unreachable" as const };
  if (status === 401 || status === 403) {
    return "refused";
  }
  if (code === "session_not_found") {
    return "gone";
  }
  return status === 503 && code.startsWith("database_") ? "unavailable" : "offline";
}

export function isSameStatus(before: Status, after: Status): boolean {
  const isTimed = "next_at" in before && "next_at" in after;
  return (
    before.kind === after.kind &&
    (!isTimed || (before.next_at === after.next_at && before.as_of === after.as_of))
  );
}
