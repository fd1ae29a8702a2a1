import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { RepriseError } from "../../src/core/errors.ts";
import type { SessionDetail } from "../../src/core/schemas/schemas.ts";
import type { Store } from "../../src/store/store.ts";
import { startTestServer, type TestServer } from "../helpers/server.ts";

let t: TestServer;
let id: string;
beforeAll(async () => {
  t = await startTestServer();
  id = await t.newSession();
});
afterAll(() => t[Symbol.asyncDispose]());

interface Refusal {
  readonly code: string;
  readonly faults: readonly { readonly pointer: string; readonly message: string }[];
}

describe("problems", () => {
  it("[HTTP-19] are RFC 9457 and never repeat what was sent", async () => {
    const secret = "s3cr3t-value";
    const answers = await Promise.all([
      t.call("POST", "/api/sessions", { body: { [secret]: secret, persona_name: [secret] } }),
      t.call("POST", "/api/sessions", { body: `{"${secret}"` }),
      t.call("GET", `/api/sessions?${secret}=${secret}&limit=${secret}&state=${secret}`),
      t.call("GET", `/api/sessions?cursor=${secret}`),
      t.call("GET", `/api/sessions/${secret}`),
      t.call("GET", `/api/${secret}?${secret}`),
      t.call("GET", `/api/sessions/${id}/stream`, { headers: { "last-event-id": secret } }),
      t.call("DELETE", `/api/sessions/${id}?${secret}`),
      t.call("GET", `/%zz${secret}`),
      t.call("GET", `/api/sessions/${secret.repeat(100)}`),
    ]);
    for (const { status, headers, json, text } of answers) {
      expect(status).toBeGreaterThanOrEqual(400);
      expect(headers.get("content-type")).toMatch(/^application\/problem\+json/);
      expect(json).toMatchObject({
        type: "about:blank",
        title: expect.any(String),
        status,
        code: expect.stringMatching(/^[a-z_]+$/),
        detail: expect.stringMatching(/^[A-Z].*\.$/),
      });
      expect(text).not.toContain(secret);
    }
  });

  it("[HTTP-20] [HTTP-99] list every error of a body with its JSON pointer", async () => {
    const answer = await t.call<Refusal>("POST", "/api/sessions", {
      body: { persona_name: 5, model_override: "", repo_path: "relative", extra: 1, another: 2 },
    });
    expect(answer.status).toBe(422);
    expect(answer.json.code).toBe("invalid_request");
    expect(answer.json.faults.map(({ pointer }) => pointer).sort()).toEqual([
      "",
      "/model_override",
      "/persona_name",
      "/repo_path",
    ]);
  });

  it("[HTTP-20] nothing is converted, dropped or guessed", async () => {
    const path = `/api/sessions/${id}/messages`;
    const bodies = [
      { content: 5 },
      { content: true },
      { content: null },
      { content: ["x"] },
      {},
      [],
      "null",
      '"text"',
      { content: "x", role: "system" },
      '{"content":"x","__proto__":{"a":1}}',
      '{"content":"x","constructor":{"prototype":{"a":1}}}',
    ];
    for (const body of [...bodies, undefined]) {
      const answer = await t.call<Refusal>("POST", path, { body });
      expect(answer.status, JSON.stringify(body)).toBe(422);
      expect(answer.json.faults).toHaveLength(1);
    }
    const { json } = await t.call<SessionDetail>("GET", `/api/sessions/${id}`);
    expect(json.last_seq).toBe(0);
  });

  it("[HTTP-20] [HTTP-99] list at most 20 errors", async () => {
    const query = Array.from({ length: 4 }, (_, index) => `limit=${index}&state=x`).join("&");
    const answer = await t.call<Refusal>("GET", `/api/sessions?${query}`);
    expect(answer.json.faults.map(({ pointer }) => pointer).sort()).toEqual(["/limit", "/state"]);
    const flood = Object.fromEntries(Array.from({ length: 2000 }, (_, index) => [`f${index}`, 1]));
    const many = await t.call<Refusal>("POST", "/api/sessions", { body: flood });
    expect(many.status).toBe(422);
    expect(many.json.faults).toHaveLength(1);
  });

  it("[HTTP-21] unknown and repeated query parameters are refused, also if a path takes none", async () => {
    const refused = [
      ["GET", "/api/sessions?limit=1&limit=1"],
      ["GET", "/api/sessions?page=2"],
      ["GET", "/api/sessions?__proto__=1"],
      ["GET", `/api/sessions/${id}?limit=1`],
      ["GET", `/api/sessions/${id}?all=true&all=true`],
      ["GET", `/api/sessions/${id}/stream?all=yes`],
      ["GET", `/api/sessions/${id}/stream?since=1`],
      ["POST", "/api/sessions?x=1"],
      ["POST", `/api/sessions/${id}/end?x=1`],
    ] as const;
    for (const [method, path] of refused) {
      const answer = await t.call<Refusal>(method, path);
      expect(answer.status, path).toBe(422);
      expect(answer.json.code).toBe("invalid_request");
    }
    const posted = await t.call("POST", `/api/sessions/${id}/messages?x=1`, {
      body: { content: "x" },
    });
    expect(posted.status).toBe(422);
  });
});

