import { newId } from "../core/ids.ts";
import type { Operation } from "./store.ts";

/**
 * A probe needs as much space as a message of 64 KiB. A smaller one would still fit into what a
 * message left when it did not fit onto a full disk.
 */
const ROWS = 36;
/** PostgreSQL indexes and keeps at most about 2 KB of a key uncompressed. */
const FILLER = "x".repeat(1850);

/**
 * A write that is as real as a message's and leaves nothing: rows of a separate table are inserted
 * and deleted in one transaction, which is then committed like any other. Probes of several nodes
 * never meet, because each has ids that no other has.
 */
export const probeWrite: Operation<null, null> = async (tx) => {
  const probe = newId();
  const rows = Array.from({ length: ROWS }, (_, row) => ({ id: `${probe}-${row}-${FILLER}` }));
  await tx.db.insertInto("readiness_probes").values(rows).execute();
  const ids = rows.map(({ id }) => id);
  await tx.db.deleteFrom("readiness_probes").where("id", "in", ids).execute();
  return null;
};
