import { sql } from "kysely";

import type { Operation, Tx } from "../../store.ts";
import { type FoundLost, type LostSessions, readLost } from "./lost-sessions.ts";
import { type ChangeKind, type PhaseTexts, readValues } from "./read-values.ts";
import type { ChangeNumber } from "../../tables/changes.ts";

/** A reader here has everything that happened before. */
export interface ChangePosition {
  /** Which database the number is of: 8 hexadecimal digits that it got when it was made. */
  readonly numbers: string;
  readonly at: ChangeNumber;
}

/** A change with what it made of a session, an exchange or a question: their values now. */
export interface SessionChange {
  readonly kind: ChangeKind;
  /** Id of the session, also of a phase that it runs; of a question, its own. */
  readonly id: string;
  readonly json: string;
  readonly at: ChangeNumber;
}

/** Changes that a reader has and that are not stable: transactions that began before them are not over. */
export type SentAhead = ReadonlyMap<string, ChangeNumber>;

export interface ReadChanges {
  /** Null for a reader that knows nothing. */
  readonly after: ChangePosition | null;
  /** Changes that the reader has after its position. */
  readonly ahead: SentAhead;
  /** Null to ask only for what the rows say. */
  readonly lost: LostSessions | null;
  readonly max_rows: number;
  readonly max_bytes: number;
  readonly phases: PhaseTexts;
}

export interface ChangesPage {
  /** True if the changes after the position are not known any more: the reader begins again, at the new one. */
  readonly isReset: boolean;
  /** In the order of their numbers. */
  readonly changes: readonly SessionChange[];
  readonly position: ChangePosition;
  readonly ahead: SentAhead;
  readonly lost: LostSessions | null;
  readonly more: boolean;
}

/**
 * Reads what changed after a position: changes with the same number are in one page, which is larger than its limits
 * if it has to be. Each has the value of now, so a session that was deleted since has only its deletion.
 */
export const readChanges: Operation<ReadChanges, ChangesPage> = async (tx, input) => {
  const { after, ahead, max_rows, max_bytes } = input;
  const { numbers, stable, next, first } = await readState(tx);
  const end = { numbers, at: stable };
  const readAhead = async (): Promise<readonly Mark[]> =>
    stable === next ? [] : readMarks(tx, { from: stable, before: next });
  if (after === null || !isKnown(after, { numbers, stable, first })) {
    const { lost } = await readLost(tx, input.lost, NO_IDS);
    const seen = aheadOf(await readAhead());
    return { isReset: true, changes: [], position: end, ahead: seen, lost, more: false };
  }
  const page = await readStable(tx, { from: after.at, before: stable, max_rows });
  const rest = page.more ? [] : await readAhead();
  const marks = [...page.marks, ...rest].filter((mark) => (ahead.get(keyOf(mark)) ?? 0) < mark.at);
  const changed = new Set(marks.map(({ id }) => id));
  const { lost, found } = page.more ? NOT_ASKED : await readLost(tx, input.lost, changed);
  const isCreated = (mark: Mark): boolean => mark.n >= after.at && !ahead.has(keyOf(mark));
  const values = await readValues(
    tx,
    [
      ...withSessions(marks.map((mark) => ({ ...mark, kind: kindOf(mark, isCreated(mark)) }))),
      ...found.map((mark) => ({ ...mark, at: stable })),
    ],
    input.phases,
  );
  const cut = cutOf(values, max_bytes, stable);
  if (page.more || cut !== null) {
    const at = cut ?? page.next;
    const changes = values.filter((change) => change.at < at);
    const position = { numbers, at };
    return { isReset: false, changes, position, ahead, lost: input.lost, more: true };
  }
  return {
    isReset: false,
    changes: values,
    position: end,
    ahead: aheadOf(rest),
    lost,
    more: false,
  };
};

const NO_IDS: ReadonlySet<string> = new Set();
const NOT_ASKED: FoundLost = { lost: null, found: [] };

interface ChangeState {
  readonly numbers: string;
  readonly stable: ChangeNumber;
  readonly next: ChangeNumber;
  /** Deletions with lower numbers may be forgotten. */
  readonly first: ChangeNumber;
}

