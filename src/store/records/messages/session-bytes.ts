import { sql } from "kysely";

import { withinTree } from "../questions/tree.ts";
import { resolveSession } from "../sessions/read.ts";
import type { Operation } from "../../store.ts";
import { messageBytes } from "./stream-page.ts";

/** Bytes of the messages of a session and its sub-agents, without a read of them. Error codes: as `resolveSession`. */
export const sessionBytes: Operation<{ readonly reference: string }, number> = async (
  tx,
  { reference },
) => {
  const { id } = await resolveSession(tx, { reference });
  const sizes = tx.db
    .selectFrom("messages")
    .select(messageBytes())
    .where("session_id", "in", withinTree(id));
  const { bytes } = await tx.db
    .selectFrom(sizes.as("sizes"))
    .select(sql<number>`coalesce(sum(bytes), 0)`.as("bytes"))
    .executeTakeFirstOrThrow();
  return bytes;
};
