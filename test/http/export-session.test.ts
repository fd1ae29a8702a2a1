import { once } from "node:events";
import net from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

import { expect, it } from "vitest";

import { createClient } from "../../src/client/client.ts";
import { LARGE_READS, MAX_CONTENT_BYTES } from "../../src/core/limits.ts";
import { appendUserMessage } from "../../src/store/records/messages/append.ts";
import { exportText } from "../../src/store/portable/export-text.ts";
import { importTree } from "../../src/store/portable/import-tree.ts";
import { parseExport } from "../../src/store/portable/parse.ts";
import { readSessionTree } from "../../src/store/portable/read-tree.ts";
import { createSession } from "../../src/store/records/sessions/create.ts";
import { exportRequested } from "../../src/store/requests.ts";
import type { Store } from "../../src/store/store.ts";
import { createDatabase } from "../helpers/database.ts";
import { openStoreAt } from "../helpers/open-store.ts";
import { startTestServer } from "../helpers/server.ts";
import { type Bench, openBench } from "../helpers/sessions/bench.ts";
import { sendAndNotRead, until } from "../helpers/unread.ts";

async function serve(bench: Bench) {
  const t = await startTestServer({ store: bench.store, stream: { stallMs: 500 } });
  return Object.assign(t, { client: createClient({ baseUrl: t.url }) });
}

const TIME = /"exported_at":"([^"]*)"/;

it("[HTTP-186] exports the text of sessions export, which another database imports", async () => {
  const bench = await openBench();
  await using t = await serve(bench);
  await bench.exchange("My name is Ada 😀");
  await bench.exchange("and mine is Bo");
  await bench.append("pending");
  const child = await bench.store.write(createSession, { parent_session_id: bench.id });
  const text = await t.client.exportSession(bench.id.slice(0, 8));
  const tree = await bench.store.read(readSessionTree, { id: bench.id });
  expect(text).toBe([...exportText(tree, TIME.exec(text)?.[1] ?? "")].join(""));
  expect(tree.children.map(({ session }) => session.id)).toEqual([child.id]);
  await using database = await createDatabase();
  await using there = await openStoreAt(database.location);
  expect(await importTree(there, parseExport(text))).toContain(bench.id);
  const head = await fetch(`${t.url}/api/sessions/${bench.id}/export`, { method: "HEAD" });
  expect([head.status, await head.text()]).toEqual([200, ""]);
  expect(await t.call("GET", "/api/sessions/ffffffff/export")).toMatchObject({ status: 404 });
  expect(await t.call("GET", `/api/sessions/${bench.id}/export?format=x`)).toMatchObject({
    status: 422,
  });
});