async function readState({ db }: Tx): Promise<ChangeState> {
  return db
    .selectFrom("change_position")
    .innerJoin("change_numbers", (join) => join.onTrue())
    .select(["stable", "next", "id as numbers"])
    .select((eb) =>
      eb
        .selectFrom("deleted_sessions")
        .select(({ fn }) => fn.min("changed").as("first"))
        .$asScalar()
        .$notNull()
        .as("first"),
    )
    .executeTakeFirstOrThrow();
}

/** A position beyond the last number is of a database that was replaced by an older copy. */
function isKnown(
  { numbers, at }: ChangePosition,
  state: Pick<ChangeState, "numbers" | "stable" | "first">,
): boolean {
  return numbers === state.numbers && at >= state.first && at <= state.stable;
}

/** A row that changed; `n` is the number of the session's creation or of the exchange in its session, or the position of the phase. */
interface Mark {
  readonly table: 0 | 1 | 2 | 3 | 4;
  readonly at: ChangeNumber;
  readonly id: string;
  readonly n: number;
}

/** A session that was deleted and imported again was deleted first. */
const TABLES = ["deleted", "changed", "exchange", "question", "phase"] as const;

function keyOf({ table, id, n }: Mark): string {
  const isOne = table === 2 || table === 4;
  return isOne ? `${table} ${id} ${n}` : `${table} ${id}`;
}

function kindOf({ table }: Mark, isCreated: boolean): ChangeKind {
  return table === 1 && isCreated ? "created" : TABLES[table];
}

/** A session shows its exchange, so it changes with it. One that changes anyway is shown as it is now. */
function withSessions<Each extends { readonly kind: ChangeKind; readonly id: string }>(
  marks: readonly Each[],
): readonly Each[] {
  const shown = new Set(
    marks.filter(({ kind }) => kind === "created" || kind === "changed").map(({ id }) => id),
  );
  return marks.flatMap((mark) => {
    if (mark.kind !== "exchange" || shown.has(mark.id)) {
      return [mark];
    }
    shown.add(mark.id);
    return [{ ...mark, kind: "changed" as const }, mark];
  });
}

function aheadOf(marks: readonly Mark[]): SentAhead {
  return new Map(marks.map((mark) => [keyOf(mark), mark.at]));
}

interface MarksFrom {
  readonly from: ChangeNumber;
  readonly before: ChangeNumber;
}

/** Whole numbers up to `max_rows`; `next` is the first number that is left out. */
async function readStable(
  tx: Tx,
  { max_rows, ...range }: MarksFrom & { readonly max_rows: number },
): Promise<{ marks: readonly Mark[]; more: boolean; next: ChangeNumber }> {
  const found = await readMarks(tx, range, max_rows + 1);
  const over = found[max_rows];
  if (over === undefined) {
    return { marks: found, more: false, next: range.before };
  }
  if (found[0]?.at !== over.at) {
    return { marks: found.filter(({ at }) => at < over.at), more: true, next: over.at };
  }
  const next = over.at + 1;
  return { marks: await readMarks(tx, { from: over.at, before: next }), more: true, next };
}

async function readMarks(
  { db }: Tx,
  { from, before }: MarksFrom,
  max_rows?: number,
): Promise<readonly Mark[]> {
  const inRange = sql`changed >= ${from} and changed < ${before}`;
  // the condition of the index comes last: SQLite takes the first lower bound as the place where it begins to read
  const numbered = sql`${inRange} and changed > 0`;
  const { rows } = await sql<Mark>`
    select 0 as "table", changed as at, id, 0 as n from deleted_sessions where ${inRange}
    union all select 1, changed, id, created_change from sessions where ${numbered}
    union all select 2, changed, session_id, n from exchanges where ${numbered}
    union all select 3, changed, id, 0 from questions where ${numbered}
    union all select 4, changed, session_id, position from plan_phases where ${numbered}
    order by at, "table", id, n ${max_rows === undefined ? sql`` : sql`limit ${max_rows}`}`.execute(
    db,
  );
  return rows;
}

/** The first number that does not fit, of those that are stable; null if all fit. */
function cutOf(
  changes: readonly SessionChange[],
  max_bytes: number,
  stable: ChangeNumber,
): ChangeNumber | null {
  let bytes = 0;
  for (const { json, at } of changes) {
    bytes += Buffer.byteLength(json);
    if (bytes > max_bytes && at > (changes[0]?.at ?? at)) {
      return at < stable ? at : null;
    }
  }
  return null;
}
