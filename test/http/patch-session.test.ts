import { execFileSync } from "node:child_process";

import { afterAll, beforeAll, expect, it } from "vitest";

import { NO_USAGE } from "../../src/core/cost/model-calls.ts";
import { costOf } from "../../src/core/cost/cost-fields.ts";
import { type Client, createClient } from "../../src/client/client.ts";
import type { SessionSummary } from "../../src/core/schemas/schemas.ts";
import { readLimits } from "../../src/store/records/sessions/limits.ts";
import { projectOfFolder } from "../../src/store/project-id.ts";
import { temporaryFolder } from "../helpers/temp.ts";
import { claimNext } from "../helpers/queue.ts";
import { type CallOptions, startTestServer, type TestServer } from "../helpers/server.ts";
import { waitingSession } from "../helpers/waiting-session.ts";
import { createSession } from "../../src/store/records/sessions/create.ts";
import { keepRule, readPermissions } from "../../src/store/records/sessions/permissions.ts";
import { readSession } from "../../src/store/records/sessions/read.ts";

const TOKEN = "a-token";

let t: TestServer;
let client: Client;
beforeAll(async () => {
  t = await startTestServer({ token: TOKEN });
  client = createClient({ baseUrl: t.url, token: TOKEN });
});
afterAll(() => t[Symbol.asyncDispose]());

/** With the token. */
function call<T = SessionSummary>(method: string, path: string, options: CallOptions = {}) {
  const headers = { authorization: `Bearer ${TOKEN}`, ...options.headers };
  return t.call<T>(method, path, { ...options, headers });
}

async function refusal(id: string, body: unknown) {
  const { status, json } = await call<{ code: string; faults?: { pointer: string }[] }>(
    "PATCH",
    `/api/sessions/${id}`,
    { body },
  );
  return [status, json.code, ...(json.faults ?? []).map(({ pointer }) => pointer)];
}

const suffixOf = async (id: string) => (await t.store.read(readSession, { id })).thread_suffix;

it("[HTTP-151] PATCH changes what is given, keeps the rest, and answers with the session", async () => {
  const created = await client.createSession({ model_override: "demo:echo" });
  const { id } = created;
  const named = await call("PATCH", `/api/sessions/${id.slice(0, 8)}`, {
    body: { name: "Größe 😀" },
  });
  expect(named.status).toBe(200);
  expect(named.json).toEqual({ ...created, name: "Größe 😀" });
  expect(await client.patchSession(id, { plan_mode: true })).toEqual({
    ...created,
    name: "Größe 😀",
    plan_mode: true,
  });
  expect((await call("PATCH", `/api/sessions/${id}`)).json).toMatchObject({ name: "Größe 😀" });
  expect(await client.patchSession(id, { name: null, plan_mode: false })).toEqual(created);
  await client.patchSession(id, { token_limits: { session: 10, tree: 20 } });
  await client.patchSession(id, { token_limits: { session: null, exchange: 5 } });
  await client.patchSession(id, { price_limits: { session: 5_000_000, tree: 1 } });
  await client.patchSession(id, { price_limits: { tree: null } });
  expect(await t.store.read(readLimits, { id })).toEqual({
    tokens: { exchange: 5, tree: 20 },
    prices: { session: 5_000_000 },
  });
});

it("[HTTP-151] changes all or nothing, and refuses what does not fit", async () => {
  const { id } = await client.createSession({ repo_path: "/nowhere" });
  const child = await t.store.write(createSession, { parent_session_id: id });
  for (const [body, ...expected] of [
    [{ name: "" }, 422, "invalid_request", "/name"],
    [{ name: "x".repeat(256) }, 422, "invalid_request", "/name"],
    [{ name: "a\0" }, 422, "invalid_request", "/name"],
    [{ model: null }, 422, "invalid_request", "/model"],
    [{ archived: "true" }, 422, "invalid_request", "/archived"],
    [{ title: "x" }, 422, "invalid_request", ""],
    [{ token_limits: { tree: 0 } }, 422, "invalid_request", "/token_limits/tree"],
    [{ price_limits: { tree: 0 } }, 422, "invalid_request", "/price_limits/tree"],
    [[], 422, "invalid_request", ""],
  ] as const) {
    expect(await refusal(id, body), JSON.stringify(body)).toEqual(expected);
  }
  expect(await refusal(child.id, { token_limits: { tree: 1 } })).toEqual([
    422,
    "invalid_request",
    "/token_limits",
  ]);
  expect(await refusal("ffffffff", { name: "" })).toEqual([404, "session_not_found"]);
  expect(await client.patchSession(id, { repo_path: "/nowhere/" })).toMatchObject({
    repo_path: "/nowhere",
  });
});

