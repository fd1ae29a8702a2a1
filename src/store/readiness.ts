import { newId } from "../core/ids.ts";
import type { Operation } from "./store.ts";

/**
 * A write that is as real as a message's and leaves nothing: a row of a table of its own is
 * inserted and deleted in one transaction, which is then committed like any other. Probes of
 * several nodes never meet, because each has a row of its own.
 */
export const probeWrite: Operation<null, null> = async (tx) => {
  const id = newId();
  await tx.db.insertInto("readiness_probes").values({ id }).execute();
  await tx.db.deleteFrom("readiness_probes").where("id", "=", id).execute();
  return null;
};
