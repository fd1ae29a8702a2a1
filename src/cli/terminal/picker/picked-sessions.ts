import { fuzzyFilter } from "../pi/fuzzy.ts";

/** Groups of the list, in their order. */
export const PLACES = ["pinned", "here", "repository", "elsewhere"] as const;
export type Place = (typeof PLACES)[number];

/** A session in the picker. Texts are cleaned; times are milliseconds since 1970. */
export interface PickedSession {
  readonly id: string;
  /** The name that a person gave it; null for none. */
  readonly name: string | null;
  /** The beginning of its first message, or a word for none. */
  readonly title: string;
  /** Null for none. */
  readonly folder: string | null;
  /** Pinned; else belongs to the working folder, to another folder of its repository, or to neither. */
  readonly place: Place;
  /** State that a list shows: `idle`, `running`, `waiting`, `interrupted`, `failed`, `ended`. */
  readonly state: string;
  readonly model: string;
  readonly tokens: number;
  readonly messages: number;
  readonly usedAt: number;
  readonly createdAt: number;
  readonly archived: boolean;
  readonly pinned: boolean;
  /** The session that a fork began from, and its last message that the fork has; null for other sessions. */
  readonly origin: { readonly session_id: string; readonly seq: number } | null;
  /** Whether it runs a plan. */
  readonly isRun: boolean;
  readonly depth: number;
}

/** A message in which the search found what was typed. Texts are cleaned and on one line. */
export interface PickedHit {
  /** The id of its session. */
  readonly session_id: string;
  readonly seq: number;
  /** Text around the first word, and the part of it from shortly before the word on. */
  readonly excerpt: string;
  readonly short: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** A row of the list: a session, or a message in one. */
export interface PickerEntry {
  readonly session: PickedSession;
  readonly hit: PickedHit | null;
}

/** Identity of a row, kept when it is only moved. */
export function entryKey({ session, hit }: PickerEntry): string {
  return hit === null ? session.id : `${session.id} ${hit.seq}`;
}

export const SORTS = ["last used", "created", "tokens"] as const;
export type PickerSort = (typeof SORTS)[number];

export interface Arrangement {
  readonly query: string;
  readonly sort: PickerSort;
  /** Null for any. */
  readonly model: string | null;
}

export function titleOf({ name, title }: PickedSession): string {
  return name ?? title;
}

/** Characters of an id that find its session. */
const MIN_ID = 4;

/** The sessions that match, those of the working folder first; the best matches first in each group. */
function arranged(
  sessions: Iterable<PickedSession>,
  { query, sort, model }: Arrangement,
): readonly PickedSession[] {
  const all = [...sessions].filter((each) => model === null || each.model === model);
  const sorted = all.sort((a, b) => rank(b, sort) - rank(a, sort));
  const found = query.trim() === "" ? sorted : search(sorted, query.trim());
  return PLACES.flatMap((place) => found.filter((each) => each.place === place));
}

/** The sessions that match, then messages that were found in sessions of which `known` has those that the filters let through. */
export function entriesOf(
  known: ReadonlyMap<string, PickedSession>,
  hits: readonly PickedHit[],
  arrangement: Arrangement,
): readonly PickerEntry[] {
  const { model } = arrangement;
  const sessions = arranged(known.values(), arrangement);
  return [
    ...sessions.map((session) => ({ session, hit: null })),
    ...hits.flatMap((hit) => {
      const session = known.get(hit.session_id);
      const fits = session !== undefined && (model === null || session.model === model);
      return fits ? [{ session, hit }] : [];
    }),
  ];
}

function rank({ usedAt, createdAt, tokens }: PickedSession, sort: PickerSort): number {
  return { "last used": usedAt, created: createdAt, tokens }[sort];
}

function search(sessions: PickedSession[], query: string): PickedSession[] {
  const byId =
    query.length < MIN_ID ? [] : sessions.filter(({ id }) => id.startsWith(query.toLowerCase()));
  const byText = fuzzyFilter(sessions, query, (session) =>
    session.name === null ? session.title : `${session.name} ${session.title}`,
  );
  return [...new Set([...byId, ...byText])];
}