it("[HTTP-152] another model or persona begins a fresh thread, the same one does not", async () => {
  const { id } = await client.createSession({ model_override: "demo:echo" });
  expect(await client.patchSession(id, { model: "demo:echo" })).toMatchObject({
    model: "demo:echo",
  });
  expect(await suffixOf(id)).toBe(0);
  expect(
    await client.patchSession(id, { model: "demo:other", persona_name: "planner" }),
  ).toMatchObject({ model: "demo:other", persona_name: "planner", last_seq: 0 });
  expect(await suffixOf(id)).toBe(1);
  await client.patchSession(id, { name: "x", archived: true, plan_mode: true });
  expect(await suffixOf(id)).toBe(1);
});

it("[HTTP-291] another model continues the thread if its context is kept", async () => {
  const { id } = await client.createSession({ model_override: "demo:echo" });
  expect(await client.patchSession(id, { model: "demo:other", context: "keep" })).toMatchObject({
    model: "demo:other",
  });
  await client.patchSession(id, { model: "demo:other", context: "fresh" });
  await client.patchSession(id, { model: "demo:third", context: "keep" });
  expect(await suffixOf(id)).toBe(0);
  expect(await client.patchSession(id, { model: "demo:echo", context: "fresh" })).toMatchObject({
    model: "demo:echo",
  });
  expect(await suffixOf(id)).toBe(1);
});

it("[HTTP-291] a context is refused without a model, with another persona, and while an exchange runs or asks", async () => {
  const { id } = await client.createSession({ model_override: "demo:echo" });
  expect(await refusal(id, { context: "keep" })).toEqual([422, "invalid_request", "/context"]);
  expect(await refusal(id, { context: "fresh" })).toEqual([422, "invalid_request", "/context"]);
  expect(await refusal(id, { model: "demo:other", context: "some" })).toEqual([
    422,
    "invalid_request",
    "/context",
  ]);
  const both = { model: "demo:other", context: "keep", persona_name: "planner" };
  expect(await refusal(id, both)).toEqual([422, "invalid_request", "/persona_name"]);
  const keep = { model: "demo:other", context: "keep" };
  await client.queueExchange(id, "hello");
  await claimNext(t.store, id);
  expect(await refusal(id, keep)).toEqual([409, "session_busy"]);
  const waiting = await waitingSession(t.store, null);
  expect(await refusal(waiting.id, keep)).toEqual([409, "session_busy"]);
  await client.endSession(waiting.id);
  expect(await refusal(waiting.id, keep)).toEqual([409, "session_ended"]);
});

it("[HTTP-153] an exchange that runs refuses another model, persona, folder and planning mode, and nothing else", async () => {
  const { id } = await client.createSession();
  await client.queueExchange(id, "hello");
  await claimNext(t.store, id);
  for (const body of [
    { model: "demo:other" },
    { persona_name: "planner" },
    { repo_path: "/nowhere" },
    { plan_mode: true },
  ]) {
    expect(await refusal(id, { ...body, name: "x" })).toEqual([409, "session_busy"]);
  }
  const labels = { name: "x", archived: true, metadata: { a: "b" }, token_limits: { tree: 5 } };
  expect(await client.patchSession(id, labels)).toMatchObject({ name: "x", metadata: { a: "b" } });
});

it("[HTTP-154] an ended session keeps its settings; name, metadata and archive can be changed", async () => {
  const { id } = await client.createSession();
  await client.endSession(id);
  for (const body of [
    { model: "demo:other" },
    { persona_name: "planner" },
    { repo_path: "/nowhere" },
    { plan_mode: true },
    { token_limits: { tree: 5 } },
    { price_limits: { tree: 5 } },
  ]) {
    expect(await refusal(id, body)).toEqual([409, "session_ended"]);
  }
  const { archived_at, ...rest } = await client.patchSession(id, {
    name: "done",
    archived: true,
    metadata: { a: "b" },
  });
  expect(rest).toMatchObject({ name: "done", metadata: { a: "b" }, state: "ended" });
  const again = await client.patchSession(id, { archived: true });
  expect(again.archived_at).toBe(archived_at);
  expect(Date.parse(archived_at ?? "")).toBeGreaterThan(0);
  expect(await client.patchSession(id, { archived: false })).toMatchObject({ archived_at: null });
});

