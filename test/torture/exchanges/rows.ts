import type { Selectable } from "kysely";
import { expect } from "vitest";

import { isFinal } from "../../../src/core/exchanges.ts";
import type { LeaseOwner } from "../../../src/store/records/leases/this-process.ts";
import type { QuestionTable } from "../../../src/store/tables/questions.ts";
import type { ExchangeTable, SessionTable } from "../../../src/store/tables/database.ts";
import type { Operation, Store } from "../../../src/store/store.ts";

export type RecordRow = Selectable<ExchangeTable>;
export type SessionRow = Selectable<SessionTable>;
export type QuestionRow = Selectable<QuestionTable>;

/** Sessions and their records, in one consistent state. */
export interface Rows {
  readonly sessions: readonly SessionRow[];
  /** In order of `n` in each session. */
  readonly records: readonly RecordRow[];
}

/** The exchanges that have not ended, and their sessions: what is asked often. */
export const selectOpen: Operation<null, Rows> = async ({ db }) => {
  const open = db.selectFrom("exchanges").where("ended_at", "is", null);
  return {
    sessions: await db
      .selectFrom("sessions")
      .selectAll()
      .where("id", "in", open.select("session_id"))
      .execute(),
    records: await open.selectAll().orderBy("session_id").orderBy("n").execute(),
  };
};

export const selectQuestions: Operation<null, readonly QuestionRow[]> = ({ db }) =>
  db.selectFrom("questions").selectAll().orderBy("asked_at").execute();

export const selectRows: Operation<null, Rows> = async ({ db }) => ({
  sessions: await db.selectFrom("sessions").selectAll().execute(),
  records: await db
    .selectFrom("exchanges")
    .selectAll()
    .orderBy("session_id")
    .orderBy("n")
    .execute(),
});

/** Reads all of them and checks what is true of them at any moment. */
export async function readRows(store: Store): Promise<Rows> {
  const rows = await store.read(selectRows, null);
  for (const session of rows.sessions) {
    checkSession(session, recordsOf(rows, session.id));
  }
  return rows;
}

export function recordsOf({ records }: Rows, id: string): readonly RecordRow[] {
  return records.filter(({ session_id }) => session_id === id);
}

export function isOpen({ state }: RecordRow): boolean {
  return !isFinal(state);
}

/** One exchange at a time, in order, and ready exactly if the next one can begin. */
function checkSession(session: SessionRow, records: readonly RecordRow[]): void {
  const where = `session ${session.id}`;
  expect(
    records.map(({ n }) => n),
    where,
  ).toEqual(records.map((_, index) => index + 1));
  const [first, ...later] = records.filter(isOpen);
  expect(
    later.every(({ state }) => state === "queued"),
    `${where}: begun at once`,
  ).toBe(true);
  const isReady =
    session.state === "active" && session.parent_session_id === null && first?.state === "queued";
  expect(session.ready_at !== null, `${where}: ready_at with ${first?.state}`).toBe(isReady);
}

/** The exchanges that a process runs for the service, and that die with it. */
export function heldBy({ sessions, records }: Rows, pid: number): readonly RecordRow[] {
  const held = new Map(
    sessions
      .filter(({ lease_owner }) => ownerOf(lease_owner)?.pid === pid)
      .map((session) => [session.id, session.lease_epoch]),
  );
  return records.filter(
    ({ session_id, state, epoch, queued_at }) =>
      state === "running" && queued_at !== null && held.get(session_id) === epoch,
  );
}

export function ownerOf(lease_owner: string | null): LeaseOwner | null {
  return JSON.parse(lease_owner ?? "null") as LeaseOwner | null;
}

/** Names an exchange. */
export function nameOf({ session_id, n }: Pick<RecordRow, "session_id" | "n">): string {
  return `${session_id} ${n}`;
}

/** Lets the leases of a process run out, as if it had been away for longer than they last. */
export const expireLeases: Operation<{ readonly pid: number }, void> = async ({ db }, { pid }) => {
  const rows = await db.selectFrom("sessions").select(["id", "lease_owner"]).execute();
  const ids = rows.filter((row) => ownerOf(row.lease_owner)?.pid === pid).map(({ id }) => id);
  if (ids.length > 0) {
    await db
      .updateTable("sessions")
      .set((eb) => ({ lease_expires_at: eb.ref("created_at") }))
      .where("id", "in", ids)
      .execute();
  }
};
