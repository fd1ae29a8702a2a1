import type { KeptMode } from "../../core/permissions.ts";
import { batches } from "../checkpoints/bodies.ts";
import type { Tx } from "../store.ts";
import { rootOf } from "./roots.ts";

/** The permission mode of each of these sessions, which is that of its root; without those of another agent. */
export async function readModes(
  tx: Tx,
  ids: readonly string[],
): Promise<ReadonlyMap<string, KeptMode>> {
  const modes = new Map<string, KeptMode>();
  for (const batch of batches(ids)) {
    const rows = await tx.db
      .selectFrom("sessions")
      .leftJoin("sessions as root", "root.id", "sessions.root_session_id")
      .select(["sessions.id", "root.permission_mode"])
      .where("sessions.id", "in", batch)
      .where("sessions.agent", "is", null)
      .execute();
    for (const { id, permission_mode } of rows) {
      modes.set(id, permission_mode ?? (await modeOf(tx, (await rootOf(tx, id)) ?? id)));
    }
  }
  return modes;
}

/** Of a session whose root is not stored beside it, as in those of older versions. */
async function modeOf(tx: Tx, id: string): Promise<KeptMode> {
  const row = await tx.db
    .selectFrom("sessions")
    .select("permission_mode")
    .where("id", "=", id)
    .executeTakeFirst();
  return row?.permission_mode ?? "ask";
}
