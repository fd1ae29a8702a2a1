import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { isLoopback, isOwnHost } from "../../src/http/guards/hosts.ts";
import { startServer } from "../../src/http/serve.ts";
import { exchangeBytes, request, startTestServer, type TestServer } from "../helpers/server.ts";

let t: TestServer;
let port: string;
beforeAll(async () => {
  t = await startTestServer({ allowHosts: ["reprise.example", "proxy.example:8443"] });
  port = new URL(t.url).port;
});
afterAll(() => t[Symbol.asyncDispose]());

/** Paths that the router itself would refuse, before the gate has seen the request. */
const UNREADABLE = [
  "/%zz",
  "/api/sessions/%zz",
  "/api/sessions/%ff",
  "/api/sessions/%",
  `/api/sessions/${"a".repeat(300)}`,
  `/api/sessions/${"%61".repeat(300)}/stream`,
];

const get = (headers: Record<string, string>, path = "/api/sessions") =>
  request(t.url, { path, headers });

describe("Host", () => {
  it("[HTTP-37] must name the service", async () => {
    for (const host of [
      `127.0.0.1:${port}`,
      `localhost:${port}`,
      `LOCALHOST:${port}`,
      `[::1]:${port}`,
      "reprise.example",
      `reprise.example:${port}`,
      "proxy.example:8443",
    ]) {
      expect((await get({ host })).status, host).toBe(200);
    }
    for (const host of [
      "evil.example",
      `evil.example:${port}`,
      "127.0.0.1",
      "localhost",
      "127.0.0.1:1",
      `localhost.evil.example:${port}`,
      `127.0.0.1:${port}.evil.example`,
      `user@127.0.0.1:${port}`,
      "proxy.example",
      "reprise.example:1",
      "null",
    ]) {
      const answer = await get({ host });
      expect(answer.status, host).toBe(403);
      expect(answer.json.code).toBe("host_refused");
    }
  });

  it("[HTTP-37] may be neither empty nor left out", async () => {
    const empty = await exchangeBytes(
      t.url,
      "GET /livez HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n",
    );
    expect(empty).toMatch(/^HTTP\/1.1 403 /);
    expect(await exchangeBytes(t.url, "GET /api/sessions HTTP/1.0\r\n\r\n")).toMatch(
      /^HTTP\/1.1 403 /,
    );
  });

  it("[HTTP-80] may be missing in a health check in HTTP/1.0, which has no such header", async () => {
    for (const path of ["/livez", "/readyz"]) {
      const bytes = await exchangeBytes(t.url, `GET ${path} HTTP/1.0\r\n\r\n`);
      expect(bytes, path).toMatch(/^HTTP\/1.1 200 /);
    }
    const named = await exchangeBytes(t.url, "GET /livez HTTP/1.0\r\nHost: evil.example\r\n\r\n");
    expect(named).toMatch(/^HTTP\/1.1 403 /);
  });

  it("[HTTP-37] [HTTP-75] is checked before anything else, on every path", async () => {
    for (const path of [
      "/livez",
      "/readyz",
      "/openapi.json",
      "/nowhere",
      "/api/sessions/x",
      ...UNREADABLE,
    ]) {
      expect((await get({ host: "evil.example" }, path)).json.code, path).toBe("host_refused");
    }
  });

  it("[HTTP-37] for another address must be that address or an allowed name", () => {
    const end = { localAddress: "::ffff:192.0.2.7", localPort: 4680 };
    const hosts = { bound: "0.0.0.0", extra: ["box.example"] };
    const own = (host: string) => isOwnHost(host, hosts, end);
    expect(["192.0.2.7:4680", "0.0.0.0:4680", "box.example", "box.example:4680"].map(own)).toEqual([
      true,
      true,
      true,
      true,
    ]);
    expect(
      ["localhost:4680", "127.0.0.1:4680", "192.0.2.7", "192.0.2.8:4680", "box.example:1"].map(own),
    ).toEqual([false, false, false, false, false]);
    const plain = { localAddress: "127.0.0.1", localPort: 80 };
    expect(isOwnHost("localhost", { bound: "127.0.0.1", extra: [] }, plain)).toBe(true);
  });
});

