import { afterAll, beforeAll, expect, it } from "vitest";

import { createClient } from "../../src/client/client.ts";
import { releaseLease } from "../../src/store/records/leases/lease.ts";
import { createSession } from "../../src/store/records/sessions/create.ts";
import { endSession } from "../../src/store/records/sessions/change.ts";
import { ask, queue } from "../helpers/queue.ts";
import { startTestServer, type TestServer } from "../helpers/server.ts";
import { waitingSession } from "../helpers/waiting-session.ts";

const token = "the-token";
let t: TestServer;
beforeAll(async () => {
  t = await startTestServer({ token });
});
afterAll(() => t[Symbol.asyncDispose]());

const call = (method: string, path: string, more: object = {}) =>
  t.call<{ code?: string }>(method, path, {
    ...more,
    headers: { authorization: `Bearer ${token}` },
  });
const remove = (id: string, more?: object) => call("DELETE", `/api/sessions/${id}`, more);
const exists = async (id: string) => (await call("GET", `/api/sessions/${id}`)).status === 200;

it("[HTTP-183] deletes a session with its sub-agents, and nothing else", async () => {
  const kept = await t.newSession();
  const id = await t.newSession();
  await t.post(id, "first");
  const child = await t.store.write(createSession, { parent_session_id: id });
  const below = await t.store.write(createSession, { parent_session_id: child.id });
  const none = { title: null, messages: 0, threads: 0, checkpoints: 0 };
  const deleted = await createClient({ baseUrl: t.url, token }).deleteSession(id.slice(0, 8));
  expect(deleted).toEqual([
    { ...none, id, title: "first", parent_session_id: null, messages: 1 },
    { ...none, id: child.id, parent_session_id: id },
    { ...none, id: below.id, parent_session_id: child.id },
  ]);
  for (const gone of [id, child.id, below.id]) {
    expect(await exists(gone)).toBe(false);
  }
  expect(await exists(kept)).toBe(true);
  expect(await remove(id)).toMatchObject({ status: 404, json: { code: "session_not_found" } });
});

it("[HTTP-183] deletes while exchanges are queued or wait, or the session has ended, not while one runs", async () => {
  const { id: waiting } = await waitingSession(t.store, null);
  const queued = await t.newSession();
  await queue(t.store, queued, "later");
  const ended = await t.newSession();
  await t.store.write(endSession, { id: ended });
  for (const id of [waiting, queued, ended]) {
    expect((await remove(id)).status).toBe(200);
    expect(await exists(id)).toBe(false);
  }
  const parent = await t.newSession();
  const child = await t.store.write(createSession, { parent_session_id: parent });
  const fence = await ask(t.store, child.id, "now");
  for (const id of [parent, child.id]) {
    expect(await remove(id)).toMatchObject({ status: 409, json: { code: "session_busy" } });
    expect(await exists(id)).toBe(true);
  }
  await t.store.write(releaseLease, { fence, finished: true, end: "done" });
  expect((await remove(parent)).status).toBe(200);
});

it("[HTTP-184] refuses bodies, parameters and callers without a token", async () => {
  const id = await t.newSession();
  expect((await remove(id, { body: { all: true } })).status).toBe(422);
  expect((await remove(`${id}?force=true`)).status).toBe(422);
  expect((await remove(id.slice(0, 5))).status).toBe(404);
  expect((await t.call("DELETE", `/api/sessions/${id}`)).status).toBe(401);
  expect(await exists(id)).toBe(true);
  expect((await remove(id, { body: {} })).status).toBe(200);
  await using open = await startTestServer();
  const other = await open.newSession();
  expect(await open.call("DELETE", `/api/sessions/${other}`)).toMatchObject({
    status: 403,
    json: { code: "token_required" },
  });
  expect((await open.call("GET", `/api/sessions/${other}`)).status).toBe(200);
});
