import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startServer } from "../../src/http/serve.ts";
import { request, startTestServer, type TestServer } from "../helpers/server.ts";

const PAGE = "http://localhost:5173";
const token = "correct-horse";

let t: TestServer;
let host: string;
beforeAll(async () => {
  t = await startTestServer({ token, allowOrigins: [PAGE, "https://app.example"] });
  ({ host } = new URL(t.url));
});
afterAll(() => t[Symbol.asyncDispose]());

const preflight = (origin: string, path = "/api/sessions") =>
  request(t.url, {
    method: "OPTIONS",
    path,
    headers: {
      host,
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": "authorization,content-type,idempotency-key",
      "sec-fetch-site": "cross-site",
    },
  });

describe("pages of other origins", () => {
  it("[HTTP-81] preflights of allowed origins are answered without a token", async () => {
    for (const origin of [PAGE, "https://app.example"]) {
      const { status, headers, text } = await preflight(origin);
      expect([status, text]).toEqual([204, ""]);
      expect(headers.get("access-control-allow-origin")).toBe(origin);
      expect(headers.get("access-control-allow-methods")).toMatch(/GET.*POST.*PATCH.*DELETE/);
      const allowed = headers.get("access-control-allow-headers")?.toLowerCase() ?? "";
      const names = ["authorization", "content-type", "idempotency-key", "if-match"];
      for (const name of [...names, "last-event-id"]) {
        expect(allowed).toContain(name);
      }
    }
  });

  it("[HTTP-396] a preflight allows the headers of MCP clients", async () => {
    const { status, headers } = await preflight(PAGE, "/mcp");
    expect(status).toBe(204);
    const allowed = headers.get("access-control-allow-headers")?.toLowerCase().split(", ") ?? [];
    for (const name of ["protocol-version", "method", "name", "session-id"]) {
      expect(allowed).toContain(`mcp-${name}`);
    }
  });

  it("[HTTP-81] pages of allowed origins may read answers, with a token only", async () => {
    const call = (headers: Record<string, string>) =>
      request(t.url, {
        path: "/api/sessions",
        headers: { host, origin: PAGE, "sec-fetch-site": "cross-site", ...headers },
      });
    const answer = await call({ authorization: `Bearer ${token}` });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("access-control-allow-origin")).toBe(PAGE);
    expect(answer.headers.get("access-control-expose-headers")).toMatch(/Link.*Location/);
    expect(answer.headers.get("vary")).toMatch(/origin/i);
    expect((await call({})).status).toBe(401);
    const id = await t.newSession();
    await t.call("POST", `/api/sessions/${id}/end`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const stream = await request(t.url, {
      path: `/api/sessions/${id}/stream`,
      headers: { host, origin: PAGE, authorization: `Bearer ${token}` },
    });
    expect(stream.status).toBe(204);
    expect(stream.headers.get("access-control-allow-origin")).toBe(PAGE);
  });

  it("[HTTP-81] [HTTP-109] other origins are refused, preflights included, and no allowed origin is named", async () => {
    for (const origin of [
      "http://evil.example",
      "http://localhost:5174",
      "https://localhost:5173",
      `${PAGE}/`,
      `${PAGE}.evil.example`,
      "null",
    ]) {
      const { status, headers } = await preflight(origin);
      expect(status, origin).toBe(403);
      expect(headers.get("access-control-allow-origin")).toBeNull();
      const read = await request(t.url, {
        path: "/api/sessions",
        headers: { host, origin, authorization: `Bearer ${token}` },
      });
      expect(read.json.code, origin).toBe("origin_refused");
    }
    // a page of an allowed origin that sends no Origin is not known to be one
    const image = await request(t.url, {
      path: "/livez",
      headers: { host, "sec-fetch-site": "cross-site" },
    });
    expect(image.status).toBe(403);
  });

  it("[HTTP-37] [HTTP-81] a preflight for another host is refused", async () => {
    const answer = await request(t.url, {
      method: "OPTIONS",
      path: "/api/sessions",
      headers: { host: "evil.example", origin: PAGE, "access-control-request-method": "GET" },
    });
    expect(answer.json.code).toBe("host_refused");
  });

  it("[HTTP-81] [HTTP-19] OPTIONS that is not a preflight is refused like any other method", async () => {
    const call = (path: string, headers: Record<string, string>) =>
      request(t.url, { method: "OPTIONS", path, headers: { host, ...headers } });
    expect((await call("/api/sessions", {})).json.code).toBe("unauthorized");
    const known = { authorization: `Bearer ${token}` };
    expect((await call("/nowhere", known)).headers.get("content-type")).toMatch(/problem\+json/);
    expect([404, 405]).toContain((await call("/api/sessions", known)).status);
  });

  it("[HTTP-81] without an allowed origin there are no preflights", async () => {
    await using plain = await startTestServer();
    const answer = await plain.call("OPTIONS", "/api/sessions");
    expect(answer.status).toBe(405);
    expect(answer.headers.get("access-control-allow-origin")).toBeNull();
  });

  it("[HTTP-81] [HTTP-110] a value that is not an origin, or a wildcard, is refused at the start", async () => {
    for (const origin of ["*", "null", "localhost:5173", `${PAGE}/`, "ftp://x", "HTTP://X", ""]) {
      await expect(
        startServer({
          store: t.store,
          version: "1",
          host: "127.0.0.1",
          port: 0,
          allowOrigins: [origin],
        }),
        origin,
      ).rejects.toMatchObject({ code: "config_invalid" });
    }
  });
});
