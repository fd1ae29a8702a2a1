import { HumanMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";

import { createCheckpointSaver } from "../../../src/langgraph/saver.ts";
import { threadId } from "../../../src/core/threads.ts";
import { leasedStore } from "../../helpers/checkpoints/leased-store.ts";
import { type Bench, openBench } from "../../helpers/sessions/bench.ts";

const THREAD = "(SELECT id FROM threads WHERE thread_id = ':id:0')";
const HEAD = `(SELECT max(id) FROM checkpoints WHERE thread = ${THREAD} AND ns = '')`;
const LIST = `(SELECT max(id) FROM checkpoint_lists WHERE thread = ${THREAD})`;

/** Two exchanges of the demo model; in `:id:0`, the quotes around `:id` are left out. */
async function twoExchanges(): Promise<Bench> {
  const bench = await openBench();
  await bench.exchange("first");
  await bench.exchange("second");
  return bench;
}

function plant(bench: Bench, sql: string): Promise<void> {
  return bench.plant(sql.replaceAll("':id:", `'${bench.id}:`));
}

async function expectRefused(bench: Bench): Promise<void> {
  expect(await bench.kinds()).toEqual(["checkpoint_damaged"]);
  const before = await bench.dump();
  await expect(bench.repair()).rejects.toMatchObject({ code: "database_corrupt" });
  const after = await bench.dump();
  expect(after.rows).toEqual(before.rows);
}

/** The messages of the latest checkpoint, in which `cut` are left. */
async function shorten(bench: Bench, by: number): Promise<void> {
  const [row] = await bench.store.read(
    (tx) => tx.db.selectFrom("checkpoints").select("channels").orderBy("id", "desc").execute(),
    null,
  );
  const channels = JSON.parse(row?.channels ?? "{}") as { messages: { l: [number, number] } };
  channels.messages.l[1] -= by;
  await plant(
    bench,
    `UPDATE checkpoints SET channels = '${JSON.stringify(channels)}' WHERE id = ${HEAD}`,
  );
}

describe("the latest checkpoint of a thread", () => {
  it.each([
    ["deleted", `DELETE FROM checkpoints WHERE id = ${HEAD}`],
    ["gone with all others", `DELETE FROM checkpoints WHERE thread = ${THREAD}`],
    ["in another namespace", `UPDATE checkpoints SET ns = 'x' WHERE id = ${HEAD}`],
    ["with another shape", `UPDATE checkpoints SET shape = shape - 1 WHERE id = ${HEAD}`],
    ["with a shape that is not there", `UPDATE checkpoints SET shape = 99999 WHERE id = ${HEAD}`],
    [
      "with a shape that is cut",
      `UPDATE checkpoint_bodies SET body = substr(body, 1, 20) WHERE id = (SELECT shape FROM checkpoints WHERE id = ${HEAD})`,
    ],
    ["without versions", `UPDATE checkpoints SET versions = '' WHERE id = ${HEAD}`],
    ["with a version less", `UPDATE checkpoints SET versions = '1,2' WHERE id = ${HEAD}`],
    [
      "with writes of no body",
      `INSERT INTO checkpoint_writes (thread, ns, checkpoint_id, task_id, writes) SELECT thread, ns, checkpoint_id, 'task', '[[0,"messages",{"b":99999}]]' FROM checkpoints WHERE id = ${HEAD}`,
    ],
    [
      "with writes that are no writes",
      `INSERT INTO checkpoint_writes (thread, ns, checkpoint_id, task_id, writes) SELECT thread, ns, checkpoint_id, 'task', '[7]' FROM checkpoints WHERE id = ${HEAD}`,
    ],
  ])(
    "[PROOF-14] [PROOF-15] [PROOF-16] %s is found and not repaired, and no exchange continues from it",
    async (_, sql) => {
      const bench = await twoExchanges();
      expect(await bench.kinds()).toEqual([]);
      await plant(bench, sql);
      await expectRefused(bench);
      await expect(bench.exchange("third")).rejects.toMatchObject({ code: "database_corrupt" });
      expect(await bench.kinds()).toEqual(["checkpoint_damaged"]);
    },
  );

  it.each([1, 2, 3])(
    "[PROOF-14] a checkpoint without its last %i messages is found, and no exchange continues from it",
    async (by) => {
      const bench = await twoExchanges();
      await shorten(bench, by);
      await expectRefused(bench);
      await expect(bench.exchange("third")).rejects.toMatchObject({ code: "database_corrupt" });
    },
  );

  it.each([
    ["names a message twice", 1, 0],
    ["names its messages in another order", 1, 2],
  ])("[PROOF-14] a checkpoint that %s is found", async (_, position, other) => {
    const bench = await twoExchanges();
    const bodyAt = `(SELECT body FROM checkpoint_list_items AS i WHERE i.list = ${LIST} AND i.position = ${other})`;
    await plant(
      bench,
      `UPDATE checkpoint_list_items SET body = ${bodyAt} WHERE list = ${LIST} AND position = ${position}`,
    );
    await expectRefused(bench);
  });

  it("[PROOF-14] a checkpoint moved to another session's thread is found in both sessions", async () => {
    const bench = await twoExchanges();
    await bench.freshThread(false);
    await bench.exchange("in thread 1");
    await plant(
      bench,
      `UPDATE checkpoints SET thread = (SELECT id FROM threads WHERE thread_id = ':id:1') WHERE id = ${HEAD}`,
    );
    await expectRefused(bench);
  });

  it("[PROOF-14] checkpoints swapped between two threads are found in both", async () => {
    const bench = await twoExchanges();
    await bench.freshThread(false);
    await bench.exchange("in thread 1");
    for (const [from, to] of [
      [":id:0", "x"],
      [":id:1", ":id:0"],
      ["x", ":id:1"],
    ]) {
      await plant(bench, `UPDATE threads SET thread_id = '${to}' WHERE thread_id = '${from}'`);
    }
    await expectRefused(bench);
  });

  it.each([
    ["another one", "head_row = head_row - 1"],
    ["none", "head_row = 0, head_length = 0, head_hash = ''"],
  ])(
    "[PROOF-14] [PROOF-15] a checkpoint whose thread marks %s is found, and no exchange continues from it",
    async (_, mark) => {
      const bench = await twoExchanges();
      await plant(bench, `UPDATE threads SET ${mark}`);
      await expectRefused(bench);
      await expect(bench.exchange("third")).rejects.toMatchObject({ code: "database_corrupt" });
    },
  );

  it("[PROOF-23] messages are never taken from another session", async () => {
    const bench = await twoExchanges();
    const { store } = bench;
    await plant(bench, "UPDATE threads SET thread_id = 'other:0'");
    const [other] = await store.read(
      (tx) => tx.db.selectFrom("threads").select("id").execute(),
      null,
    );
    await bench.put(new HumanMessage({ id: "strange", content: "of another session" }));
    await plant(
      bench,
      `UPDATE checkpoint_list_items SET body = (SELECT min(id) FROM checkpoint_bodies WHERE thread = ${other?.id} AND body LIKE '["%')`,
    );
    await expectRefused(bench);
  });

  it("[PROOF-18] stays marked when an earlier one is stored again", async () => {
    const bench = await twoExchanges();
    const saver = createCheckpointSaver({ store: leasedStore(bench.store) });
    const thread = { configurable: { thread_id: threadId(bench.id, 0) } };
    const tuples = await Array.fromAsync(saver.list(thread));
    const earlier = tuples.at(-1);
    expect(tuples.length).toBeGreaterThan(1);
    if (earlier !== undefined) {
      const { checkpoint } = earlier;
      const { channel_versions } = checkpoint;
      const metadata = { source: "loop" as const, step: 0, parents: {} };
      const config = { configurable: { ...thread.configurable, checkpoint_ns: "" } };
      await saver.put(config, checkpoint, metadata, channel_versions);
    }
    expect(await bench.kinds()).toEqual([]);
  });
});
