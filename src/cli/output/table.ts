import { PLAN_AGENT } from "../../core/plan-runs.ts";
import type { ExchangeFailure, Session } from "../../core/sessions.ts";
import { oneLine, titleLine } from "../../core/text/terminal-text.ts";
import { plural } from "../../core/text/text.ts";
import { readFailures } from "../../store/records/sessions/failures.ts";
import type { Store } from "../../store/store.ts";
import { age } from "./ages.ts";
import { aligned } from "./aligned.ts";

/** Characters of an id that the table shows at least: enough to resume by, short enough to read. */
const ID_SHOWN = 8;
const ID_LENGTH = 36;

/** Sessions of a list, and how many sub-agents without a line each of them has, by its id. */
export interface ListedSessions {
  readonly sessions: readonly Session[];
  readonly subagents?: ReadonlyMap<string, number>;
}

/** Characters of a folder that the table shows at most: its end, which is what differs between folders. */
const FOLDER_SHOWN = 40;

/**
 * Sessions as aligned lines under a heading, with their folders if those are several. `subagents` counts those that
 * have no line, by the id of the session that they belong to; `home` is shown as `~`.
 */
export async function sessionTable(
  store: Store,
  { sessions, subagents = new Map() }: ListedSessions,
  home: string | undefined,
): Promise<string[]> {
  const failures = await failuresOf(store, sessions);
  const now = Date.now();
  const ids = shortIds(sessions);
  const hasFolders = new Set(sessions.map(({ repo_path }) => repo_path)).size > 1;
  const rows = sessions.map((session) => [
    ids.get(session.id) ?? session.id,
    shownState(session, failures),
    age(now - Date.parse(session.last_message_at ?? session.created_at)),
    String(session.last_seq),
    oneLine(answererOf(session) ?? "-"),
    ...(hasFolders ? [shownFolder(session, home)] : []),
    `${titleLine(session)}${marksOf(session, subagents.get(session.id) ?? 0)}`,
  ]);
  const folder = hasFolders ? ["FOLDER"] : [];
  return aligned([["ID", "STATE", "ACTIVE", "MESSAGES", "MODEL", ...folder, "TITLE"], ...rows]);
}

/** Returns the agent of another program, or the model; null if neither is known. */
export function answererOf({ agent, model }: Pick<Session, "agent" | "model">): string | null {
  return agent === null || agent === PLAN_AGENT ? model : agent;
}

function shownFolder({ repo_path: path }: Session, home: string | undefined): string {
  const shown = path === null ? "-" : oneLine(withTilde(path, home));
  const characters = Array.from(shown);
  return characters.length > FOLDER_SHOWN
    ? `…${characters.slice(1 - FOLDER_SHOWN).join("")}`
    : shown;
}

/** A path with `~` for the user's home. */
export function withTilde(path: string, home: string | undefined): string {
  const isInHome = home !== undefined && home.length > 1 && `${path}/`.startsWith(`${home}/`);
  return isInHome ? `~${path.slice(home.length)}` : path;
}

function marksOf({ archived_at, pinned_at, agent }: Session, subagents: number): string {
  const marks = [
    ...(agent === PLAN_AGENT ? ["plan"] : []),
    ...(pinned_at === null ? [] : ["pinned"]),
    ...(archived_at === null ? [] : ["archived"]),
    ...(subagents === 0 ? [] : [plural(subagents, "sub-agent")]),
  ];
  return marks.length === 0 ? "" : `  [${marks.join(", ")}]`;
}

/** Why the last exchange of a session failed, by the session's id. */
export type Failures = ReadonlyMap<string, ExchangeFailure>;

/** The failures of these sessions; none of an exchange that was only cut. */
export async function failuresOf(store: Store, sessions: readonly Session[]): Promise<Failures> {
  const ids = sessions.filter(isOpen).map(({ id }) => id);
  return ids.length === 0 ? new Map() : store.read(readFailures, { ids });
}

/** Returns what a person reads for state and activity: a failed exchange is shown as failed. */
export function shownState(session: Session, failures: Failures): string {
  if (session.state === "ended") {
    return "ended";
  }
  return isOpen(session) && failures.has(session.id) ? "failed" : session.activity;
}

function isOpen({ activity }: Session): boolean {
  return activity === "interrupted";
}

/** Beginnings of these ids, of which no two are the same, by id. */
export function shortIds(sessions: readonly Session[]): ReadonlyMap<string, string> {
  const length = shownLength(sessions);
  return new Map(sessions.map(({ id }) => [id, id.slice(0, length)]));
}

function shownLength(sessions: readonly Session[]): number {
  for (let length = ID_SHOWN; length < ID_LENGTH; length += 1) {
    if (new Set(sessions.map(({ id }) => id.slice(0, length))).size === sessions.length) {
      return length;
    }
  }
  return ID_LENGTH;
}