describe("the header Origin", () => {
  it("[HTTP-38] must be the service's own if there is one", async () => {
    const host = `127.0.0.1:${port}`;
    for (const origin of [
      `http://127.0.0.1:${port}`,
      `http://localhost:${port}`,
      "https://reprise.example",
      "http://reprise.example",
      "https://proxy.example:8443",
    ]) {
      expect((await get({ host, origin })).status, origin).toBe(200);
    }
    for (const origin of [
      "null",
      "",
      "http://evil.example",
      `https://127.0.0.1:${port}`,
      "http://127.0.0.1",
      "http://127.0.0.1:1",
      `http://127.0.0.1:${port}/`,
      `ftp://127.0.0.1:${port}`,
      `http://127.0.0.1:${port}.evil.example`,
    ]) {
      const answer = await get({ host, origin });
      expect(answer.status, origin).toBe(403);
      expect(answer.json.code).toBe("origin_refused");
    }
  });

  it("[HTTP-38] a request from a page of another site, as the browser reports it, is refused", async () => {
    const host = `127.0.0.1:${port}`;
    for (const [site, status] of [
      ["same-origin", 200],
      ["none", 200],
      ["cross-site", 403],
      ["same-site", 403],
    ] as const) {
      expect((await get({ host, "sec-fetch-site": site })).status, site).toBe(status);
    }
  });

  it("[HTTP-38] [HTTP-75] is checked on paths that cannot be read", async () => {
    for (const path of UNREADABLE) {
      const answer = await get({ host: `127.0.0.1:${port}`, origin: "http://evil.example" }, path);
      expect(answer.json.code, path).toBe("origin_refused");
    }
  });

  it("[HTTP-38] a refused page's request changes nothing", async () => {
    const answer = await request(t.url, {
      method: "POST",
      path: "/api/sessions",
      headers: {
        origin: "http://evil.example",
        "content-type": "application/json",
        "content-length": "2",
      },
      body: "{}",
    });
    expect(answer.status).toBe(403);
    expect((await t.call("GET", "/api/sessions")).json).toEqual([]);
  });
});

describe("the token", () => {
  it("[HTTP-39] every call but /livez, /readyz and /page/ needs the token", async () => {
    const token = "correct-horse";
    await using t = await startTestServer({ token });
    const id = await t.newSession();
    const calls = [
      ["GET", "/api/sessions"],
      ["POST", "/api/sessions"],
      ["GET", `/api/sessions/${id}`],
      ["GET", `/api/sessions/${id}/stream`],
      ["POST", `/api/sessions/${id}/end`],
      ["GET", "/openapi.json"],
      ["GET", "/nowhere"],
      ["DELETE", "/api/sessions"],
      ...UNREADABLE.map((path) => ["GET", path] as const),
    ] as const;
    for (const [method, path] of calls) {
      const answer = await t.call(method, path);
      expect(answer.status, path).toBe(401);
      expect(answer.json).toMatchObject({ code: "unauthorized" });
      expect(answer.headers.get("www-authenticate")).toBe("Bearer");
    }
    for (const authorization of [`Bearer ${token}`, `bearer ${token}`]) {
      expect((await t.call("GET", "/api/sessions", { headers: { authorization } })).status).toBe(
        200,
      );
    }
    for (const authorization of [
      "Bearer",
      "Bearer ",
      `Bearer ${token}x`,
      `Bearer ${token} x`,
      "Bearer correct-hors",
      token,
      `Basic ${btoa(`:${token}`)}`,
    ]) {
      expect(
        (await t.call("GET", "/api/sessions", { headers: { authorization } })).status,
        authorization,
      ).toBe(401);
    }
    expect((await t.call("GET", `/api/sessions?token=${token}`)).status).toBe(401);
    expect((await t.call("GET", "/livez")).status).toBe(200);
    expect((await t.call("GET", "/readyz")).status).toBe(200);
    expect((await t.call("GET", "/page/me")).json).toMatchObject({ role: "guest" });
    expect(JSON.stringify(t.log)).not.toContain(token);
  });

  it("[HTTP-40] the service does not start without a token if the address is not loopback", async () => {
    for (const host of ["0.0.0.0", "::", "192.0.2.1", "example.com"]) {
      const start = startServer({ store: t.store, version: "1", host, port: 0 });
      await expect(start).rejects.toMatchObject({ code: "config_invalid" });
    }
    const empty = startServer({
      store: t.store,
      version: "1",
      host: "127.0.0.1",
      port: 0,
      token: "",
    });
    await expect(empty).rejects.toMatchObject({ code: "config_invalid" });
    await using open = await startTestServer({ host: "0.0.0.0", token: "x" });
    const local = open.url.replace("0.0.0.0", "127.0.0.1");
    expect((await fetch(`${local}/livez`)).status).toBe(200);
    expect((await fetch(`${local}/api/sessions`)).status).toBe(401);
    expect(["127.0.0.1", "127.9.9.9", "localhost", "::1", "[::1]"].every(isLoopback)).toBe(true);
    expect(
      ["0.0.0.0", "::", "10.0.0.1", "127.evil.example", "localhost.example"].some(isLoopback),
    ).toBe(false);
  });
});

