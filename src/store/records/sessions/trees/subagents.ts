import { batches } from "../../threads/bodies.ts";
import type { Operation } from "../../../store.ts";

/** How many sub-agents the trees of these root sessions have; those without any are left out. */
export const countSubagents: Operation<
  { readonly roots: readonly string[] },
  ReadonlyMap<string, number>
> = async (tx, { roots }) => {
  const counts = new Map<string, number>();
  for (const batch of batches(roots)) {
    const rows = await tx.db
      .selectFrom("sessions")
      .select(({ fn }) => ["root_session_id", fn.countAll<number>().as("count")])
      .where("root_session_id", "in", batch)
      .whereRef("id", "<>", "root_session_id")
      .groupBy("root_session_id")
      .execute();
    for (const { root_session_id, count } of rows) {
      counts.set(root_session_id ?? "", count);
    }
  }
  return counts;
};
