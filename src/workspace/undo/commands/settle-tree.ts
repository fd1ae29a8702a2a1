import { readTreeIds } from "../../../store/records/sessions/tree-ids.ts";
import { type RecorderOptions, settleLeft } from "./record-command.ts";

/** Stores what commands of a session and of its sub-agents have changed whose Reprise was killed. */
export async function settleTree(
  { store, kept }: Pick<RecorderOptions, "store" | "kept">,
  id: string,
): Promise<void> {
  for (const session_id of kept === null ? [] : await store.read(readTreeIds, { id })) {
    await settleLeft({ store, kept, session_id }, { isHeld: false });
  }
}