describe("an incomplete request", () => {
  it("[HTTP-41] [HTTP-106] is 400; too many headers are 431", async () => {
    const host = `Host: 127.0.0.1:${port}`;
    const answers = [
      ["NOT HTTP\r\n\r\n", 400, "malformed_request"],
      ["GET / HTTP/1.1\r\nConnection: close\r\n\r\n", 400, null],
      [`GET / HTTP/1.1\r\n${host}\r\nX: ${"x".repeat(20_000)}\r\n\r\n`, 431, "headers_too_large"],
      [
        `POST /api/sessions HTTP/1.1\r\n${host}\r\nContent-Length: x\r\n\r\n`,
        400,
        "malformed_request",
      ],
      [
        `POST /api/sessions HTTP/1.1\r\n${host}\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n`,
        400,
        "malformed_request",
      ],
    ] as const;
    for (const [bytes, status, code] of answers) {
      const answer = await exchangeBytes(t.url, bytes);
      expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
      if (code !== null) {
        expect(JSON.parse(answer.split("\r\n\r\n")[1]!)).toMatchObject({ status, code });
      }
    }
  });

  it("[HTTP-41] that comes too slowly is 408, headers and body alike", async () => {
    await using slow = await startTestServer({ timeouts: { headersMs: 100, requestMs: 200 } });
    const head = `POST /api/sessions HTTP/1.1\r\nHost: 127.0.0.1:${new URL(slow.url).port}\r\n`;
    const body = "Content-Type: application/json\r\nContent-Length: 10\r\n\r\n{";
    for (const bytes of [head, head + body]) {
      const answer = await exchangeBytes(slow.url, bytes);
      expect(answer).toMatch(/^HTTP\/1.1 408 /);
      expect(answer).toContain('"code":"request_timeout"');
    }
    // also this one may come too slowly
    await expect.poll(async () => (await slow.call("GET", "/api/sessions")).json).toEqual([]);
  });
});

describe("health", () => {
  it("[HTTP-42] livez answers without the store, readyz only with it", async () => {
    expect((await t.call("GET", "/livez")).json).toEqual({ status: "ok" });
    expect((await t.call("GET", "/readyz")).json).toEqual({ status: "ok" });
    const store = { ...t.store, read: () => Promise.reject(new Error("secret path")) };
    await using broken = await startTestServer({ store });
    expect((await broken.call("GET", "/livez")).status).toBe(200);
    const answer = await broken.call("GET", "/readyz");
    expect(answer.status).toBe(503);
    expect(answer.text).not.toContain("secret");
  });
});
