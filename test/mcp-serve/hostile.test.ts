import { setTimeout as sleep } from "node:timers/promises";

import { describe, expect, it } from "vitest";

import { sessionWith, startMcpService, TOKEN } from "../helpers/mcp-serve.ts";
import { request, startTestServer } from "../helpers/server.ts";

const HEADERS = {
  authorization: `Bearer ${TOKEN}`,
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
};

const CALL = (name: string, args: unknown, id: unknown = 1) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: args },
});

/** The JSON-RPC message of an answer, in either form. */
function messageOf(text: string): Record<string, unknown> {
  const json = /^data: (.*)$/m.exec(text)?.[1] ?? text;
  return JSON.parse(json) as Record<string, unknown>;
}

describe("/mcp", () => {
  it("[SERVE-15] passes the gate first: token, Host, Origin, method, type, size", async () => {
    const t = await startMcpService();
    const list = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
    const post = (headers: Record<string, string>, body = list) =>
      request(t.url, {
        method: "POST",
        path: "/mcp",
        headers: { ...HEADERS, host: new URL(t.url).host, ...headers },
        body,
      });
    expect((await post({})).status).toBe(200);
    for (const [headers, status, code] of [
      [{ authorization: "Bearer wrong" }, 401, "unauthorized"],
      [{ authorization: "" }, 401, "unauthorized"],
      [{ host: "evil.example" }, 403, "host_refused"],
      [{ origin: "http://evil.example" }, 403, "origin_refused"],
      [{ "content-type": "text/plain" }, 415, "unsupported_media_type"],
    ] as const) {
      const answer = await post(headers);
      expect({ status: answer.status, code: answer.json.code }).toEqual({ status, code });
    }
    for (const method of ["GET", "DELETE", "PUT"]) {
      const answer = await t.call(method, "/mcp", { headers: HEADERS });
      expect(answer.status, method).toBe(405);
    }
    expect((await t.call("POST", "/mcp", { headers: HEADERS, body: "{" })).json).toMatchObject({
      code: "malformed_json",
    });
    const large = JSON.stringify(CALL("session_search", { q: "x".repeat(7 * 1024 * 1024) }));
    expect((await t.call("POST", "/mcp", { headers: HEADERS, body: large })).status).toBe(413);
    const many = JSON.stringify(CALL("sessions_list", { title: Array.from({ length: 20_000 }) }));
    expect((await t.call("POST", "/mcp", { headers: HEADERS, body: many })).status).toBe(422);
  });

  it("[SERVE-25] quotes neither headers nor the body in a refusal", async () => {
    const t = await startMcpService();
    const mark = "a-mark-of-the-client";
    const meta = (version: string) => ({
      "io.modelcontextprotocol/protocolVersion": version,
      "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": {},
    });
    const list = (params: object) => ({ jsonrpc: "2.0", id: 1, method: "tools/list", params });
    const now = { "mcp-protocol-version": "2026-07-28" };
    const cases: readonly [headers: Record<string, string>, body: object, code: number][] = [
      [{ "mcp-protocol-version": mark }, list({}), -32_602],
      [{ "mcp-protocol-version": mark }, { ...list({}), method: "initialize" }, -32_020],
      [{}, list({ _meta: meta(mark) }), -32_022],
      [now, list({ _meta: meta(mark) }), -32_020],
      [{ ...now, "mcp-method": mark }, list({ _meta: meta("2026-07-28") }), -32_020],
      [
        { ...now, "mcp-method": "tools/call", "mcp-name": mark },
        { ...CALL(mark, {}), params: { name: "x", _meta: meta("2026-07-28") } },
        -32_020,
      ],
    ];
    for (const [headers, body, code] of cases) {
      const answer = await t.call("POST", "/mcp", { headers: { ...HEADERS, ...headers }, body });
      expect(answer.status, answer.text).toBe(400);
      expect(answer.text).not.toContain(mark);
      expect(answer.json).toMatchObject({ id: 1, error: { code } });
    }
    const unsupported = await t.call("POST", "/mcp", {
      headers: HEADERS,
      body: list({ _meta: meta("2020-01-01") }),
    });
    // a client chooses another version by it
    expect(unsupported.json).toMatchObject({
      error: { data: { supported: ["2026-07-28"], requested: "2020-01-01" } },
    });
  });

  it("[HTTP-394] is not there in a service that a program starts", async () => {
    await using t = await startTestServer();
    const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    expect(await t.call("POST", "/mcp", { body: list })).toMatchObject({
      status: 404,
      json: { code: "route_not_found" },
    });
  });

  it("[SERVE-16] answers batches, wrong messages and unknown methods with errors of the protocol", async () => {
    const t = await startMcpService({ mayWrite: true });
    const id = await sessionWith(t.store, ["hello"]);
    const bodies: readonly unknown[] = [
      null,
      5,
      "text",
      [],
      {},
      { jsonrpc: "1.0", id: 1, method: "tools/list" },
      { jsonrpc: "2.0", id: {}, method: "tools/list" },
      { jsonrpc: "2.0", id: 1, method: 7 },
      { jsonrpc: "2.0", id: 1, method: "no/such" },
      { jsonrpc: "2.0", id: 1, method: "tools/call" },
      { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: ["x"], arguments: [] } },
      CALL("no_such", {}),
      CALL("__proto__", {}),
      CALL("constructor", {}),
      CALL("message_append", "text"),
      Array.from({ length: 50 }, (_, n) => CALL("no_such", {}, n)),
      { jsonrpc: "2.0", id: 1, method: "subscriptions/listen", params: {} },
      { jsonrpc: "2.0", id: 1, method: "resources/list" },
    ];
    for (const body of bodies) {
      const answer = await fetch(`${t.url}/mcp`, {
        method: "POST",
        headers: HEADERS,
        body: JSON.stringify(body),
      });
      const text = await answer.text();
      const shown = JSON.stringify(body).slice(0, 80);
      expect([200, 202, 400], `${shown} ${answer.status}`).toContain(answer.status);
      if (answer.status !== 202) {
        expect(text, shown).toMatch(/"error"|"isError":true|"code"/);
      }
      expect(text, shown).not.toMatch(/at .*\.ts:|node_modules/);
    }
    const polluting = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sessions_list","arguments":{"__proto__":{"limit":1,"polluted":true}},"__proto__":{"polluted":true}}}`;
    await fetch(`${t.url}/mcp`, { method: "POST", headers: HEADERS, body: polluting });
    expect("polluted" in {}).toBe(false);
    const { value } = await t.connect("2026-07-28");
    expect((await value("session_read", { session_id: id })).messages).toHaveLength(1);
    expect(t.log.filter(({ event }) => event === "failure")).toEqual([]);
  });

  it("[SERVE-17] answers 1,000 requests at once, and others meanwhile", async () => {
    const t = await startMcpService();
    const id = await sessionWith(t.store, ["hello"]);
    const body = JSON.stringify(CALL("session_read", { session_id: id }));
    // on a slow machine the service closes connections whose requests it could not read in time
    const sent = await Promise.allSettled(
      Array.from({ length: 1000 }, async () => {
        const answer = await fetch(`${t.url}/mcp`, { method: "POST", headers: HEADERS, body });
        return { status: answer.status, message: messageOf(await answer.text()) };
      }),
    );
    const answers = sent.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
    expect(answers.length).toBeGreaterThan(0);
    expect(answers.filter(({ status }) => status !== 200 && status !== 408)).toEqual([]);
    for (const { status, message } of answers) {
      expect(status === 408 || JSON.stringify(message).includes("hello")).toBe(true);
    }
    expect(t.log.filter(({ event }) => event === "failure")).toEqual([]);
    const { value } = await t.connect("2026-07-28");
    expect((await value("session_read", { session_id: id })).messages).toHaveLength(1);
    expect((await t.call("GET", "/livez")).status).toBe(200);
  });

  it("[SERVE-18] lets 32 calls wait at once, and answers the others at once", async () => {
    const t = await startMcpService({ mayWrite: true });
    const id = await sessionWith(t.store, ["hello"]);
    const { value } = await t.connect("2026-07-28");
    await value("exchange_run", { session_id: id, content: "go" });
    let answered = 0;
    const gone = new AbortController();
    const waiting = Array.from({ length: 40 }, async () => {
      const { client } = await t.connect("2026-07-28");
      const given = { name: "exchange_follow", arguments: { session_id: id, wait_seconds: 50 } };
      await client
        .callTool(given, { signal: gone.signal })
        .then(() => (answered += 1))
        .catch(() => undefined);
    });
    await expect.poll(() => answered).toBe(8);
    // a client that has gone frees its place
    gone.abort();
    await Promise.all(waiting);
    await sleep(0);
    await expect
      .poll(async () => {
        const before = performance.now();
        await value("exchange_follow", { session_id: id, wait_seconds: 1 });
        return performance.now() - before > 900;
      })
      .toBe(true);
  });

  it("[HTTP-395] is counted, logged and described as other routes, without what was sent", async () => {
    const t = await startMcpService();
    const { value } = await t.connect("2026-07-28");
    await value("session_search", { q: "a-secret-word" });
    const lines = t.log.filter(({ event }) => event === "request");
    expect(lines).toContainEqual(
      expect.objectContaining({ method: "POST", route: "/mcp", status: 200 }),
    );
    expect(JSON.stringify(t.log)).not.toContain("a-secret-word");
    const text = await (await fetch(`${t.url}/metrics`, { headers: HEADERS })).text();
    expect(text).toMatch(/route="\/mcp"/);
    expect(text).toMatch(/route="\/api\/search"/);
    const { json } = await t.call<{ paths: object }>("GET", "/openapi.json", { headers: HEADERS });
    expect(Object.keys(json.paths)).toContain("/mcp");
  });
});
