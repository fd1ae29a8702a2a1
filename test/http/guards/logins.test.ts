import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { addLoginCode } from "../../../src/store/records/access/logins.ts";
import { hashOf, newSecret } from "../../../src/store/records/access/secrets.ts";
import { openPage, PAGE_HEADERS } from "../../helpers/page-client.ts";
import { startTestServer, type TestServer } from "../../helpers/server.ts";

const TOKEN = "the-token-of-the-service";
const READ = "the-read-token";
const ALLOWED = "http://localhost:5173";

let t: TestServer;
let port: string;
beforeAll(async () => {
  t = await startTestServer({
    token: TOKEN,
    readToken: READ,
    allowHosts: ["reprise.example"],
    allowOrigins: [ALLOWED],
    trustProxy: true,
  });
  port = new URL(t.url).port;
});
afterAll(() => t[Symbol.asyncDispose]());

async function newCode(): Promise<string> {
  const code = newSecret();
  await t.store.write(addLoginCode, { hash: hashOf(code) });
  return code;
}

async function loggedIn() {
  const page = openPage(t);
  expect((await page.login({ token: TOKEN })).status).toBe(200);
  return page;
}

describe("a login", () => {
  it("[PAGE-1] by a one-time code or the token gives a cookie with which the page may do everything", async () => {
    for (const given of [{ code: await newCode() }, { token: TOKEN }]) {
      const page = openPage(t);
      expect((await page.call("GET", "/api/sessions")).status).toBe(401);
      const { status, json } = await page.login(given);
      expect(status).toBe(200);
      expect(json).toMatchObject({ role: "owner", session: null, plain_http: false });
      expect(json).toMatchObject({ version: "1.2.3", expires_at: expect.any(String) });
      expect(await page.me()).toMatchObject({ role: "owner", expires_at: json.expires_at });
      const { id } = (await page.call<{ id: string }>("POST", "/api/sessions", { body: {} })).json;
      expect((await page.call("DELETE", `/api/sessions/${id}`)).status).toBe(200);
    }
  });

  it("[PAGE-1] by something else is refused, and a body that is none", async () => {
    const code = await newCode();
    for (const [body, status] of [
      [{ code: newSecret() }, 401],
      [{ token: "wrong" }, 401],
      [{ share: newSecret() }, 401],
      [{ code: hashOf(code) }, 401],
      [{ code: TOKEN }, 401],
      [{}, 422],
      [{ code, token: TOKEN }, 422],
      [{ token: 1 }, 422],
      [{ token: "" }, 422],
      [{ token: "x".repeat(1025) }, 422],
      [{ token: TOKEN, more: 1 }, 422],
      [[TOKEN], 422],
      [null, 422],
      [undefined, 422],
    ] as const) {
      const page = openPage(t);
      const answer = await page.login(body);
      expect(answer.status, JSON.stringify(body)).toBe(status);
      expect(answer.headers.get("set-cookie")).toBeNull();
      expect(answer.text).not.toContain(TOKEN);
    }
  });

  it("[PAGE-2] is a cookie that no script reads and no other site sends, with the port in its name", async () => {
    const [set = ""] = (await loggedIn()).cookies.values();
    const [first = "", ...attributes] = set.split("; ");
    expect(first).toMatch(
      new RegExp(`^reprise-${port}=[0-9a-f]{8}-[0-9a-f-]{27}\\.[A-Za-z0-9_-]{43}$`),
    );
    expect(attributes.toSorted()).toEqual(
      ["HttpOnly", "Max-Age=604800", "Path=/", "SameSite=Strict"].toSorted(),
    );
  });

  it("[PAGE-2] has the prefix __Host- and is sent by TLS alone, if a trusted proxy says that there is TLS", async () => {
    const proxy = { host: "reprise.example", "x-forwarded-proto": "https" };
    const page = openPage(t);
    expect((await page.login({ token: TOKEN }, proxy)).json.plain_http).toBe(false);
    const [set = ""] = page.cookies.values();
    expect(set).toMatch(
      /^__Host-reprise=\S+; Max-Age=604800; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
    );
    expect(await page.me(proxy)).toMatchObject({ role: "owner" });
    expect(await page.me()).toMatchObject({ role: "guest" });
    const below = openPage(t);
    await below.login({ token: TOKEN }, { ...proxy, "x-forwarded-prefix": "/tools/reprise" });
    expect([...below.cookies.keys()]).toEqual(["__Host-reprise.tools.reprise"]);
    const plain = openPage(t);
    await plain.login({ token: TOKEN }, { "x-forwarded-prefix": "/tools" });
    expect([...plain.cookies.values()].join("")).toContain("; Path=/tools/; HttpOnly");
    await using direct = await startTestServer({ token: TOKEN, store: t.store });
    const untrusted = openPage(direct);
    await untrusted.login({ token: TOKEN }, { "x-forwarded-proto": "https" });
    expect([...untrusted.cookies.values()].join("")).not.toContain("__Host-");
  });

  it("[PAGE-15] says when what is sent can be read on the network", async () => {
    const page = openPage(t);
    const own = { host: "reprise.example", "sec-fetch-site": "", origin: "http://reprise.example" };
    for (const [headers, plain_http] of [
      [{}, false],
      [{ host: `localhost:${port}`, "sec-fetch-site": "" }, false],
      [own, true],
      [{ ...own, "x-forwarded-proto": "http" }, true],
      [{ ...own, "x-forwarded-proto": "https", origin: "https://reprise.example" }, false],
      // a proxy that does not say so: browsers send this header only with TLS
      [{ host: "reprise.example", "sec-fetch-site": "same-origin" }, false],
    ] as const) {
      expect(await page.me(headers), JSON.stringify(headers)).toMatchObject({ plain_http });
    }
  });
});

