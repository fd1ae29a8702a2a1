import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import { createSpool } from "../../src/agent/commands/spool.ts";
import { createClient } from "../../src/client/client.ts";
import { readConsents } from "../../src/store/records/sessions/consents.ts";
import { releaseLease, takeLease } from "../../src/store/records/leases/lease.ts";
import { beginExchange } from "../../src/store/records/messages/begin-exchange.ts";
import { newId } from "../../src/core/ids.ts";
import { owner } from "../helpers/engines.ts";
import { startTestServer } from "../helpers/server.ts";
import { temporaryFolder } from "../helpers/temp.ts";
import { undoBench, writes } from "../helpers/undo-bench.ts";

const token = "0123456789abcdef0123456789abcdef";

/** A session whose first exchange has changed files, and a service on its database. */
async function served() {
  const bench = await undoBench({ "a.txt": "0\n" });
  const { store } = bench;
  const { id } = bench.session;
  const fence = await store.write(takeLease, { session_id: id, owner, life_ms: 60_000 });
  const begin = { fence, content: "a question", model: "demo", persona_name: "assistant" };
  await store.write(beginExchange, begin);
  await store.write(releaseLease, { fence, finished: true, end: "done" });
  await bench.change(1, writes("a.txt", "1\n"), writes("b.txt", "1\n"));
  return { ...bench, id };
}

it("[UNDO-14] [UNDO-17] [UNDO-18] [COMMAND-12] [PERMISSION-36] a client with the token reads changes with diffs, undoes and redoes them", async () => {
  const { store, folder, id, file, write, repo } = await served();
  const [outputFolder, other] = [temporaryFolder(), newId()];
  await using t = await startTestServer({ store, token, undoFolder: folder, outputFolder });
  const client = createClient({ baseUrl: t.url, token });
  expect(await client.listChanges(id)).toEqual([{ n: 1, changes: 2, undone: 0 }]);
  const [a, b] = await client.getChanges(id.slice(0, 8), 1);
  expect(a).toEqual({
    path: "a.txt",
    kind: "changed",
    tools: ["write_file"],
    calls: ["call-2"],
    added: 1,
    removed: 1,
    diff: "--- a.txt\n+++ a.txt\n@@ -1,1 +1,1 @@\n-0\n+1\n",
    reason: null,
    undone: false,
  });
  expect(b).toMatchObject({
    kind: "created",
    diff: "--- /dev/null\n+++ b.txt\n@@ -0,0 +1,1 @@\n+1\n",
  });
  expect(await client.undoExchange(id, 1, { dry_run: true })).toMatchObject({ dry_run: true });
  expect(file("a.txt")).toBe("1\n");
  write("b.txt", "2\n");
  const undone = await client.undoExchange(id, 1);
  expect(undone.files.map(({ path, outcome }) => [path, outcome])).toEqual([
    ["a.txt", "restored"],
    ["b.txt", "refused"],
  ]);
  expect([file("a.txt"), file("b.txt")]).toEqual(["0\n", "2\n"]);
  expect(await client.listChanges(id)).toEqual([{ n: 1, changes: 2, undone: 1 }]);
  await client.redoExchange(id, 1, { files: ["a.txt"] });
  expect(file("a.txt")).toBe("1\n");
  expect(await store.read(readConsents, { session_id: id, limit: 9 })).toMatchObject([
    { kind: "undo", subject: "1", who: "token" },
    { kind: "redo", subject: "1", who: "token" },
  ]);
  await expect(client.getChanges(id, 9)).rejects.toMatchObject({ code: "exchange_not_found" });
  await expect(client.undoExchange(id, 1, { files: ["c"] })).rejects.toMatchObject({
    code: "invalid_request",
  });
  await Promise.all([id, other].map((each) => createSpool(outputFolder, each).create()));
  await client.deleteSession(id);
  expect(existsSync(join(folder, id))).toBe(false);
  expect(readdirSync(outputFolder)).toEqual([expect.stringContaining(other)]);
  expect(existsSync(repo)).toBe(true);
});

it("[UNDO-17] without the token nothing is read or changed; a service that keeps nothing says that it is elsewhere", async () => {
  const { store, folder, id, file } = await served();
  {
    await using t = await startTestServer({ store, undoFolder: folder });
    for (const [method, path] of [
      ["GET", "changes"],
      ["GET", "exchanges/1/changes"],
      ["POST", "exchanges/1/undo"],
      ["POST", "exchanges/1/redo"],
    ] as const) {
      const { status, json } = await t.call(method, `/api/sessions/${id}/${path}`);
      expect([status, json]).toMatchObject([403, { code: "token_required" }]);
    }
  }
  await using t = await startTestServer({ store, token });
  const client = createClient({ baseUrl: t.url, token });
  await expect(client.undoExchange(id, 1)).rejects.toMatchObject({ code: "changes_elsewhere" });
  expect(await client.getChanges(id, 1)).toMatchObject([{ diff: null }, { diff: null }]);
  expect(file("a.txt")).toBe("1\n");
});