it("[PERMISSION-20] permission sets the mode of a session, in which a token is needed for what asks less", async () => {
  const modeOf = async (store: TestServer["store"], id: string) =>
    (await store.read(readPermissions, { id })).mode;
  const { id } = await client.createSession({ permission: "edits" });
  expect(await modeOf(t.store, id)).toBe("edits");
  expect(await client.patchSession(id, { permission: "plan" })).toMatchObject({ plan_mode: true });
  expect(await modeOf(t.store, id)).toBe("plan");
  expect(await client.patchSession(id, { plan_mode: false })).toMatchObject({ plan_mode: false });
  expect(await modeOf(t.store, id)).toBe("edits");
  await client.patchSession(id, { permission: "all" });
  expect(await modeOf(t.store, id)).toBe("all");
  expect(await modeOf(t.store, (await client.createSession({})).id)).toBe("ask");
  const both = { permission: "plan", plan_mode: true };
  expect(await refusal(id, both)).toEqual([422, "invalid_request", "/plan_mode"]);
  expect(await refusal(id, { permission: "none" })).toEqual([
    422,
    "invalid_request",
    "/permission",
  ]);
  const child = await t.store.write(createSession, { parent_session_id: id });
  expect(await refusal(child.id, { permission: "all" })).toEqual([
    422,
    "invalid_request",
    "/permission",
  ]);
  await client.endSession(id);
  expect(await refusal(id, { permission: "ask" })).toEqual([409, "session_ended"]);

  await using open = await startTestServer();
  for (const permission of ["edits", "auto", "all"]) {
    expect(await open.call("POST", "/api/sessions", { body: { permission } })).toMatchObject({
      status: 403,
      json: { code: "token_required" },
    });
  }
  const made = await open.call<SessionSummary>("POST", "/api/sessions", {
    body: { permission: "plan" },
  });
  expect(made).toMatchObject({ status: 201, json: { plan_mode: true } });
  const path = `/api/sessions/${made.json.id}`;
  for (const permission of ["ask", "edits", "plan"]) {
    expect(await open.call("PATCH", path, { body: { permission } })).toMatchObject({ status: 403 });
  }
});

it("[HTTP-156] metadata is merged: null removes a pair, and a session has 16 at most", async () => {
  const { id, metadata: given } = await client.createSession({ metadata: { team: "blue", b: "" } });
  expect(given).toEqual({ team: "blue", b: "" });
  const merged = await client.patchSession(id, { metadata: { b: null, c: "x:y", team: "red" } });
  expect(merged.metadata).toEqual({ c: "x:y", team: "red" });
  const many = Object.fromEntries(Array.from({ length: 15 }, (_, index) => [`k${index}`, "v"]));
  expect(await refusal(id, { metadata: many })).toEqual([422, "invalid_request", "/metadata"]);
  expect(await client.patchSession(id, { metadata: { ...many, c: null } })).toMatchObject({
    metadata: { ...many, team: "red" },
  });
  for (const metadata of [
    { "": "x" },
    { "a:b": "x" },
    { 1: "x" },
    JSON.parse('{"__proto__":"x"}'),
    { [`a${"b".repeat(64)}`]: "x" },
    { a: "x".repeat(513) },
    { a: "\0" },
    { a: 1 },
    [],
  ]) {
    expect(await refusal(id, { metadata }), JSON.stringify(metadata)).toEqual([
      422,
      "invalid_request",
      "/metadata",
    ]);
    expect((await call("POST", "/api/sessions", { body: { metadata } })).status).toBe(422);
  }
  const most = { [`a${"b".repeat(63)}`]: "😀".repeat(512) };
  expect(await client.createSession({ metadata: most })).toMatchObject({ metadata: most });
});

it("[HTTP-156] a repeated request to create has to have the same metadata, in any order", async () => {
  const create = (metadata: Record<string, string>) =>
    call("POST", "/api/sessions", { body: { metadata }, headers: { "idempotency-key": "with" } });
  const first = await create({ a: "1", b: "2" });
  expect(first.json).toMatchObject({ metadata: { a: "1", b: "2" } });
  expect((await create({ b: "2", a: "1" })).json).toEqual(first.json);
  expect((await create({ a: "1" })).status).toBe(422);
});

