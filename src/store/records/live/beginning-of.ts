import { readCurrent } from "../exchanges/current.ts";
import { readRecord } from "../exchanges/read.ts";
import { readSession } from "../sessions/read.ts";
import type { Operation } from "../../store.ts";

/**
 * The `seq` after which a reader sees all of the exchange that runs, else only what is new.
 *
 * Error codes: `session_not_found`.
 */
export const beginningOf: Operation<{ readonly session_id: string }, number> = async (
  tx,
  { session_id: id },
) => {
  const { last_seq } = await readSession(tx, { id });
  const current = (await readCurrent(tx, [id])).get(id);
  if (current?.state !== "running") {
    return last_seq;
  }
  const { first_seq } = await readRecord(tx, id, current.n);
  return (first_seq ?? last_seq + 1) - 1;
};