describe("a cookie", () => {
  it("[PAGE-3] counts only in what the page of this service sends, also for reading", async () => {
    const page = await loggedIn();
    const own = `http://127.0.0.1:${port}`;
    const noSite = { "sec-fetch-site": "" };
    for (const [headers, status] of [
      [{}, 200],
      [{ origin: own }, 200],
      [{ ...noSite, origin: own }, 200],
      [{ ...noSite, referer: `${own}/sessions/x` }, 200],
      [{ "x-reprise-page": "" }, 401],
      [{ "x-reprise-page": "0" }, 401],
      [noSite, 401],
      [{ "sec-fetch-site": "none" }, 401],
      [{ "sec-fetch-site": "same-site" }, 403],
      [{ "sec-fetch-site": "cross-site" }, 403],
      [{ "sec-fetch-site": "Same-Origin" }, 401],
      [{ ...noSite, origin: "http://127.0.0.1:1" }, 403],
      [{ ...noSite, origin: "null" }, 403],
      // another name of this service is another origin
      [{ ...noSite, origin: `http://localhost:${port}` }, 401],
      [{ ...noSite, referer: `http://127.0.0.1:1/` }, 401],
      [{ ...noSite, referer: "nonsense" }, 401],
      // pages that --allow-origin names need the token
      [{ ...noSite, origin: ALLOWED }, 401],
      [{ "sec-fetch-site": "same-site", origin: ALLOWED }, 401],
      [{ "sec-fetch-site": "cross-site", origin: ALLOWED }, 401],
    ] as const) {
      for (const [method, path] of [
        ["GET", "/api/sessions"],
        ["POST", "/api/artifacts/validate"],
      ] as const) {
        const body = method === "POST" ? { body: { text: "{}" } } : {};
        const answer = await page.call(method, path, { headers, ...body });
        expect(answer.status, `${method} ${JSON.stringify(headers)}`).toBe(status);
      }
    }
  });

  it("[PAGE-3] no longer counts beside a token", async () => {
    const page = await loggedIn();
    const call = (authorization: string, method = "GET", path = "/api/sessions") =>
      page.call(method, path, { headers: { authorization } });
    expect((await call(`Bearer ${TOKEN}`)).status).toBe(200);
    expect((await call("Bearer wrong")).status).toBe(401);
    expect((await call("")).status).toBe(200);
    expect((await call(`Bearer ${READ}`, "POST")).status).toBe(403);
  });

  it("[PAGE-3] that was changed, cut or made up counts for nothing", async () => {
    const page = await loggedIn();
    const [name = "", set = ""] = [...page.cookies].flat();
    const value = set.slice(name.length + 1, set.indexOf(";"));
    const [id = "", signature = ""] = value.split(".");
    const other = (await loggedIn()).cookies.get(name)?.split(/[=.;]/)[2] ?? "";
    for (const wrong of [
      id,
      `${id}.`,
      `${id}.${signature.slice(1)}A`,
      `${id}.${other}`,
      `${id}.${signature}x`,
      `${"0".repeat(8)}${id.slice(8)}.${signature}`,
      `${id.toUpperCase()}.${signature}`,
      "",
      "x".repeat(4096),
      `"${value}"`,
    ]) {
      const answer = await page.call("GET", "/api/sessions", {
        headers: { cookie: `${name}=${wrong}` },
      });
      expect(answer.status, wrong).toBe(401);
    }
    const among = `a=b; ${name}=wrong; ${name}=${value}; c="d"`;
    expect((await page.call("GET", "/api/sessions", { headers: { cookie: among } })).status).toBe(
      200,
    );
    const elsewhere = `reprise-1=${value}; ${name}x=${value}`;
    const answer = await page.call("GET", "/api/sessions", { headers: { cookie: elsewhere } });
    expect(answer.status).toBe(401);
  });

  it("[PAGE-4] is nothing that a page of another origin can send: its preflight fails", async () => {
    const preflight = await t.call("OPTIONS", "/api/sessions", {
      headers: {
        origin: ALLOWED,
        "access-control-request-method": "GET",
        "access-control-request-headers": "x-reprise-page",
      },
    });
    expect(preflight.headers.get("access-control-allow-headers")).not.toMatch(/x-reprise-page/i);
    expect(preflight.headers.get("access-control-allow-credentials")).toBeNull();
  });

  it("[PAGE-16] is given and taken only by the page itself", async () => {
    const page = await loggedIn();
    const code = await newCode();
    const others: readonly Readonly<Record<string, string>>[] = [
      { "x-reprise-page": "" },
      { "sec-fetch-site": "" },
      { "sec-fetch-site": "same-site" },
      { origin: ALLOWED, "sec-fetch-site": "cross-site" },
    ];
    for (const headers of others) {
      for (const [path, body] of [
        ["/page/login", { code }],
        ["/page/logout", undefined],
      ] as const) {
        const answer = await page.call("POST", path, { headers, body });
        expect(answer.status).toBe(403);
        expect(answer.json.code).toBe("origin_refused");
      }
    }
    expect(await page.me()).toMatchObject({ role: "owner" });
    expect((await openPage(t).login({ code })).status).toBe(200);
  });

  it("[PAGE-14] and what made it are nowhere in the log", async () => {
    const page = openPage(t);
    const code = await newCode();
    await page.login({ code });
    await page.login({ token: TOKEN });
    await page.call("GET", `/page/me?code=${code}`);
    const text = JSON.stringify(t.log);
    const values = [...page.cookies.values()].map((set) => set.split(/[=;]/)[1] ?? "");
    expect(values).toHaveLength(1);
    for (const secret of [code, TOKEN, ...values]) {
      expect(text).not.toContain(secret);
    }
  });
});

it("[PAGE-15] a browser without a login is a guest, and so is who shows a wrong token", async () => {
  const page = openPage(t);
  const guest = { role: "guest", session: null, expires_at: null };
  expect(await page.me()).toMatchObject(guest);
  expect(await page.me({ authorization: "Bearer wrong" })).toMatchObject(guest);
  expect(await page.me({ authorization: `Bearer ${TOKEN}` })).toMatchObject({ role: "owner" });
  expect(await page.me({ authorization: `Bearer ${READ}` })).toMatchObject({ role: "reader" });
  expect((await t.call("GET", "/page/me", { headers: PAGE_HEADERS })).status).toBe(200);
});
