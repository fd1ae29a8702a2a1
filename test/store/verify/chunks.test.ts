import { expect, it } from "vitest";

import { openBench } from "../../helpers/sessions/bench.ts";

const HEAD = "(SELECT max(id) FROM checkpoints WHERE ns = '')";

it.each([
  ["is not there", "DELETE FROM checkpoint_bodies WHERE hash = 'chunk'"],
  ["was cut", `UPDATE checkpoint_bodies SET body = '+"te' WHERE hash = 'chunk'`],
  ["is no chunk", `UPDATE checkpoint_bodies SET body = '"text"' WHERE hash = 'chunk'`],
])(
  "[VALUE-5] a value of which a chunk %s is refused, and found by verify",
  async (_, statement) => {
    const bench = await openBench();
    await bench.exchange("first");
    await bench.plant(
      `INSERT INTO checkpoint_bodies (thread, hash, body) SELECT thread, 'chunk', '+"text"' FROM checkpoints WHERE id = ${HEAD}`,
    );
    await bench.plant(
      `UPDATE checkpoints SET channels = replace(channels, '{"messages":', '{"later":{"c":[' || (SELECT id FROM checkpoint_bodies WHERE hash = 'chunk') || ']},"messages":') WHERE id = ${HEAD}`,
    );
    // or the mark of the head would find it first
    await bench.plant("UPDATE threads SET head_row = 0, head_length = 0");
    await bench.plant(statement);
    expect(await bench.kinds()).toEqual(["checkpoint_damaged"]);
    await expect(bench.exchange("second")).rejects.toMatchObject({ code: "database_corrupt" });
  },
);
