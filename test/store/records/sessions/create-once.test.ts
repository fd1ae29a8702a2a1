import { expect, it } from "vitest";

import { createSessionOnce } from "../../../../src/store/records/sessions/create-once.ts";
import { deleteSessionTree } from "../../../../src/store/records/sessions/delete-tree.ts";
import { withNewIds } from "../../../../src/store/portable/import-tree.ts";
import { parseExport } from "../../../../src/store/portable/parse.ts";
import { readSessionTree } from "../../../../src/store/portable/read-tree.ts";
import { exportText } from "../../../../src/store/portable/export-text.ts";
import { writeSessionTree } from "../../../../src/store/portable/write-tree.ts";
import { describeEngines, execute, openFresh } from "../../../helpers/engines.ts";

const CREATE = { create_key: "k", model: "demo" };

describeEngines("createSessionOnce", (engine) => {
  it("[STORE-56] takes effect once, concurrently on two nodes too, and refuses another request", async () => {
    const database = await engine.create();
    const [one, two] = [await database.open(), await database.open()];
    const made = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        (index % 2 === 0 ? one : two).write(createSessionOnce, CREATE),
      ),
    );
    expect(new Set(made.map(({ id }) => id)).size).toBe(1);
    await expect(
      one.write(createSessionOnce, { ...CREATE, model: "openai:x" }),
    ).rejects.toMatchObject({ code: "idempotency_key_reused" });
  });

  it("[STORE-56] a key ends after 24 h, and with its session", async () => {
    const store = await openFresh(engine);
    const first = await store.write(createSessionOnce, CREATE);
    const yesterday = new Date(Date.now() - 24 * 60 * 60 * 1000 - 60_000).toISOString();
    await execute(store, `UPDATE sessions SET created_at = '${yesterday}'`);
    const second = await store.write(createSessionOnce, { ...CREATE, model: "openai:x" });
    expect(second.id).not.toBe(first.id);
    await store.write(deleteSessionTree, { id: second.id });
    const third = await store.write(createSessionOnce, CREATE);
    expect([first.id, second.id]).not.toContain(third.id);
  });

  it("[STORE-57] the key travels with the session, but not with a copy under a new id", async () => {
    const here = await openFresh(engine);
    const { id } = await here.write(createSessionOnce, CREATE);
    await execute(here, "UPDATE sessions SET input_tokens_ahead = 7, total_input_tokens = 7");
    const tree = await here.read(readSessionTree, { id });
    expect(tree.session).toMatchObject({ create_key: "k", input_tokens_ahead: 7 });
    const there = await openFresh(engine);
    const text = [...exportText(tree, "2026-01-01T00:00:00.000Z")].join("");
    await there.write(writeSessionTree, { tree: parseExport(text) });
    expect(await there.read(readSessionTree, { id })).toEqual(tree);
    await there.write(writeSessionTree, { tree: withNewIds(tree) });
    expect((await there.write(createSessionOnce, CREATE)).id).toBe(id);
  });
});
