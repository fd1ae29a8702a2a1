import type { SessionSummary } from "../../src/entries/client.ts";

/** The sessions that were read, by id. */
export type Sessions = ReadonlyMap<string, SessionSummary>;

/** A position in the list: sessions with the latest activity come first, equal ones by id, the greatest first. */
export interface Position {
  readonly at: string;
  readonly id: string;
}

/** A line of the list. */
export interface ListRow {
  readonly session: SessionSummary;
  /** 1 for who is nobody's sub-agent in the list. */
  readonly level: number;
  /** How many sub-agents of it, and of those, the list has. */
  readonly children: number;
  readonly isOpen: boolean;
}

export function positionOf({ id, last_message_at, created_at }: SessionSummary): Position {
  return { at: last_message_at ?? created_at, id };
}

/** Below 0 if `a` comes first. */
export function compare(a: Position, b: Position): number {
  return a.at === b.at ? order(b.id, a.id) : order(b.at, a.at);
}

function order(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

export function isPinned({ pinned_at }: SessionSummary): boolean {
  return typeof pinned_at === "string";
}

interface ReadPart {
  readonly after: Position | null;
  readonly isLast: boolean;
  /** All that are pinned; null if they were not read. */
  readonly pinned: readonly SessionSummary[] | null;
}

/**
 * The sessions after a page was read: the page is all there is from `after` (null: the beginning) to its last one, or
 * to the end of the list if it is the last page. What the list does not have there any more is left out.
 */
export function mergePage(
  sessions: Sessions,
  page: readonly SessionSummary[],
  { after, isLast, pinned }: ReadPart,
): Map<string, SessionSummary> {
  const last = page.at(-1);
  const end = isLast || last === undefined ? null : positionOf(last);
  const isBeyond = (position: Position): boolean =>
    (after !== null && compare(position, after) <= 0) ||
    (end !== null && compare(position, end) > 0);
  const kept = [...sessions.values()].filter(
    (session) => isBeyond(positionOf(session)) && (pinned === null || !isPinned(session)),
  );
  const found = [...kept, ...(pinned ?? []), ...page];
  return new Map(found.map((session) => [session.id, session]));
}

/**
 * The lines to show, pinned sessions first, then the latest activity. A sub-agent that is not pinned comes below the
 * session that it works for, if the list has that one, and only if that one is open.
 */
export function rowsOf(sessions: Iterable<SessionSummary>, open: ReadonlySet<string>): ListRow[] {
  const sorted = [...sessions]
    .map((session) => ({ session, position: positionOf(session) }))
    .sort(
      (a, b) =>
        Number(isPinned(b.session)) - Number(isPinned(a.session)) ||
        compare(a.position, b.position),
    )
    .map(({ session }) => session);
  const listed = new Set(sorted.map(({ id }) => id));
  const childrenOf = Map.groupBy(sorted, (session) => {
    const { parent_session_id: parent } = session;
    return parent !== null && listed.has(parent) && !isPinned(session) ? parent : null;
  });
  const countOf = (id: string): number =>
    (childrenOf.get(id) ?? []).reduce((sum, child) => sum + 1 + countOf(child.id), 0);
  const below = (parent: string | null, level: number): ListRow[] =>
    (childrenOf.get(parent) ?? []).flatMap((session) => {
      const isOpen = open.has(session.id);
      const row = { session, level, children: countOf(session.id), isOpen };
      return isOpen ? [row, ...below(session.id, level + 1)] : [row];
    });
  return below(null, 1);
}
