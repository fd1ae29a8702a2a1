import { BATCH } from "../checkpoints/bodies.ts";
import type { Operation, Store } from "../store.ts";

export interface FilledRoots {
  /** The last session that was read; null if there is none. */
  readonly last: string | null;
  readonly filled: number;
}

/**
 * Names the root of some sessions of older versions, in the order of their ids: one without a parent
 * is its own, any other has its parent's once that is known. What another transaction holds is left
 * out, so that nobody waits and several nodes may do it at once.
 */
const fillSomeRoots: Operation<{ readonly after: string }, FilledRoots> = async (tx, { after }) => {
  // all by their key: PostgreSQL would sort all without a root for each batch
  const page = await tx.db
    .selectFrom("sessions")
    .select(["id", "root_session_id"])
    .where("id", ">", after)
    .orderBy("id")
    .limit(BATCH)
    .execute();
  const last = page.at(-1)?.id ?? null;
  const rootless = page.filter(({ root_session_id }) => root_session_id === null);
  if (rootless.length === 0) {
    return { last, filled: 0 };
  }
  const free = await tx.db
    .selectFrom("sessions")
    .select("id")
    .where(
      "id",
      "in",
      rootless.map(({ id }) => id),
    )
    .modifyEnd(tx.dialect.forUpdateOfFree)
    .execute();
  if (free.length === 0) {
    return { last, filled: 0 };
  }
  const rows = await tx.db
    .updateTable("sessions")
    .set((eb) => ({
      root_session_id: eb
        .selectFrom("sessions as above")
        .select(({ fn, ref }) => fn.coalesce("above.root_session_id", ref("above.id")).as("root"))
        .whereRef("above.id", "=", eb.fn.coalesce("sessions.parent_session_id", "sessions.id")),
    }))
    .where(
      "id",
      "in",
      free.map(({ id }) => id),
    )
    .where("root_session_id", "is", null)
    .where(({ eb, or, exists, selectFrom }) =>
      or([
        eb("parent_session_id", "is", null),
        exists(
          selectFrom("sessions as above")
            .select("above.id")
            .whereRef("above.id", "=", "sessions.parent_session_id")
            .where("above.root_session_id", "is not", null),
        ),
      ]),
    )
    .executeTakeFirst();
  return { last, filled: Number(rows.numUpdatedRows) };
};

/**
 * Names the root of every session that has none, in small transactions, until nothing is left that
 * can be named. What it has done stays.
 */
export async function fillRoots(store: Pick<Store, "write">): Promise<void> {
  let after = "";
  let filled = 0;
  for (;;) {
    const batch = await store.write(fillSomeRoots, { after });
    filled += batch.filled;
    if (batch.last === null && filled === 0) {
      return;
    }
    if (batch.last === null) {
      // once more, for those below the ones that are filled now, and those that were held
      filled = 0;
    }
    after = batch.last ?? "";
  }
}

/**
 * The same in the background, until the store closes and refuses the next write. After that, or a
 * failure, the next process that opens the database continues.
 */
export function fillRootsInBackground(store: Pick<Store, "write">): void {
  fillRoots(store).catch(() => undefined);
}
