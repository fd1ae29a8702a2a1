import type { ExchangeFailure, Session } from "../../core/sessions.ts";
import { oneLine } from "../../core/terminal-text.ts";
import { aligned } from "../aligned.ts";
import { activityShown } from "../last-exchange.ts";

/** Characters of an id that the table shows at least: enough to resume by, short enough to read. */
const ID_SHOWN = 8;
const ID_LENGTH = 36;

/** Sessions as aligned lines under a heading. `failures` are those of `failuresOf`. */
export function sessionTable(
  sessions: readonly Session[],
  failures: ReadonlyMap<string, ExchangeFailure>,
): string[] {
  const now = Date.now();
  const shown = shownLength(sessions);
  const rows = sessions.map((session) => [
    session.id.slice(0, shown),
    session.state === "ended" ? "ended" : activityShown(session, failures),
    age(now - Date.parse(session.last_message_at ?? session.created_at)),
    String(session.last_seq),
    oneLine(session.model ?? "-"),
    oneLine(session.title ?? "(no message yet)"),
  ]);
  return aligned([["ID", "STATE", "ACTIVE", "MESSAGES", "MODEL", "TITLE"], ...rows]);
}

/** So many characters that no two of these ids look the same. */
function shownLength(sessions: readonly Session[]): number {
  for (let length = ID_SHOWN; length < ID_LENGTH; length += 1) {
    if (new Set(sessions.map(({ id }) => id.slice(0, length))).size === sessions.length) {
      return length;
    }
  }
  return ID_LENGTH;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How long ago, in the largest unit that fits. */
function age(milliseconds: number): string {
  if (milliseconds < MINUTE) {
    return "just now";
  }
  if (milliseconds < HOUR) {
    return `${Math.floor(milliseconds / MINUTE)} min ago`;
  }
  if (milliseconds < DAY) {
    return `${Math.floor(milliseconds / HOUR)} h ago`;
  }
  return `${Math.floor(milliseconds / DAY)} d ago`;
}
