import { MAX_METADATA_PAIRS, type Metadata, type SessionLabels } from "../../../core/labels.ts";
import { invalidRequest } from "../../../core/invalid-request.ts";
import { batches } from "../threads/bodies.ts";
import type { Operation, Tx } from "../../store.ts";

/** Reads the labels by which people find these sessions again, by id. Error codes: none. */
export const readLabelsOf: Operation<
  { readonly ids: readonly string[] },
  ReadonlyMap<string, SessionLabels>
> = async (tx, { ids }) => {
  const labels = new Map<string, SessionLabels>();
  for (const batch of batches(ids)) {
    const rows = await tx.db
      .selectFrom("sessions")
      .select(["id", "name", "archived_at", "pinned_at"])
      .where("id", "in", batch)
      .execute();
    const metadata = await readMetadata(tx, batch);
    for (const { id, ...own } of rows) {
      labels.set(id, { ...own, metadata: metadata.get(id) ?? {} });
    }
  }
  return labels;
};

/** The metadata of one session; as `readLabelsOf`. */
export async function readMetadataOf(tx: Tx, id: string): Promise<Metadata> {
  return (await readMetadata(tx, [id])).get(id) ?? {};
}

async function readMetadata(tx: Tx, ids: readonly string[]): Promise<Map<string, Metadata>> {
  const rows = await tx.db
    .selectFrom("session_metadata")
    .select(["session_id", "key", "value"])
    .where("session_id", "in", ids)
    .orderBy("session_id")
    .orderBy("key")
    .execute();
  const found = Map.groupBy(rows, ({ session_id }) => session_id);
  return new Map(
    [...found].map(([id, pairs]) => [
      id,
      Object.fromEntries(pairs.map(({ key, value }) => [key, value])),
    ]),
  );
}

/**
 * Sets the pairs that have a value, removes those that have null, and keeps the others. The session's
 * row must be held. Error codes: `invalid_request` if the session would have too many.
 */
export async function storeMetadata(
  tx: Tx,
  session_id: string,
  changes: Readonly<Record<string, string | null>>,
): Promise<void> {
  const keys = Object.keys(changes);
  if (keys.length === 0) {
    return;
  }
  await tx.db
    .deleteFrom("session_metadata")
    .where("session_id", "=", session_id)
    .where("key", "in", keys)
    .execute();
  const pairs = Object.entries(changes).flatMap(([key, value]) =>
    value === null ? [] : [{ session_id, key, value }],
  );
  if (pairs.length > 0) {
    await tx.db.insertInto("session_metadata").values(pairs).execute();
  }
  const { pairs: stored } = await tx.db
    .selectFrom("session_metadata")
    .select(({ fn }) => fn.countAll<number>().as("pairs"))
    .where("session_id", "=", session_id)
    .executeTakeFirstOrThrow();
  if (stored > MAX_METADATA_PAIRS) {
    throw invalidRequest([
      {
        pointer: "/metadata",
        message: `Must leave the session ${MAX_METADATA_PAIRS} pairs at most; remove others with null.`,
      },
    ]);
  }
}