it("[PERMISSION-87] a session shows the mode that counts while it does not plan", async () => {
  const { id } = await client.createSession({ permission: "edits" });
  const child = await t.store.write(createSession, {
    parent_session_id: id,
    parent_call_id: "call",
    depth: 1,
  });
  const modes = async (): Promise<unknown[]> => [
    (await client.getSession(id)).permission,
    (await client.getSession(child.id)).permission,
    ...(await client.listSessions({ limit: 2 })).sessions.map(({ permission }) => permission),
  ];
  expect(await modes()).toEqual(Array(4).fill("edits"));
  await client.patchSession(id, { permission: "plan" });
  expect(await modes()).toEqual(Array(4).fill("edits"));
  await client.patchSession(id, { permission: "all" });
  expect(await modes()).toEqual(Array(4).fill("all"));
  await t.store.write(
    async (tx, agent) =>
      tx.db.updateTable("sessions").set({ agent }).where("id", "=", child.id).execute(),
    "another",
  );
  const { permission } = await client.getSession(child.id);
  expect(permission).toBeNull();
});

it("[HTTP-157] every answer with a session has its name, since when it is archived, its agent and its metadata", async () => {
  const made = await client.createSession({ metadata: { team: "green" } });
  const { id } = made;
  expect(made).toMatchObject({
    name: null,
    archived_at: null,
    agent: null,
    metadata: { team: "green" },
  });
  const session = await client.patchSession(id, { name: "N", archived: true });
  expect(session).toMatchObject({ name: "N", archived_at: expect.any(String) as string });
  expect((await client.listSessions({ limit: 1 })).sessions).toEqual([session]);
  expect(await client.getSession(id)).toEqual({
    ...session,
    ...costOf(NO_USAGE),
    messages: [],
    has_earlier: false,
  });
});

it("[HTTP-370] a session is pinned and the list filters by it; the pin is an event", async () => {
  const { id } = await client.createSession({});
  const other = await client.createSession({});
  const changed = () =>
    t.store.read(
      ({ db }) => db.selectFrom("sessions").select("changed").where("id", "=", id).execute(),
      null,
    );
  const before = await changed();
  const { pinned_at } = await client.patchSession(id, { pinned: true });
  expect(pinned_at).toMatch(/^20/);
  expect(await changed()).not.toEqual(before);
  expect((await client.patchSession(id, { pinned: true })).pinned_at).toBe(pinned_at);
  const ids = async (pinned: boolean) =>
    (await client.listSessions({ pinned })).sessions.map((each) => each.id);
  expect(await ids(true)).toEqual([id]);
  expect(await ids(false)).toContain(other.id);
  expect(await ids(false)).not.toContain(id);
  expect((await client.patchSession(id, { pinned: false })).pinned_at).toBeNull();
});

it("[EFFORT-7] PATCH warns that the cache begins again in a session with messages", async () => {
  const { id } = await client.createSession({});
  const warnings: string[] = [];
  const patch = (change: Parameters<typeof client.patchSession>[1]) =>
    client.patchSession(id, change, { onWarning: (code) => void warnings.push(code) });
  await patch({ effort: "low" });
  await client.postMessage(id, "hello");
  await patch({ effort: "low", name: "named" });
  expect(warnings).toEqual([]);
  await patch({ effort: "high" });
  await patch({ cache: "1h" });
  expect(warnings).toEqual(["cache_restarts", "cache_restarts"]);
});

it("[FALLBACK-7] PATCH and POST set the fallback; null is that of the config, and other values are refused", async () => {
  const fallback = ["demo", "ollama:qwen3"];
  const created = await client.createSession({ fallback });
  expect(created).toMatchObject({ fallback });
  expect(await client.patchSession(created.id, { fallback: [] })).toMatchObject({ fallback: [] });
  const { sessions } = await client.listSessions();
  expect(sessions.find(({ id }) => id === created.id)).toMatchObject({ fallback: [] });
  expect(await client.patchSession(created.id, { fallback: null })).toMatchObject({
    fallback: null,
  });
  for (const wrong of [
    ["demo", 1],
    ["demo", ""],
    "demo",
    Array.from({ length: 6 }, () => "demo"),
  ]) {
    const [status, code, pointer] = await refusal(created.id, { fallback: wrong });
    expect([status, code]).toEqual([422, "invalid_request"]);
    expect(pointer).toMatch(/^\/fallback/);
  }
});

it("[FALLBACK-9] a name without a provider and one that is named twice are refused, each with what it must be", async () => {
  const { id } = await client.createSession({});
  const named = "Must be a model as provider:model.";
  for (const [fallback, message, pointer] of [
    [["demo", "gpt-6"], named, "/fallback/1"],
    [["ollama:"], named, "/fallback/0"],
    [["OpenAI:gpt-6"], named, "/fallback/0"],
    [["ollama:a", "demo", "ollama:a"], "Must not hold an item twice.", "/fallback"],
  ] as const) {
    for (const [method, path] of [
      ["POST", "/api/sessions"],
      ["PATCH", `/api/sessions/${id}`],
    ] as const) {
      const { status, json } = await call(method, path, { body: { fallback } });
      expect([status, json]).toEqual([
        422,
        expect.objectContaining({ code: "invalid_request", faults: [{ pointer, message }] }),
      ]);
    }
  }
  const { fallback } = await client.patchSession(id, { fallback: ["demo", "ollama:llama3.2:3b"] });
  expect(fallback).toEqual(["demo", "ollama:llama3.2:3b"]);
});

