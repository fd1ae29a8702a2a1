import { type Expression, type SelectQueryBuilder, sql } from "kysely";

import { parseThreadId } from "../../../core/threads.ts";
import type { QueryParts } from "../../prepared.ts";
import type { Tx } from "../../store.ts";
import type { Database } from "../../tables/database.ts";
import { lockSession } from "../sessions/lock.ts";

/*
 * A fork's thread refers to bodies and lists of the thread that it began from: to those up to the numbers in its row of
 * `families`. Their owner appends higher ones only, and pruning leaves what is up to these numbers. So
 * neither has to know what the other stores. When the owner is deleted, the fork that refers to the most takes its rows.
 */

/** Higher than any number of a row. */
const NO_END = Number.MAX_SAFE_INTEGER;

/** A thread whose rows another one refers to, up to these numbers. */
interface Owner {
  owner: number;
  last_body: number;
  last_list: number;
}

type OfFamily<Table extends "checkpoint_bodies" | "checkpoint_lists"> = SelectQueryBuilder<
  Database & { family: Owner },
  "family" | Table,
  // oxlint-disable-next-line typescript/no-empty-object-type -- nothing is selected yet
  {}
>;

/** The threads whose rows a thread refers to, itself among them, with the last row of each. */
function ownersOf(
  { db }: Pick<QueryParts, "db">,
  column: "threads.id" | "threads.thread_id",
  value: Expression<string> | Expression<number> | number,
): SelectQueryBuilder<Database, "threads" | "families", Owner> {
  return db
    .selectFrom("threads")
    .select([
      "threads.id as owner",
      sql.lit(NO_END).as("last_body"),
      sql.lit(NO_END).as("last_list"),
    ])
    .where(column, "=", value)
    .unionAll(
      db
        .selectFrom("threads")
        .innerJoin("families", "families.thread", "threads.id")
        .select(["families.owner", "families.last_body", "families.last_list"])
        .where(column, "=", value),
    );
}

/** The bodies that a thread refers to, or may refer to. */
export function bodiesOf(
  parts: Pick<QueryParts, "db">,
  thread: Expression<number> | number,
): OfFamily<"checkpoint_bodies"> {
  return bodiesIn(parts, ownersOf(parts, "threads.id", thread));
}

/** As `bodiesOf`, of the thread with this id. */
export function bodiesByName(
  parts: Pick<QueryParts, "db">,
  threadId: Expression<string>,
): OfFamily<"checkpoint_bodies"> {
  return bodiesIn(parts, ownersOf(parts, "threads.thread_id", threadId));
}

function bodiesIn(
  { db }: Pick<QueryParts, "db">,
  owners: ReturnType<typeof ownersOf>,
): OfFamily<"checkpoint_bodies"> {
  return db
    .selectFrom(owners.as("family"))
    .innerJoin("checkpoint_bodies", (join) =>
      join
        .onRef("checkpoint_bodies.thread", "=", "family.owner")
        .onRef("checkpoint_bodies.id", "<=", "family.last_body"),
    );
}

/** The lists that a thread refers to, or may refer to. */
export function listsOf(
  parts: Pick<QueryParts, "db">,
  thread: Expression<number> | number,
): OfFamily<"checkpoint_lists"> {
  return parts.db
    .selectFrom(ownersOf(parts, "threads.id", thread).as("family"))
    .innerJoin("checkpoint_lists", (join) =>
      join
        .onRef("checkpoint_lists.thread", "=", "family.owner")
        .onRef("checkpoint_lists.id", "<=", "family.last_list"),
    );
}

/** Keeps others from changing who owns what until the transaction ends; before any session is locked. */
export async function holdFamilies(tx: Tx): Promise<void> {
  await tx.dialect.holdName("families")?.execute(tx.db);
}

/** Deletes threads; what forks refer to stays, as theirs. The families are held. */
export async function deleteThreads(tx: Tx, threads: readonly number[]): Promise<void> {
  for (const thread of threads) {
    const heir = await heirOf(tx, thread);
    await (heir === undefined ? deleteThread(tx, thread) : handOver(tx, { thread, heir }));
  }
}

async function deleteThread(tx: Tx, thread: number): Promise<void> {
  await tx.db.deleteFrom("threads").where("id", "=", thread).execute();
}

