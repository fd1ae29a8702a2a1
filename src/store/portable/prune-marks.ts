import type { Tx } from "../store.ts";
import type { PortableThread } from "./export-schema.ts";

/** The tables whose rows a thread's prune marks count; a mark holds the id of a row. */
const TABLES = {
  checkpoints: "checkpoints",
  bodies: "checkpoint_bodies",
  lists: "checkpoint_lists",
} as const;

type Kind = keyof typeof TABLES;

/** How much of a thread its marks cover: the same number in every database. */
export async function readPruneMarks(tx: Tx, thread: number): Promise<PortableThread["folded"]> {
  const marks = await tx.db
    .selectFrom("checkpoint_threads")
    .select(["folded_checkpoint", "folded_body", "folded_list"])
    .where("id", "=", thread)
    .executeTakeFirstOrThrow();
  return {
    checkpoints: await countUpTo(tx, { kind: "checkpoints", thread, id: marks.folded_checkpoint }),
    bodies: await countUpTo(tx, { kind: "bodies", thread, id: marks.folded_body }),
    lists: await countUpTo(tx, { kind: "lists", thread, id: marks.folded_list }),
  };
}

async function countUpTo(
  tx: Tx,
  { kind, thread, id }: { kind: Kind; thread: number; id: number },
): Promise<number> {
  const { rows } = await tx.db
    .selectFrom(TABLES[kind])
    .select(({ fn }) => fn.countAll<number>().as("rows"))
    .where("thread", "=", thread)
    .where("id", "<=", id)
    .executeTakeFirstOrThrow();
  return rows;
}

/** Sets the marks of a thread whose rows were stored in their order. */
export async function writePruneMarks(
  tx: Tx,
  thread: number,
  folded: PortableThread["folded"],
): Promise<void> {
  await tx.db
    .updateTable("checkpoint_threads")
    .set({
      folded_checkpoint: await idAt(tx, { kind: "checkpoints", thread, count: folded.checkpoints }),
      folded_body: await idAt(tx, { kind: "bodies", thread, count: folded.bodies }),
      folded_list: await idAt(tx, { kind: "lists", thread, count: folded.lists }),
    })
    .where("id", "=", thread)
    .execute();
}

/** The id of the last of the first `count` rows; 0 is before all. */
async function idAt(
  tx: Tx,
  { kind, thread, count }: { kind: Kind; thread: number; count: number },
): Promise<number> {
  if (count === 0) {
    return 0;
  }
  const { id } = await tx.db
    .selectFrom(TABLES[kind])
    .select("id")
    .where("thread", "=", thread)
    .orderBy("id")
    .limit(1)
    .offset(count - 1)
    .executeTakeFirstOrThrow();
  return id;
}
