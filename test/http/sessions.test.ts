import { createHash, randomUUID } from "node:crypto";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { NO_USAGE } from "../../src/core/cost/model-calls.ts";
import { costOf } from "../../src/core/cost/cost-fields.ts";
import type { SessionAck, SessionDetail, SessionSummary } from "../../src/core/schemas/schemas.ts";
import { createSession } from "../../src/store/records/sessions/create.ts";
import { readLimits } from "../../src/store/records/sessions/limits.ts";
import { startThread } from "../../src/store/records/sessions/change.ts";
import { projectIdOf } from "../../src/store/project-id.ts";
import { createClient } from "../../src/client/client.ts";
import { startTestServer, type TestServer } from "../helpers/server.ts";
import { temporaryFolder } from "../helpers/temp.ts";

let t: TestServer;
beforeAll(async () => {
  t = await startTestServer();
});
afterAll(() => t[Symbol.asyncDispose]());

const SUMMARY_FIELDS = [
  "id",
  "state",
  "activity",
  "title",
  "name",
  "persona_name",
  "model",
  "agent",
  "repo_path",
  "project_key",
  "project_id",
  "plan_mode",
  "effort",
  "cache",
  "fallback",
  "parent_session_id",
  "depth",
  "total_input_tokens",
  "total_output_tokens",
  "last_seq",
  "created_at",
  "last_message_at",
  "archived_at",
  "pinned_at",
  "ended_at",
  "metadata",
  "exchange",
  "permission",
  "forked_from",
];
const ACK_FIELDS = ["id", "state", "seq", "title", "total_input_tokens", "total_output_tokens"];

function create(body?: unknown) {
  return t.call<SessionSummary>("POST", "/api/sessions", { body });
}