function heirOf({ db }: Tx, owner: number) {
  return db
    .selectFrom("families")
    .innerJoin("threads", "threads.id", "families.thread")
    .select(["threads.id", "thread_id", "last_body"])
    .select(({ selectFrom }) =>
      selectFrom("families as other")
        .select(({ fn }) => fn.max("other.last_list").as("last"))
        .where("other.owner", "=", owner)
        .as("last_list"),
    )
    .where("owner", "=", owner)
    .orderBy("last_body", "desc")
    .orderBy("threads.id")
    .limit(1)
    .executeTakeFirst();
}

interface Heir {
  readonly id: number;
  readonly thread_id: string;
  readonly last_body: number;
  readonly last_list: number | null;
}

/** Makes the rows of a thread those of its heir, without what no fork refers to. */
async function handOver(
  tx: Tx,
  { thread, heir }: { readonly thread: number; readonly heir: Heir },
): Promise<void> {
  // an exchange of the heir looks up its thread in each transaction that stores something
  const sessionId = parseThreadId(heir.thread_id)?.sessionId;
  if (sessionId !== undefined) {
    await lockSession(tx, sessionId);
  }
  await trim(tx, thread, heir);
  for (const table of ["checkpoint_bodies", "checkpoint_lists"] as const) {
    await tx.db.updateTable(table).set({ thread }).where("thread", "=", heir.id).execute();
  }
  for (const table of ["checkpoints", "checkpoint_writes"] as const) {
    await tx.db.deleteFrom(table).where("thread", "=", thread).execute();
    await tx.db.updateTable(table).set({ thread }).where("thread", "=", heir.id).execute();
  }
  await replaceOwner(tx, { from: heir.id, to: thread });
  const row = await tx.db
    .selectFrom("threads")
    .selectAll()
    .where("id", "=", heir.id)
    .executeTakeFirstOrThrow();
  const { id, prunes, ...columns } = row;
  await deleteThread(tx, id);
  const folded_list = Math.max(columns.folded_list, heir.last_list ?? 0);
  await tx.db
    .updateTable("threads")
    .set((eb) => ({ ...columns, folded_list, prunes: eb("prunes", "+", prunes + 1) }))
    .where("id", "=", thread)
    .execute();
}

async function trim({ db }: Tx, thread: number, { last_body, last_list }: Heir): Promise<void> {
  const lists = db.selectFrom("checkpoint_lists").select("id").where("thread", "=", thread);
  const unused = db
    .selectFrom("checkpoint_bodies")
    .select("id")
    .where("thread", "=", thread)
    .where("id", ">", last_body);
  await db
    .deleteFrom("checkpoint_lists")
    .where("thread", "=", thread)
    .where("id", ">", last_list ?? 0)
    .execute();
  await db
    .deleteFrom("checkpoint_list_items")
    .where("list", "in", lists)
    .where("body", "in", unused)
    .execute();
  await db
    .updateTable("checkpoint_lists")
    .set({
      length: sql<number>`base_length + (select count(*) from checkpoint_list_items
        where list = checkpoint_lists.id)`,
    })
    .where("thread", "=", thread)
    .execute();
  await db
    .deleteFrom("checkpoint_bodies")
    .where("thread", "=", thread)
    .where("id", ">", last_body)
    .execute();
}

/** Forks of the heir refer to the owner's rows already, and to the heir's from here on as to them. */
async function replaceOwner(
  { db }: Tx,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<void> {
  await db.deleteFrom("families").where("thread", "=", from).execute();
  await db
    .insertInto("families")
    .columns(["thread", "owner", "last_body", "last_list"])
    .expression(({ selectFrom, lit }) =>
      selectFrom("families")
        .select(["thread", lit(to).as("owner"), "last_body", "last_list"])
        .where("owner", "=", from),
    )
    .onConflict((conflict) =>
      conflict.columns(["thread", "owner"]).doUpdateSet({
        last_body: higher("last_body"),
        last_list: higher("last_list"),
      }),
    )
    .execute();
  await db.deleteFrom("families").where("owner", "=", from).execute();
}

function higher(column: "last_body" | "last_list") {
  const [given, stored] = [sql.ref(`excluded.${column}`), sql.ref(`families.${column}`)];
  return sql<number>`case when ${given} > ${stored} then ${given} else ${stored} end`;
}
