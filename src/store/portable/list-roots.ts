import type { Operation } from "../store.ts";

export interface RootsPage {
  /** Only ids behind this one. */
  readonly after: string;
  readonly limit: number;
}

/** Ids of sessions that are nobody's sub-agents, in ascending order. */
export const readRootIds: Operation<RootsPage, readonly { readonly id: string }[]> = (
  tx,
  input,
) => {
  return tx.db
    .selectFrom("sessions")
    .select("id")
    .where("parent_session_id", "is", null)
    .where("id", ">", input.after)
    .orderBy("id")
    .limit(input.limit)
    .execute();
};

/** Of these ids, those that no session has. */
export const readMissing: Operation<readonly string[], readonly string[]> = async (tx, ids) => {
  const rows = await tx.db.selectFrom("sessions").select("id").where("id", "in", ids).execute();
  const there = new Set(rows.map(({ id }) => id));
  return ids.filter((id) => !there.has(id));
};

export interface StoreSize {
  readonly sessions: number;
  readonly messages: number;
  readonly threads: number;
}

export const readSize: Operation<null, StoreSize> = async (tx) => ({
  sessions: await count(tx, "sessions"),
  messages: await count(tx, "messages"),
  threads: await count(tx, "checkpoint_threads"),
});

async function count(
  tx: Parameters<typeof readSize>[0],
  table: "sessions" | "messages" | "checkpoint_threads",
): Promise<number> {
  const { rows } = await tx.db
    .selectFrom(table)
    .select(({ fn }) => fn.countAll<number>().as("rows"))
    .executeTakeFirstOrThrow();
  return rows;
}