describe("creating", () => {
  it("[HTTP-360] gives a session the id of its folder's repository", async () => {
    const repo = temporaryFolder();
    mkdirSync(join(repo, ".git"));
    writeFileSync(join(repo, ".git/HEAD"), "ref: refs/heads/main\n");
    const remote = '[remote "origin"]\n\turl = git@example.com:ada/engine.git\n';
    writeFileSync(join(repo, ".git/config"), remote);
    const { json } = await create({ repo_path: repo });
    expect(json.project_id).toBe(await projectIdOf(repo));
    expect(json.project_id).not.toBeNull();
    expect((await create({ repo_path: temporaryFolder() })).json.project_id).toBeNull();
  });

  it("[HTTP-1] answers 201 with the summary and its path, and the list has it", async () => {
    const answer = await create({ persona_name: "reviewer" });
    expect(answer.status).toBe(201);
    expect(answer.headers.get("location")).toBe(`/api/sessions/${answer.json.id}`);
    expect(answer.json).toMatchObject({
      state: "active",
      activity: "idle",
      last_seq: 0,
      title: null,
    });
    const list = await t.call<SessionSummary[]>("GET", "/api/sessions");
    expect(list.json.map(({ id }) => id)).toContain(answer.json.id);
    const found = await t.call<SessionDetail>("GET", answer.headers.get("location") ?? "");
    expect(found.json).toEqual({
      ...answer.json,
      ...costOf(NO_USAGE),
      messages: [],
      has_earlier: false,
    });
  });

  it("[HTTP-2] every field is optional, null is absent, and the body may be left out", async () => {
    for (const body of [
      undefined,
      "",
      {},
      { persona_name: null, model_override: null, repo_path: null },
    ]) {
      const answer = await create(body);
      expect(answer.status).toBe(201);
      expect(answer.json).toMatchObject({
        persona_name: null,
        model: null,
        repo_path: null,
        project_key: null,
      });
    }
    const full = await create({ persona_name: "π😀", model_override: "openai:x", repo_path: "/" });
    expect(full.json).toMatchObject({ persona_name: "π😀", model: "openai:x", repo_path: "/" });
  });

  it.each([
    ["token_limits", "tokens"],
    ["price_limits", "prices"],
  ] as const)(
    "[BUDGET-5] [COST-10] a session is created with %s, which its key remembers",
    async (field, kind) => {
      const headers = { "idempotency-key": field };
      const created = (given: unknown) =>
        t.call<SessionDetail>("POST", "/api/sessions", { body: { [field]: given }, headers });
      const limits = { exchange: 1000, tree: 5_000_000 };
      const first = await created(limits);
      expect(first.status).toBe(201);
      expect(await t.store.read(readLimits, first.json)).toMatchObject({ [kind]: limits });
      expect((await created(limits)).json.id).toBe(first.json.id);
      expect((await created({ ...limits, tree: 1 })).json).toMatchObject({
        code: "idempotency_key_reused",
      });
      for (const wrong of [{ exchange: 0 }, { session: 1.5 }, { tree: "5" }, { day: 1 }, 5]) {
        expect((await create({ [field]: wrong })).json).toMatchObject({
          code: "invalid_request",
        });
      }
    },
  );

  it("[HTTP-3] [HTTP-90] the project key is that of the real path, as far as it exists", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "real"));
    symlinkSync(join(folder, "real"), join(folder, "link"));
    const keyOf = async (repo_path: string) => {
      const { json } = await create({ repo_path });
      expect(json.repo_path).toBe(repo_path);
      return json.project_key;
    };
    const expected = (path: string) => createHash("sha256").update(path).digest("hex").slice(0, 16);
    const real = expected(join(folder, "real"));
    expect(await keyOf(join(folder, "real"))).toBe(real);
    expect(await keyOf(`${folder}/real/`)).toBe(real);
    expect(await keyOf(`${folder}/real/../link`)).toBe(real);
    expect(await keyOf(join(folder, "link", "not", "there"))).toBe(
      expected(join(folder, "real", "not", "there")),
    );
  });

  it("[HTTP-58] `..` after a link leads to the parent of the folder that the link points to", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "real", "sub"), { recursive: true });
    symlinkSync(join(folder, "real", "sub"), join(folder, "link"));
    const expected = (path: string) => createHash("sha256").update(path).digest("hex").slice(0, 16);
    for (const [repo_path, real] of [
      [`${folder}/link/..`, join(folder, "real")],
      [`${folder}/link/../sub/`, join(folder, "real", "sub")],
      [`${folder}/link/../not/there/../here`, join(folder, "real", "not", "here")],
      [`${folder}/not/../link/..`, join(folder, "real")],
    ] as const) {
      const { json } = await create({ repo_path });
      expect(json).toMatchObject({ repo_path, project_key: expected(real) });
    }
  });

  it("[HTTP-3] a relative path, an empty one or one with NUL is refused", async () => {
    for (const repo_path of ["here", "", "./x", "/a\0b", "\ud800"]) {
      const answer = await create(`{"repo_path":${JSON.stringify(repo_path)}}`);
      expect(answer.status).toBe(422);
      expect(answer.json).toMatchObject({ code: "invalid_request" });
      expect((answer.json as unknown as { faults: { pointer: string }[] }).faults[0]?.pointer).toBe(
        "/repo_path",
      );
    }
  });

  it("[HTTP-25] answers carry exactly the documented fields", async () => {
    const id = await t.newSession();
    await t.post(id, "x");
    const path = `/api/sessions/${id}`;
    const detail = (await t.call<SessionDetail>("GET", path)).json;
    expect(Object.keys(detail).sort()).toEqual(
      [...SUMMARY_FIELDS, "usage", "cost_micros", "messages", "has_earlier"].sort(),
    );
    expect(Object.keys(detail.messages[0]!).sort()).toEqual(
      [
        "session_id",
        "seq",
        "message_id",
        "call_id",
        "status",
        "role",
        "content",
        "tool_calls",
        "token_count",
        "is_summary",
        "archived",
        "ts",
      ].sort(),
    );
    const [summary] = (await t.call<SessionSummary[]>("GET", "/api/sessions?limit=1")).json;
    expect(Object.keys(summary!).sort()).toEqual([...SUMMARY_FIELDS].sort());
    const ack = (await t.call<SessionAck>("POST", `${path}/end`)).json;
    expect(Object.keys(ack).sort()).toEqual([...ACK_FIELDS].sort());
  });
});

