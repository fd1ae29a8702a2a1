import type { Selectable } from "kysely";

import { batches } from "../../records/threads/bodies.ts";
import type { Tx } from "../../store.ts";
import type { Database } from "../../tables/database.ts";
import { type SessionTree, sessionsOf } from "../export-schema.ts";

/** Rows of sessions that are of one database, and stay when another one's history replaces theirs. */
export interface OwnRows {
  readonly sessions: readonly OwnSession[];
  readonly consents: readonly Selectable<Database["consents"]>[];
  readonly changes: readonly Selectable<Database["file_changes"]>[];
  readonly shares: readonly Selectable<Database["session_shares"]>[];
  readonly logins: readonly Selectable<Database["page_logins"]>[];
  readonly runs: readonly Pick<
    Selectable<Database["plan_runs"]>,
    "session_id" | "plan" | "checks" | "checks_accepted"
  >[];
}

type OwnSession = Pick<
  Selectable<Database["sessions"]>,
  "id" | "repo_path" | "permission_mode" | "permission_rules"
>;

/** Sessions in which the rows belong after the replacement. */
export interface Places {
  /** The history that is stored under the ids of the replaced sessions. */
  readonly tree: SessionTree;
  /** The history that was there, and how many of its messages stay under its ids. */
  readonly before: SessionTree;
  readonly common: ReadonlyMap<string, number>;
  /** New ids of the history that was replaced, by those that it had; none if all of it stays. */
  readonly kept: ReadonlyMap<string, string>;
}

export async function readOwnRows(tx: Tx, ids: readonly string[]): Promise<OwnRows> {
  const { db } = tx;
  const shares = await all(ids, (batch) =>
    db.selectFrom("session_shares").selectAll().where("session_id", "in", batch).execute(),
  );
  return {
    sessions: await all(ids, (batch) =>
      db
        .selectFrom("sessions")
        .select(["id", "repo_path", "permission_mode", "permission_rules"])
        .where("id", "in", batch)
        .execute(),
    ),
    consents: await all(ids, (batch) =>
      db.selectFrom("consents").selectAll().where("session_id", "in", batch).execute(),
    ),
    changes: await all(ids, (batch) =>
      db.selectFrom("file_changes").selectAll().where("session_id", "in", batch).execute(),
    ),
    shares,
    logins: await all(
      shares.map(({ id }) => id),
      (batch) => db.selectFrom("page_logins").selectAll().where("share_id", "in", batch).execute(),
    ),
    runs: await all(ids, (batch) =>
      db
        .selectFrom("plan_runs")
        .select(["session_id", "plan", "checks", "checks_accepted"])
        .where("session_id", "in", batch)
        .execute(),
    ),
  };
}

async function all<Row>(
  ids: readonly string[],
  read: (batch: readonly string[]) => Promise<Row[]>,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const batch of batches(ids)) {
    rows.push(...(await read(batch)));
  }
  return rows;
}

/**
 * Stores them again. Consents and links stay with the id, changes of files go with the exchanges that made them. What a
 * person allowed counts in the folder in which it was allowed.
 */
export async function writeOwnRows(tx: Tx, rows: OwnRows, places: Places): Promise<void> {
  const now = new Map([...sessionsOf(places.tree)].map(({ session }) => [session.id, session]));
  const placed = <Row extends { readonly session_id: string }>(own: readonly Row[]): Row[] =>
    own.filter((row) => now.has(row.session_id));
  for (const { id, repo_path, ...permissions } of rows.sessions) {
    if (now.has(id) && (now.get(id)?.repo_path ?? null) === repo_path) {
      await tx.db.updateTable("sessions").set(permissions).where("id", "=", id).execute();
    }
  }
  for (const { session_id, plan, checks, checks_accepted } of rows.runs) {
    await tx.db
      .updateTable("plan_runs")
      .set({ checks_accepted })
      .where("session_id", "=", session_id)
      .where("plan", "=", plan)
      .where(({ fn, val }) => fn.coalesce("checks", val("")), "=", checks ?? "")
      .execute();
  }
  for (const batch of batches(placed(rows.consents))) {
    await tx.db.insertInto("consents").values(batch).execute();
  }
  for (const batch of batches(placed(rows.shares))) {
    await tx.db.insertInto("session_shares").values(batch).execute();
  }
  const shares = new Set(placed(rows.shares).map(({ id }) => id));
  for (const batch of batches(rows.logins.filter(({ share_id }) => shares.has(share_id ?? "")))) {
    await tx.db.insertInto("page_logins").values(batch).execute();
  }
  const changes = placedChanges(rows.changes, { ...places, now: new Set(now.keys()) });
  for (const batch of batches(await numbered(tx, changes))) {
    await tx.db.insertInto("file_changes").values(batch).execute();
  }
}

/** Numbers those of a fork after the ones that it has already. */
async function numbered(tx: Tx, changes: OwnRows["changes"]): Promise<OwnRows["changes"]> {
  const last = new Map<string, number>();
  for (const batch of batches([...new Set(changes.map(({ session_id }) => session_id))])) {
    const rows = await tx.db
      .selectFrom("file_changes")
      .select(["session_id", ({ fn }) => fn.max("number").as("number")])
      .where("session_id", "in", batch)
      .groupBy("session_id")
      .execute();
    for (const { session_id, number } of rows) {
      last.set(session_id, number);
    }
  }
  return changes.map((change) => ({
    ...change,
    number: change.number + (last.get(change.session_id) ?? 0),
  }));
}

function placedChanges(
  changes: OwnRows["changes"],
  { before, common, kept, now }: Places & { readonly now: ReadonlySet<string> },
): OwnRows["changes"] {
  const exchanges = new Map(
    [...sessionsOf(before)].flatMap(({ session }) =>
      (session.exchanges ?? []).map(({ n, first_seq }) => [`${session.id} ${n}`, first_seq]),
    ),
  );
  return changes.flatMap((change) => {
    const { session_id, n } = change;
    const first = exchanges.get(`${session_id} ${n}`) ?? 0;
    const isShared = now.has(session_id) && first <= (common.get(session_id) ?? 0);
    const id = isShared || kept.size === 0 ? session_id : kept.get(session_id);
    if (id === undefined || (id === session_id && !now.has(id))) {
      return [];
    }
    const kept_for = id === session_id ? change.kept_for : (change.kept_for ?? session_id);
    return [{ ...change, session_id: id, kept_for }];
  });
}