describe("request bodies", () => {
  it("[HTTP-22] that are not JSON in UTF-8 are 400", async () => {
    const path = `/api/sessions/${id}/messages`;
    const latin1 = Buffer.from('{"content":"caf\xe9"}', "latin1");
    for (const body of ["{", "{'content':'x'}", '{"content":"x"} x', "undefined", latin1]) {
      const answer = await t.call<Refusal>("POST", path, { body });
      expect(answer.status).toBe(400);
      expect(answer.json.code).toBe("malformed_json");
    }
  });

  it("[HTTP-22] [HTTP-100] of another Content-Type are 415", async () => {
    const path = `/api/sessions/${id}/messages`;
    const types = [
      "text/plain",
      "application/x-www-form-urlencoded",
      "application/jsonx",
      "x",
      "application/json; charset=latin1",
    ];
    for (const type of types) {
      const answer = await t.call<Refusal>("POST", path, {
        body: '{"content":"x"}',
        headers: { "content-type": type },
      });
      expect(answer.status, type).toBe(415);
      expect(answer.json.code).toBe("unsupported_media_type");
    }
    const utf8 = await t.call("POST", path, {
      body: '{"content":"x"}',
      headers: { "content-type": 'Application/JSON; charset="UTF-8"' },
    });
    expect(utf8.status).toBe(201);
  });
});

describe("paths and methods", () => {
  it("[HTTP-23] a method that the path does not take is 405 with Allow", async () => {
    const expected = [
      ["DELETE", "/api/sessions", "GET, HEAD, POST"],
      ["POST", `/api/sessions/${id}`, "DELETE, GET, HEAD, PATCH"],
      ["GET", `/api/sessions/${id}/end`, "POST"],
      ["HEAD", `/api/sessions/${id}/end`, "POST"],
      ["PUT", `/api/sessions/${id}/messages`, "GET, HEAD, POST"],
      ["POST", `/api/sessions/${id}/stream`, "GET, HEAD"],
      ["OPTIONS", "/api/sessions", "GET, HEAD, POST"],
      ["PUT", "/livez", "GET, HEAD"],
    ] as const;
    for (const [method, path, allow] of expected) {
      const answer = await t.call<Refusal>(method, path);
      expect(answer.status, `${method} ${path}`).toBe(405);
      expect(answer.headers.get("allow")).toBe(allow);
    }
    const withBody = await t.call<Refusal>("PATCH", "/api/sessions", { body: "not JSON" });
    expect(withBody.json.code).toBe("method_not_allowed");
  });

  it("[HTTP-23] [HTTP-101] every other path is 404", async () => {
    for (const path of [
      "/",
      "/api",
      "/api/session",
      `/api/sessions/${id}/x`,
      "/api/sessions/a/b/c",
      "/api//sessions",
      "/API/sessions",
      "/../etc/passwd",
      "/%zz",
    ]) {
      const answer = await t.call<Refusal>("GET", path);
      expect(answer.status, path).toBe(404);
      expect(answer.json.code).toBe("route_not_found");
    }
    const posted = await t.call<Refusal>("POST", "/nowhere", { body: "not JSON" });
    expect(posted.json.code).toBe("route_not_found");
  });

  it("[HTTP-17] [HTTP-75] an id that cannot be decoded, or of any length, is an unknown session", async () => {
    for (const id of ["%zz", "%ff", "%", "a".repeat(300), "%61".repeat(4000), "a".repeat(12_000)]) {
      const logged = t.log.length;
      const answer = await t.call<Refusal>("GET", `/api/sessions/${id}`);
      expect([answer.status, answer.json.code], id.slice(0, 9)).toEqual([404, "session_not_found"]);
      await expect.poll(() => t.log.length).toBe(logged + 1);
      expect(t.log.at(-1)).toMatchObject({
        event: "request",
        id: answer.headers.get("x-request-id"),
        route: "/api/sessions/:id",
        status: 404,
      });
    }
  });

  it("[HTTP-17] an unknown id is 404 whatever else is wrong with the request", async () => {
    const unknown = "/api/sessions/00000000-0000-4000-8000-000000000000";
    const json = { "content-type": "application/json" };
    const calls = [
      ["POST", "/messages", { body: {} }],
      ["POST", "/messages", { body: "no JSON" }],
      ["POST", "/messages", { body: "x", headers: { "content-type": "text/plain" } }],
      ["POST", "/messages", { body: { content: "x".repeat(2 * 1024 * 1024) } }],
      ["POST", "/messages", { body: { content: "x" }, headers: { "idempotency-key": "\t" } }],
      ["POST", "/messages?x=1", { body: { content: "x" } }],
      ["POST", "/end", { body: { x: 1 } }],
      ["GET", "?limit=1", {}],
      ["GET", "/stream?last_seq=x", {}],
      ["GET", "/stream", { headers: { "last-event-id": "x" } }],
    ] as const;
    for (const [method, rest, call] of calls) {
      const headers = { ...json, ...("headers" in call ? call.headers : {}) };
      const answer = await t.call<Refusal>(method, `${unknown}${rest}`, { ...call, headers });
      expect([answer.status, answer.json.code], `${method} ${rest}`).toEqual([
        404,
        "session_not_found",
      ]);
      // of a session that exists, the same request is judged
      const judged = await t.call(method, `/api/sessions/${id}${rest}`, { ...call, headers });
      expect([400, 413, 415, 422], `${method} ${rest}`).toContain(judged.status);
    }
  });

  it("[HTTP-21] the paths that describe the service take no query", async () => {
    for (const path of ["/livez", "/readyz", "/openapi.json", "/metrics"]) {
      const answer = await t.call<Refusal>("GET", `${path}?x=1`);
      expect([answer.status, answer.json.code], path).toEqual([422, "invalid_request"]);
    }
  });

  it("[HTTP-24] HEAD of a stream has no length, and is 204 if GET is", async () => {
    const ended = await t.newSession();
    await t.post(ended, "x");
    const path = `/api/sessions/${ended}/stream`;
    const head = await t.call("HEAD", path);
    expect([head.status, head.headers.get("content-length")]).toEqual([200, null]);
    expect(head.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
    await t.call("POST", `/api/sessions/${ended}/end`);
    expect((await t.call("HEAD", path)).status).toBe(200);
    expect((await t.call("HEAD", `${path}?last_seq=1`)).status).toBe(204);
    expect((await t.call("GET", `${path}?last_seq=1`)).status).toBe(204);
  });

  it("[HTTP-24] HEAD answers as GET does, without a body", async () => {
    for (const path of [
      "/api/sessions",
      `/api/sessions/${id}`,
      `/api/sessions/${id}/stream`,
      "/livez",
      "/readyz",
      "/openapi.json",
    ]) {
      const answer = await t.call("HEAD", path);
      expect([answer.status, answer.text], path).toEqual([200, ""]);
    }
    const stream = await t.call("HEAD", `/api/sessions/${id}/stream`);
    expect(stream.headers.get("content-type")).toMatch(/^text\/event-stream/);
    expect((await t.call("HEAD", "/api/sessions/ffffffffff/stream")).status).toBe(404);
    expect(t.server.app.streams.open).toBe(0);
  });

  it("[HTTP-26] every answer has its id and forbids sniffing and storing", async () => {
    const ids = new Set<string | null>();
    for (const path of ["/api/sessions", "/api/sessions/x", "/nowhere", "/%zz", "/livez"]) {
      const { headers } = await t.call("GET", path, { headers: { "x-request-id": "mine" } });
      ids.add(headers.get("x-request-id"));
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("cache-control")).toBe("no-store");
    }
    expect(ids.size).toBe(5);
    expect([...ids].every((each) => /^[0-9a-f-]{36}$/.test(each ?? ""))).toBe(true);
  });
});