describe("listing sessions", () => {
  it("[HTTP-4] is a bare array, latest activity first", async () => {
    await using t = await startTestServer();
    const empty = await t.call("GET", "/api/sessions");
    expect(empty.status).toBe(200);
    expect(empty.json).toEqual([]);
    const first = await t.newSession();
    const second = await t.newSession();
    await t.post(first, "now I am the latest");
    const list = await t.call<SessionSummary[]>("GET", "/api/sessions");
    expect(list.json.map(({ id }) => id)).toEqual([first, second]);
  });

  it("[HTTP-5] limit, state and project_key choose, and 50 is the default", async () => {
    await using t = await startTestServer();
    const ids: string[] = [];
    for (let index = 0; index < 60; index += 1) {
      ids.push(await t.newSession());
    }
    const ended = ids[7]!;
    await t.call("POST", `/api/sessions/${ended}/end`);
    const made = await t.call<SessionSummary>("POST", "/api/sessions", {
      body: { repo_path: "/" },
    });
    const list = async (query: string) =>
      (await t.call<SessionSummary[]>("GET", `/api/sessions${query}`)).json.map(({ id }) => id);
    expect(await list("")).toHaveLength(50);
    expect(await list("?limit=200")).toHaveLength(61);
    expect(await list("?limit=1")).toHaveLength(1);
    expect(await list("?state=ended")).toEqual([ended]);
    expect(await list("?state=active&limit=200")).toHaveLength(60);
    expect(await list(`?project_key=${made.json.project_key}`)).toEqual([made.json.id]);
    expect(await list("?project_key=0000000000000000")).toEqual([]);
    for (const query of [
      "limit=0",
      "limit=201",
      "limit=1.5",
      "limit=",
      "limit=1e1",
      "limit=0x5",
      "limit=%2B5",
      "state=open",
      "state=",
      "project_key=x",
    ]) {
      expect((await t.call("GET", `/api/sessions?${query}`)).status, query).toBe(422);
    }
  });

  it("[HTTP-6] following the links gives every session once and keeps the other parameters", async () => {
    await using t = await startTestServer();
    const ids = new Set<string>();
    for (let index = 0; index < 23; index += 1) {
      ids.add(await t.newSession());
    }
    const seen: string[] = [];
    let pages = 0;
    let next: string | null = "/api/sessions?limit=5&state=active";
    while (next !== null) {
      const answer: { headers: Headers; json: SessionSummary[] } = await t.call<SessionSummary[]>(
        "GET",
        next,
      );
      seen.push(...answer.json.map(({ id }) => id));
      pages += 1;
      const link: string | null = answer.headers.get("link");
      next =
        link === null
          ? null
          : (/^<(\/api\/sessions\?[^>]+)>; rel="next"$/.exec(link)?.[1] ?? "bad");
      if (next !== null) {
        const query = new URLSearchParams(next.split("?")[1]);
        expect(query.get("limit")).toBe("5");
        expect(query.get("state")).toBe("active");
      }
    }
    expect(pages).toBe(5);
    expect(seen).toHaveLength(23);
    expect(new Set(seen)).toEqual(ids);
  });

  it("[HTTP-77] order=created begins with the oldest session, whatever got a message since", async () => {
    await using t = await startTestServer();
    const ids = [await t.newSession(), await t.newSession(), await t.newSession()];
    await t.post(ids[0]!, "later activity");
    const first = await t.call<SessionSummary[]>("GET", "/api/sessions?limit=2&order=created");
    const next = /^<([^>]+)>; rel="next"$/.exec(first.headers.get("link") ?? "")?.[1] ?? "";
    const second = await t.call<SessionSummary[]>("GET", next);
    expect([...first.json, ...second.json].map(({ id }) => id)).toEqual(ids);
    const paged = await createClient({ baseUrl: t.url }).listSessions({ order: "created" });
    expect(paged.sessions.map(({ id }) => id)).toEqual(ids);
  });

  it("[HTTP-77] [HTTP-92] a cursor of one order is refused with the other", async () => {
    for (const [order, other] of [
      ["created", "activity"],
      ["activity", "created"],
    ]) {
      await Promise.all([t.newSession(), t.newSession()]);
      const { headers } = await t.call("GET", `/api/sessions?limit=1&order=${order}`);
      const next = /^<([^>]+)>/.exec(headers.get("link") ?? "")?.[1] ?? "";
      expect((await t.call("GET", next)).status).toBe(200);
      const wrong = await t.call("GET", next.replace(`order=${order}`, `order=${other}`));
      expect(wrong.status).toBe(422);
      expect(wrong.json).toMatchObject({ faults: [{ pointer: "/cursor" }] });
    }
    expect((await t.call("GET", "/api/sessions?order=title")).status).toBe(422);
  });

  it("[HTTP-6] [HTTP-91] a cursor that the service did not make is refused", async () => {
    const cursors = [
      "x",
      "%00",
      "",
      "e30",
      Buffer.from('["a"]').toString("base64url"),
      Buffer.from("[1,2]").toString("base64url"),
      Buffer.from('["a","b\\u0000"]').toString("base64url"),
      "a".repeat(401),
    ];
    for (const cursor of cursors) {
      const answer = await t.call("GET", `/api/sessions?cursor=${cursor}`);
      expect(answer.status, cursor).toBe(422);
      expect(answer.json).toMatchObject({
        code: "invalid_request",
        faults: [{ pointer: "/cursor" }],
      });
    }
  });
});

