import type { Tx } from "../store.ts";
import type { BodyInput } from "./value.ts";

/** Parameters of one statement, far below what either engine takes; few different statements. */
const BATCH = 200;

export interface BodiesInput {
  readonly thread: number;
  readonly bodies: readonly BodyInput[];
}

/**
 * The ids of the bodies that the thread has, by hash. Null if one is missing whose text the caller
 * did not send because it thought it stored.
 */
export async function findBodies(
  tx: Tx,
  { thread, bodies }: BodiesInput,
): Promise<Map<string, number> | null> {
  const found = new Map<string, number>();
  for (const batch of batches(bodies)) {
    const rows = await tx.db
      .selectFrom("checkpoint_bodies")
      .select(["hash", "id"])
      .where("thread", "=", thread)
      .where(
        "hash",
        "in",
        batch.map((body) => body.hash),
      )
      .execute();
    for (const row of rows) {
      found.set(row.hash, row.id);
    }
  }
  return bodies.some((body) => body.text === null && !found.has(body.hash)) ? null : found;
}

/** Stores the bodies that are not `found` and returns the ids of all, place by place. */
export async function keepBodies(
  tx: Tx,
  { thread, bodies, found }: BodiesInput & { readonly found: Map<string, number> },
): Promise<number[]> {
  const missing = bodies.filter((body) => !found.has(body.hash));
  for (const batch of batches(missing)) {
    const rows = await tx.db
      .insertInto("checkpoint_bodies")
      .values(batch.map(({ hash, text }) => ({ thread, hash, body: text ?? "null" })))
      // another writer may have stored the same body since: its row is as good, so touch nothing
      .onConflict((conflict) =>
        conflict
          .columns(["thread", "hash"])
          .doUpdateSet((eb) => ({ hash: eb.ref("excluded.hash") })),
      )
      .returning(["hash", "id"])
      .execute();
    for (const row of rows) {
      found.set(row.hash, row.id);
    }
  }
  const ids = bodies.flatMap((body) => found.get(body.hash) ?? []);
  if (ids.length !== bodies.length) {
    throw new Error("a body was stored without an id");
  }
  return ids;
}

export function* batches<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < items.length; start += BATCH) {
    yield items.slice(start, start + BATCH);
  }
}
