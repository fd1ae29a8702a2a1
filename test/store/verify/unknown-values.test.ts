import { expect, it } from "vitest";

import { pruneHeldThread } from "../../../src/store/checkpoints/prune.ts";
import { readSessionTree } from "../../../src/store/portable/read-tree.ts";
import { openBench } from "../../helpers/sessions/bench.ts";

const HEAD = "(SELECT max(id) FROM checkpoints WHERE ns = '')";

it.each([
  ["a channel", channel(`{"x":1}`)],
  ["a reference of a channel", channel(`[{"$m":0},[{"x":1}]]`)],
  ["the metadata", `UPDATE checkpoints SET metadata = '{"x":1}' WHERE id = ${HEAD}`],
  ["a write of a task", writes(`[[0,"later",{"x":1}]]`)],
  ["the form of a write", writes(`[[0,"later",[1],"path","more"]]`)],
])(
  "[STORE-80] a checkpoint in which %s is of an unknown kind is refused by every reader, and found",
  async (_, statement) => {
    const bench = await openBench();
    await bench.exchange("first");
    await bench.plant(statement);
    // neither the mark of the head nor that of pruning may find it first
    await bench.plant("UPDATE threads SET head_row = 0, head_length = 0, folded_checkpoint = 0");

    const refused = { code: "database_corrupt" };
    expect(await bench.kinds()).toEqual(["checkpoint_damaged"]);
    await expect(bench.repair()).rejects.toMatchObject(refused);
    await expect(bench.exchange("second")).rejects.toMatchObject(refused);
    const { id, store } = bench;
    await expect(store.read(readSessionTree, { id })).rejects.toMatchObject(refused);
    const prune = store.write((tx) => pruneHeldThread(tx, `${id}:0`), null);
    await expect(prune).rejects.toMatchObject(refused);
  },
);

it("[STORE-80] a checkpoint is not put after one that holds a channel of an unknown kind", async () => {
  const bench = await openBench();
  await bench.exchange("first");
  await bench.plant(channel(`{"x":1}`));
  await expect(bench.put()).rejects.toMatchObject({ code: "database_corrupt" });
});

function channel(value: string): string {
  return `UPDATE checkpoints SET channels = replace(channels, '{"messages":', '{"later":${value},"messages":') WHERE id = ${HEAD}`;
}

function writes(value: string): string {
  return `INSERT INTO checkpoint_writes (thread, ns, checkpoint_id, task_id, writes)
    SELECT thread, ns, checkpoint_id, 'task', '${value}' FROM checkpoints WHERE id = ${HEAD}`;
}