describe("reading a session", () => {
  it("[HTTP-7] shows the last 200 messages, and before_seq the ones before", async () => {
    const id = await t.newSession();
    for (let index = 1; index <= 201; index += 1) {
      await t.post(id, `message ${index}`);
    }
    const last = (await t.call<SessionDetail>("GET", `/api/sessions/${id}`)).json;
    expect(last.messages.map(({ seq }) => seq)).toEqual(
      Array.from({ length: 200 }, (_, i) => i + 2),
    );
    expect(last.has_earlier).toBe(true);
    expect(last.last_seq).toBe(201);
    const before = (await t.call<SessionDetail>("GET", `/api/sessions/${id}?before_seq=2`)).json;
    expect(before.messages.map(({ content }) => content)).toEqual(["message 1"]);
    expect(before.has_earlier).toBe(false);
    for (const query of [
      "before_seq=0",
      "before_seq=-1",
      "before_seq=x",
      "all=1",
      "all=TRUE",
      "all=",
    ]) {
      expect((await t.call("GET", `/api/sessions/${id}?${query}`)).status, query).toBe(422);
    }
  });

  it("[HTTP-8] shows archived messages only with all=true", async () => {
    const id = await t.newSession();
    await t.post(id, "old");
    await t.store.write(startThread, { id, archive: true });
    await t.post(id, "new");
    const read = async (query: string) =>
      (await t.call<SessionDetail>("GET", `/api/sessions/${id}${query}`)).json.messages.map(
        ({ content, archived }) => ({ content, archived }),
      );
    const fresh = { content: "new", archived: false };
    expect(await read("")).toEqual([fresh]);
    expect(await read("?all=false")).toEqual([fresh]);
    expect(await read("?all=true")).toEqual([{ content: "old", archived: true }, fresh]);
  });
});

describe("ending a session", () => {
  it("[HTTP-16] a session is ended once, and ending it again changes nothing", async () => {
    const id = await t.newSession();
    await t.post(id, "hello");
    const first = await t.call<SessionAck>("POST", `/api/sessions/${id}/end`);
    expect(first.status).toBe(200);
    expect(first.json).toMatchObject({ id, state: "ended", seq: 1, title: "hello" });
    const after = (await t.call<SessionDetail>("GET", `/api/sessions/${id}`)).json;
    const again = await t.call("POST", `/api/sessions/${id}/end`, { body: {} });
    expect(again.status).toBe(200);
    expect(again.json).toEqual(first.json);
    expect((await t.call("GET", `/api/sessions/${id}`)).json).toEqual(after);
    expect(after.ended_at).not.toBeNull();
  });

  it("[HTTP-16] [HTTP-96] accepts no body but an empty object", async () => {
    const id = await t.newSession();
    for (const body of [{ why: "x" }, [], "null", "1"]) {
      expect((await t.call("POST", `/api/sessions/${id}/end`, { body })).status).toBe(422);
    }
    expect((await t.call<SessionDetail>("GET", `/api/sessions/${id}`)).json.state).toBe("active");
  });
});