describe("failures of the service", () => {
  /** A real store whose reads fail: no disk can be made to fail in a test for everyone. */
  function failing(store: Store, error: Error): Store {
    return { ...store, read: () => Promise.reject(error), write: () => Promise.reject(error) };
  }

  it("[HTTP-27] [HTTP-57] [HTTP-114] an unreachable database is 503 with code and Retry-After; the log says why", async () => {
    for (const code of [
      "database_locked",
      "database_full",
      "database_readonly",
      "database_unavailable",
    ] as const) {
      const cause = Object.assign(new Error("secret of the database"), { code: "28P01" });
      const error = new RepriseError(code, "The database cannot be used; try again.", { cause });
      await using broken = await startTestServer({ store: failing(t.store, error) });
      for (const [method, path] of [
        ["GET", "/api/sessions"],
        ["POST", "/api/sessions"],
        ["GET", `/api/sessions/${id}/stream`],
      ] as const) {
        const answer = await broken.call<Refusal>(method, path);
        expect(answer.status).toBe(503);
        expect(answer.json.code).toBe(code);
        expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
      }
      expect(broken.server.app.streams.watched).toBe(0);
      // who is called at night must not have to guess
      const failures = broken.log.filter(({ event }) => event === "failure");
      expect(failures).toHaveLength(3);
      for (const failure of failures) {
        expect(failure).toMatchObject({ code, reason: error.message, cause: "28P01" });
      }
      expect(JSON.stringify(broken.log)).not.toContain("secret");
    }
  });

  it("[HTTP-27] [HTTP-102] any other failure is 500 without details, and the log has the reason", async () => {
    const error = new TypeError("secret of the database");
    await using broken = await startTestServer({ store: failing(t.store, error) });
    const answer = await broken.call<Refusal>("GET", "/api/sessions");
    expect(answer.status).toBe(500);
    expect(answer.json.code).toBe("internal");
    expect(answer.text).not.toContain("secret");
    const failure = broken.log.find(({ event }) => event === "failure");
    expect(failure).toMatchObject({ id: answer.headers.get("x-request-id"), error: "TypeError" });
    expect(JSON.stringify(broken.log)).not.toContain("secret");
  });
});