it("[EFFORT-6] PATCH and POST set effort and cache; null is the default, and another word is refused", async () => {
  const created = await client.createSession({ effort: "low", cache: "1h" });
  expect(created).toMatchObject({ effort: "low", cache: "1h" });
  const changed = await client.patchSession(created.id, { effort: null });
  expect(changed).toMatchObject({ effort: null, cache: "1h" });
  expect(await refusal(created.id, { effort: "much" })).toEqual([422, "effort_unknown", "/effort"]);
  expect(await refusal(created.id, { effort: "much", cache: "2h" })).toEqual([
    422,
    "invalid_request",
    "/effort",
    "/cache",
  ]);
  const open = await t.call<{ code: string }>("POST", "/api/sessions", { body: { effort: "max" } });
  expect([open.status, open.json.code]).toEqual([401, "unauthorized"]);
  await client.endSession(created.id);
  expect(await refusal(created.id, { cache: "5m" })).toEqual([409, "session_ended"]);
});

it("[HTTP-376] moves a session with its sub-agents to another folder, and takes away what was allowed", async () => {
  const made = await client.createSession({ repo_path: "/nowhere" });
  const { id } = made;
  const child = await t.store.write(createSession, {
    parent_session_id: id,
    repo_path: "/nowhere",
  });
  await client.patchSession(id, { permission: "edits" });
  await t.store.write(keepRule, { id, rule: "edit_file(src/**)", n: null });
  const folder = temporaryFolder();
  execFileSync("git", ["init", "-q"], { cwd: folder });
  execFileSync("git", ["remote", "add", "origin", "https://example.com/a/b.git"], { cwd: folder });
  const warnings: string[] = [];
  const change = { name: "There", repo_path: folder };
  const moved = await client.patchSession(id, change, { onWarning: (each) => warnings.push(each) });
  expect(warnings).toEqual(["folder_not_served"]);
  const { project_key, project_id } = await projectOfFolder(folder);
  expect(project_id).not.toBeNull();
  expect(moved).toMatchObject({ name: "There", repo_path: folder, project_key, project_id });
  expect(await t.store.read(readPermissions, { id })).toMatchObject({ mode: "ask", rules: [] });
  expect(await t.store.read(readSession, { id: child.id })).toMatchObject({ repo_path: folder });
  // sent once more it changes nothing, and a mode beside it counts in the new folder
  await client.patchSession(id, { permission: "edits" });
  await client.patchSession(id, { repo_path: folder });
  expect(await t.store.read(readPermissions, { id })).toMatchObject({ mode: "edits" });
  await client.patchSession(id, { repo_path: "/nowhere", permission: "edits" });
  expect(await client.getSession(id)).toMatchObject({
    permission: "edits",
    project_key: made.project_key,
    project_id: null,
  });
});

it("[HTTP-377] refuses a move that cannot be, and stores nothing of the request", async () => {
  const { id } = await client.createSession({ repo_path: "/nowhere" });
  const child = await t.store.write(createSession, {
    parent_session_id: id,
    repo_path: "/nowhere",
  });
  const move = { name: "x", repo_path: "/elsewhere" };
  expect(await refusal(child.id, move)).toEqual([422, "invalid_request", "/repo_path"]);
  expect((await t.call("PATCH", `/api/sessions/${id}`, { body: move })).status).toBe(401);
  const { n } = await client.queueExchange(id, "waits");
  expect(await refusal(id, move)).toEqual([409, "session_busy"]);
  await client.withdrawExchange(id, n);
  const waiting = await waitingSession(t.store, null);
  await client.patchSession(waiting.id, { repo_path: "/nowhere" });
  expect(await refusal(waiting.id, move)).toEqual([409, "session_busy"]);
  expect(await client.getSession(id)).toMatchObject({ name: null, repo_path: "/nowhere" });
  await client.endSession(id);
  expect(await refusal(id, move)).toEqual([409, "session_ended"]);
  expect(await refusal("nosuchsession", move)).toEqual([404, "session_not_found"]);
});