describe("ids of sessions", () => {
  const calls = (id: string) =>
    [
      ["GET", `/api/sessions/${id}`, undefined],
      ["POST", `/api/sessions/${id}/messages`, { content: "x" }],
      ["GET", `/api/sessions/${id}/stream`, undefined],
      ["POST", `/api/sessions/${id}/end`, undefined],
    ] as const;

  it("[HTTP-17] an unknown id is 404 on every call", async () => {
    for (const [method, path, body] of calls(randomUUID())) {
      const answer = await t.call(method, path, { body });
      expect(answer.status, path).toBe(404);
      expect(answer.json).toMatchObject({ code: "session_not_found", status: 404 });
    }
  });

  it("[HTTP-18] a prefix of 6 characters is enough on every call; upper case too", async () => {
    const id = await t.newSession();
    await t.post(id, "first");
    const prefix = id.slice(0, 6).toUpperCase();
    expect((await t.call<SessionDetail>("GET", `/api/sessions/${prefix}`)).json.id).toBe(id);
    const posted = await t.call<SessionAck>("POST", `/api/sessions/${prefix}/messages`, {
      body: { content: "x" },
    });
    expect(posted.json).toMatchObject({ id, seq: 2 });
    expect((await t.call<SessionAck>("POST", `/api/sessions/${prefix}/end`)).json.id).toBe(id);
    expect((await t.call("GET", `/api/sessions/${prefix}/stream?last_seq=2`)).status).toBe(204);
  });

  it("[HTTP-18] [HTTP-97] a prefix of several ids lists them on every call and changes nothing", async () => {
    const ids = ["1", "2"].map((last) => `abcdef00-0000-4000-8000-00000000000${last}`);
    for (const id of ids) {
      await t.store.write(createSession, { id });
    }
    for (const [method, path, body] of calls("abcdef")) {
      const answer = await t.call<{ candidates: { id: string }[] }>(method, path, { body });
      expect(answer.status, path).toBe(409);
      expect(answer.json).toMatchObject({ code: "ambiguous_id" });
      expect(answer.json.candidates.map(({ id }) => id).sort()).toEqual(ids);
    }
    for (const id of ids) {
      const { json } = await t.call<SessionDetail>("GET", `/api/sessions/${id}`);
      expect(json).toMatchObject({ state: "active", last_seq: 0 });
    }
  });

  it("[HTTP-65] a creation repeated with its Idempotency-Key gives the same session", async () => {
    const create = (body: unknown, key = "k-1") =>
      t.call<SessionDetail>("POST", "/api/sessions", {
        body,
        headers: { "idempotency-key": key },
      });
    const before = (await t.call<unknown[]>("GET", "/api/sessions?limit=200")).json.length;
    const first = await create({ model_override: "demo" });
    const again = await create({ model_override: "demo", persona_name: null });
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.json).toEqual(first.json);
    expect(again.headers.get("location")).toBe(`/api/sessions/${first.json.id}`);
    const other = await create({ model_override: "openai:x" });
    expect(other.status).toBe(422);
    expect(other.json).toMatchObject({ code: "idempotency_key_reused" });
    expect((await create({ model_override: "demo" }, "k-2")).json.id).not.toBe(first.json.id);
    expect((await t.call<unknown[]>("GET", "/api/sessions?limit=200")).json).toHaveLength(
      before + 2,
    );
    const refused = await create({}, "a b");
    expect(refused.status).toBe(422);
    expect(refused.json).toMatchObject({ faults: [{ pointer: "/idempotency-key" }] });
  });

  it("[HTTP-18] [HTTP-98] an id that is too short, empty or a wildcard is 404", async () => {
    const id = await t.newSession();
    for (const text of [id.slice(0, 5), "", `${id.slice(0, 8)}%25`]) {
      expect((await t.call("GET", `/api/sessions/${text}/stream`)).status, text).toBe(404);
    }
  });
});
