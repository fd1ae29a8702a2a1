import type { Tx } from "../../store.ts";
import { batches } from "../../records/threads/bodies.ts";
import { damagedCheckpoint, refusingDamage } from "../damage.ts";
import { hasNextTasks, TASKS } from "./next-tasks.ts";
import { SENDS_IN_PARENT } from "../read.ts";
import { joinTemplate } from "../template.ts";
import { parseChannels, parseWrites } from "../value.ts";

/** The latest root checkpoint of a branch: no other one follows it. */
export interface BranchHead {
  readonly checkpoint_id: string;
  readonly parent_id: string | null;
  readonly channels: string;
  readonly versions: string;
  readonly shape: string | null;
}

export function readBranchHeads(tx: Tx, thread: number): Promise<BranchHead[]> {
  return tx.db
    .selectFrom("checkpoints")
    .leftJoin("checkpoint_bodies", "checkpoint_bodies.id", "checkpoints.shape")
    .select(["checkpoint_id", "parent_id", "channels", "versions", "body as shape"])
    .where("checkpoints.thread", "=", thread)
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
 *
 * Error codes: `database_corrupt`.
 */
export async function isInterrupted(
  tx: Tx,
  { thread, heads }: { readonly thread: number; readonly heads: readonly BranchHead[] },
): Promise<boolean> {
  for (const batch of batches(heads)) {
    const ids = batch.flatMap((head) => [head.checkpoint_id, ...parentWithSends(head)]);
    const rows = await tx.db
      .selectFrom("checkpoint_writes")
      .select(["checkpoint_id", "writes"])
      .where("thread", "=", thread)
      .where("ns", "=", "")
      .where("checkpoint_id", "in", ids)
      .execute();
    const written = Map.groupBy(rows, ({ checkpoint_id }) => checkpoint_id);
    const wroteTo = (id: string, wanted: string): boolean =>
      (written.get(id) ?? []).some((row) =>
        parseWrites(row.writes).some(([, channel]) => channel === wanted),
      );
    const waits = (head: BranchHead): boolean =>
      wroteTo(head.checkpoint_id, INTERRUPT) ||
      (!wroteTo(head.checkpoint_id, ERROR) &&
        (parentWithSends(head).some((id) => wroteTo(id, TASKS)) || hasTasks(head)));
    if (await refusingDamage(async () => batch.some(waits))) {
      return true;
    }
  }
  return false;
}

/** LangGraph's names of what a task writes when it waits or fails. */
const INTERRUPT = "__interrupt__";
const ERROR = "__error__";

/** The id of the parent if its tasks wrote the sends that run next. */
function parentWithSends({ parent_id, shape }: BranchHead): readonly string[] {
  return parent_id !== null && SENDS_IN_PARENT.test(shape ?? "") ? [parent_id] : [];
}

function hasTasks({ channels, shape, versions }: BranchHead): boolean {
  if (shape === null) {
    throw damagedCheckpoint();
  }
  return hasNextTasks(parseChannels(channels), joinTemplate({ shape, numbers: versions }).versions);
}
