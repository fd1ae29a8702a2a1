import { fuzzyFilter } from "../pi/fuzzy.ts";

/** A session in the picker. Texts are cleaned; times are milliseconds since 1970. */
export interface PickedSession {
  readonly id: string;
  /** The name that a person gave it; null for none. */
  readonly name: string | null;
  /** The beginning of its first message, or a word for none. */
  readonly title: string;
  /** Null for none. */
  readonly folder: string | null;
  /** Whether it belongs to the working folder. */
  readonly isHere: boolean;
  /** State that a list shows: `idle`, `running`, `waiting`, `interrupted`, `failed`, `ended`. */
  readonly state: string;
  readonly model: string;
  readonly tokens: number;
  readonly messages: number;
  readonly usedAt: number;
  readonly createdAt: number;
  readonly archived: boolean;
  /** Whether it runs a plan. */
  readonly isRun: boolean;
  readonly depth: number;
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
export function arranged(
  sessions: Iterable<PickedSession>,
  { query, sort, model }: Arrangement,
): readonly PickedSession[] {
  const all = [...sessions].filter((each) => model === null || each.model === model);
  const sorted = all.sort((a, b) => rank(b, sort) - rank(a, sort));
  const found = query.trim() === "" ? sorted : search(sorted, query.trim());
  return [...found.filter(({ isHere }) => isHere), ...found.filter(({ isHere }) => !isHere)];
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
