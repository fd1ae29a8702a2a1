import type { KeptMode } from "../../core/permissions.ts";
import { batches } from "../checkpoints/bodies.ts";
import type { Tx } from "../store.ts";

/** The permission mode of each of these sessions, which is that of its root; without those of another agent. */
export async function readModes(
  tx: Tx,
  ids: readonly string[],
): Promise<ReadonlyMap<string, KeptMode>> {
  const modes = new Map<string, KeptMode>();
  for (const batch of batches(ids)) {
    const rows = await tx.db
      .selectFrom("sessions")
      .innerJoin("sessions as root", "root.id", "sessions.root_session_id")
      .select(["sessions.id", "root.permission_mode"])
      .where("sessions.id", "in", batch)
      .where("sessions.agent", "is", null)
      .execute();
    for (const { id, permission_mode } of rows) {
      modes.set(id, permission_mode);
    }
  }
  return modes;
}