it("[HTTP-186] [HTTP-188] readers that take nothing are cut, and those after them get their turn", async () => {
  const bench = await openBench();
  await using t = await serve(bench);
  const { id } = bench;
  const content = "x".repeat(MAX_CONTENT_BYTES);
  // more than sockets hold
  for (let index = 0; index < 14; index += 1) {
    await bench.store.write(appendUserMessage, { reference: id, content });
  }
  const { hostname, port, host } = new URL(t.url);
  const stalled = Array.from({ length: LARGE_READS }, () => {
    const socket = net.connect(Number(port), hostname).pause();
    socket.write(`GET /api/sessions/${id}/export HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    return socket;
  });
  // one that goes away while it waits takes no turn
  const gone = net.connect(Number(port), hostname);
  gone.write(`GET /api/sessions/${id}/export HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  await once(gone, "connect");
  gone.destroy();
  const { messages } = JSON.parse(await t.client.exportSession(id)) as { messages: unknown[] };
  expect(messages).toHaveLength(14);
  for (const socket of stalled) {
    socket.destroy();
  }
});

it("[HTTP-188] a large session is read alone", async () => {
  const bench = await openBench();
  const content = "x".repeat(MAX_CONTENT_BYTES);
  for (let index = 0; index < 14; index += 1) {
    await bench.store.write(appendUserMessage, { reference: bench.id, content });
  }
  let reads = 0;
  const read: Store["read"] = (operation, input) => {
    reads += Number(Object.is(operation, exportRequested));
    return bench.store.read(operation, input);
  };
  const store: Store = { ...bench.store, read };
  await using t = await startTestServer({ store });
  const path = `/api/sessions/${bench.id}/export`;
  const first = await sendAndNotRead(t, { path });
  await until(() => reads === 1);
  const second = await sendAndNotRead(t, { path });
  for (let index = 0; index < 5; index += 1) {
    expect((await t.call("GET", "/api/sessions")).status).toBe(200);
  }
  expect(reads).toBe(1);
  first.socket.destroy();
  await until(() => reads === 2);
  second.socket.destroy();
});

it("[HTTP-188] large sessions are exported for people beside each other", async () => {
  const bench = await openBench();
  const content = "x".repeat(MAX_CONTENT_BYTES);
  for (let index = 0; index < 14; index += 1) {
    await bench.store.write(appendUserMessage, { reference: bench.id, content });
  }
  await using t = await startTestServer({ store: bench.store });
  const path = `/api/sessions/${bench.id}/export?format=md`;
  const first = await sendAndNotRead(t, { path });
  await until(() => first.side.bytesWritten > 0);
  const answer = await fetch(`${t.url}${path}`);
  expect((await answer.text()).length).toBeGreaterThan(14 * MAX_CONTENT_BYTES);
  first.socket.destroy();
});

it("[HTTP-242] a reader that takes something is not cut, however long it takes", async () => {
  const bench = await openBench();
  const content = "x".repeat(MAX_CONTENT_BYTES);
  for (let index = 0; index < 14; index += 1) {
    await bench.store.write(appendUserMessage, { reference: bench.id, content });
  }
  await using t = await startTestServer({ store: bench.store, unsent: { stallMs: 1000 } });
  const response = await fetch(`${t.url}/api/sessions/${bench.id}/export`, {
    headers: { "accept-encoding": "identity" },
  });
  let bytes = 0;
  let pauses = 0;
  for await (const piece of response.body ?? []) {
    bytes += piece.length;
    if (bytes > (pauses + 1) * MAX_CONTENT_BYTES) {
      pauses += 1;
      await sleep(200);
    }
  }
  expect(pauses).toBeGreaterThan(10);
  expect(bytes).toBeGreaterThan(14 * MAX_CONTENT_BYTES);
});

it("[HTTP-187] verifies a session, and names what differs", async () => {
  const bench = await openBench();
  await using t = await serve(bench);
  await bench.exchange("one");
  await bench.exchange("two");
  await bench.append("pending");
  const document = await t.client.verifySession(bench.id);
  expect(document).toEqual({
    session_id: bench.id,
    ok: true,
    messages: 5,
    pending: 1,
    threads: 1,
    findings: [],
  });
  await bench.plant("UPDATE messages SET content = 'a secret' WHERE session_id = :id AND seq = 2");
  const damaged = await t.call<object>("GET", `/api/sessions/${bench.id}/verify`);
  expect(damaged).toMatchObject({
    status: 200,
    json: { ok: false, findings: [{ kind: "different", seq: 2 }] },
  });
  expect(damaged.text).not.toContain("a secret");
  await bench.plant("DELETE FROM checkpoint_bodies");
  expect(await t.client.verifySession(bench.id)).toMatchObject({
    ok: false,
    findings: [{ kind: "checkpoint_damaged" }],
  });
});

it("[HTTP-340] returns a page or Markdown, without secrets if it is asked to, that can run nothing", async () => {
  const bench = await openBench();
  await using t = await serve(bench);
  await bench.exchange("<script>alert(1)</script> of ada@analytical.org");
  const address = `${t.url}/api/sessions/${bench.id}/export`;
  const page = await fetch(`${address}?format=html&redact=true`);
  const text = await page.text();
  expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(page.headers.get("x-content-type-options")).toBe("nosniff");
  expect(page.headers.get("content-disposition")).toBe(
    `attachment; filename="session-${bench.id}.html"`,
  );
  expect(page.headers.get("content-security-policy")).toMatch(/^default-src 'none'.*; sandbox;/);
  expect(text).toContain("&lt;script&gt;alert(1)&lt;/script&gt; of [redacted: e-mail address]");
  expect(text).not.toContain("<script");
  const markdown = await t.client.exportSession(bench.id, { format: "md" });
  expect(markdown).toContain("ada@analytical.org");
  const json = await t.client.exportSession(bench.id, { redact: true });
  expect(json).not.toContain("ada@analytical.org");
  expect(parseExport(json).messages).toHaveLength(2);
});
