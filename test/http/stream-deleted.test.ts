import { expect, it } from "vitest";

import { deleteSessionTree } from "../../src/store/records/sessions/delete-tree.ts";
import { startTestServer } from "../helpers/server.ts";
import { openStoreAt } from "../helpers/open-store.ts";
import { openStream } from "../helpers/stream.ts";

it("[MOVE-14] a stream ends when its session is deleted, by any process, and no other does", async () => {
  await using t = await startTestServer({ stream: { pollMs: 20 } });
  await using elsewhere = await openStoreAt(t.path);
  const kept = await t.newSession();
  const other = await openStream(t.url, `/api/sessions/${kept}/stream`);
  for (const store of [t.store, elsewhere]) {
    const id = await t.newSession();
    await t.post(id, "one");
    const streams = await Promise.all(
      [1, 2].map(() => openStream(t.url, `/api/sessions/${id}/stream`)),
    );
    await Promise.all(streams.map((stream) => stream.received(1)));
    await store.write(deleteSessionTree, { id });
    // whole, not cut: nothing failed
    expect(await Promise.all(streams.map((stream) => stream.ended))).toEqual([true, true]);
    expect(await t.call("GET", `/api/sessions/${id}/stream?last_seq=1`)).toMatchObject({
      status: 404,
      json: { code: "session_not_found" },
    });
  }
  await t.post(kept, "still here");
  expect((await other.received(1))[0]?.content).toBe("still here");
  other.cut();
});
