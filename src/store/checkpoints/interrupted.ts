import type { Tx } from "../store.ts";
import { batches } from "./bodies.ts";
import { parseChannels, parseWrites, type StoredChannels } from "./value.ts";

/** The latest root checkpoint of a branch: no other one follows it. */
export interface BranchHead {
  readonly checkpoint_id: string;
  readonly channels: string;
}

export function readBranchHeads(tx: Tx, thread: number): Promise<BranchHead[]> {
  return tx.db
    .selectFrom("checkpoints")
    .select(["checkpoint_id", "channels"])
    .where("thread", "=", thread)
    .where("ns", "=", "")
    .where("checkpoint_id", "not in", ({ selectFrom }) =>
      selectFrom("checkpoints as next")
        .select("next.parent_id")
        .where("next.thread", "=", thread)
        .where("next.ns", "=", "")
        .where("next.parent_id", "is not", null)
        .$narrowType<{ parent_id: string }>(),
    )
    .execute();
}

/**
 * True if a branch of the thread waits for an answer (`interrupt`), or has tasks that have not run:
 * it was stopped before them, or was cut off. A branch whose task failed is not interrupted.
 */
export async function isInterrupted(
  tx: Tx,
  { thread, heads }: { readonly thread: number; readonly heads: readonly BranchHead[] },
): Promise<boolean> {
  for (const batch of batches(heads)) {
    const rows = await tx.db
      .selectFrom("checkpoint_writes")
      .select(["checkpoint_id", "writes"])
      .where("thread", "=", thread)
      .where("ns", "=", "")
      .where(
        "checkpoint_id",
        "in",
        batch.map(({ checkpoint_id }) => checkpoint_id),
      )
      .execute();
    const written = Map.groupBy(rows, ({ checkpoint_id }) => checkpoint_id);
    for (const { checkpoint_id, channels } of batch) {
      const writes = (written.get(checkpoint_id) ?? []).flatMap((row) => parseWrites(row.writes));
      const has = (wanted: string): boolean => writes.some(([, channel]) => channel === wanted);
      if (has(INTERRUPT) || (hasTasks(parseChannels(channels)) && !has(ERROR))) {
        return true;
      }
    }
  }
  return false;
}

/** LangGraph's names: of what a task writes when it waits or fails, and of what starts tasks. */
const INTERRUPT = "__interrupt__";
const ERROR = "__error__";
const TASKS = "__pregel_tasks";
const TRIGGER = /^(?:__start__$|branch:to:)/;

/** A channel that starts a node has a value only until the node has run. */
function hasTasks(channels: StoredChannels): boolean {
  return Object.entries(channels).some(([name, value]) =>
    name === TASKS ? !isEmptyList(value) : TRIGGER.test(name),
  );
}

function isEmptyList(value: StoredChannels[string]): boolean {
  const json = "length" in value ? value[0] : null;
  return Array.isArray(json) && json.length === 0;
}
