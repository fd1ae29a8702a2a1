import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { request, startTestServer, type TestServer } from "../../helpers/server.ts";
import { makeFolder } from "../../helpers/temp.ts";

const DOCUMENTS = [
  "/",
  "/?title=rent&state=active",
  "/sessions/0f3c",
  "/plans",
  "/service",
  "/login",
  "/shared/0f3c",
];

/** What a browser sends for a link of another site. */
const FOLLOWED = {
  "sec-fetch-site": "cross-site",
  "sec-fetch-mode": "navigate",
  "sec-fetch-dest": "document",
};

const folder = makeFolder();
let t: TestServer;
const get = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  request(t.url, { path, method, headers: { host: new URL(t.url).host, ...headers } });

/** What only the document of a session has here. */
const A_SESSION = "<!-- a session -->";

function writePage(html: string, assets: Readonly<Record<string, string>>): void {
  mkdirSync(join(folder.path, "assets"), { recursive: true });
  writeFileSync(join(folder.path, "index.html"), html);
  writeFileSync(join(folder.path, "session.html"), `${html}${A_SESSION}`);
  for (const [name, text] of Object.entries(assets)) {
    writeFileSync(join(folder.path, "assets", name), text);
  }
}

beforeAll(async () => {
  t = await startTestServer({
    page: folder.path,
    token: "a-token",
    publicPath: "/reprise",
    trustProxy: true,
  });
});
afterAll(async () => {
  await t[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

describe("the files of the page", () => {
  it("[PAGE-36] are missed with a sentence until the page is built, and then found", async () => {
    for (const path of DOCUMENTS) {
      const missed = await fetch(`${t.url}${path}`);
      expect(missed.status).toBe(404);
      expect(missed.headers.get("content-type")).toMatch(/^application\/problem\+json;/);
      expect(await missed.json()).toMatchObject({
        code: "route_not_found",
        detail: expect.stringMatching(/^The web page is not built\. .*`npm start`/),
      });
    }
    expect((await get("/assets/page-1.js")).json.code).toBe("route_not_found");
    writePage('<meta name="reprise-base" content="{base}"><script src="{base}assets/page-1.js">', {
      "page-1.js": "export {};",
      "page-1.js.br": "as brotli",
      "page-1.js.gz": "as gzip",
      "page-1.css": "p { }",
      "private.txt": "of no known type",
    });
    expect((await fetch(t.url)).status).toBe(200);
  });

  it("[PAGE-32] have a document at each address of the page, which asks each time and needs no token", async () => {
    const answers = await Promise.all(DOCUMENTS.map((path) => fetch(`${t.url}${path}`)));
    expect(answers.map(({ status }) => status)).toEqual(DOCUMENTS.map(() => 200));
    const texts = new Set(await Promise.all(answers.map((answer) => answer.text())));
    // that of a session names other scripts than the rest
    expect(texts.size).toBe(2);
    for (const { headers } of answers) {
      expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
      expect(headers.get("cache-control")).toBe("no-cache");
      expect(headers.get("x-frame-options")).toBe("DENY");
      expect(headers.get("referrer-policy")).toBe("same-origin");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("cross-origin-opener-policy")).toBe("same-origin");
      const policy = (headers.get("content-security-policy") ?? "").split("; ");
      expect(policy).toEqual(
        expect.arrayContaining([
          "default-src 'none'",
          "script-src 'self'",
          "style-src 'self'",
          "frame-ancestors 'none'",
          "require-trusted-types-for 'script'",
        ]),
      );
      expect(policy.join()).not.toMatch(/unsafe|\*|http/);
    }
    const tag = answers[0]?.headers.get("etag") ?? "";
    const again = await get("/plans", { "if-none-match": tag });
    expect([again.status, again.text]).toEqual([304, ""]);
    const head = await get("/plans", {}, "HEAD");
    expect([head.status, head.text]).toEqual([200, ""]);
  });

  it("[PAGE-34] have addresses below the public path, or the one that a trusted proxy names", async () => {
    const own = await get("/sessions/0f3c");
    expect(own.text).toBe(
      '<meta name="reprise-base" content="/reprise/"><script src="/reprise/assets/page-1.js"><!-- a session -->',
    );
    const named = await get("/", { "x-forwarded-prefix": "/other/place" });
    expect(named.text).toContain('content="/other/place/"');
    const hostile = await get("/", { "x-forwarded-prefix": '/"><script>' });
    expect(`${hostile.text}${A_SESSION}`).toBe(own.text);
  });

  it("[PAGE-33] have assets that never change, compressed for who takes it", async () => {
    for (const [accepted, encoding, text] of [
      ["br, gzip", "br", "as brotli"],
      ["gzip, deflate", "gzip", "as gzip"],
      ["gzip;q=1.0, br;q=0", "gzip", "as gzip"],
      ["identity", null, "export {};"],
    ] as const) {
      const answer = await get("/assets/page-1.js", { "accept-encoding": accepted });
      expect(answer.status).toBe(200);
      expect(answer.headers.get("content-encoding")).toBe(encoding);
      expect(answer.text).toBe(text);
      expect(answer.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
      expect(answer.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
      expect(answer.headers.get("vary")).toBe("accept-encoding");
    }
    const style = await get("/assets/page-1.css", { "accept-encoding": "br" });
    expect([style.headers.get("content-encoding"), style.text]).toEqual([null, "p { }"]);
    expect((await get("/assets/page-1.js", {}, "HEAD")).text).toBe("");
  });

  it("[PAGE-33] are no other files: what is not there is 404, and nothing may keep that answer", async () => {
    for (const name of [
      "page-2.js",
      "private.txt",
      "page-1.js.br",
      "..%2findex.html",
      "%2e%2e%2fsources.js",
      "constructor",
      "__proto__.js",
      ".js",
      "%00.js",
    ]) {
      const answer = await get(`/assets/${name}`);
      expect(answer.status, name).toBe(404);
      expect(answer.headers.get("cache-control"), name).toBe("no-store");
    }
  });

  it("[PAGE-35] open from a link of another site, but not as its frame, image, script or fetch", async () => {
    const refused = [
      { ...FOLLOWED, "sec-fetch-dest": "iframe" },
      { ...FOLLOWED, "sec-fetch-dest": "embed" },
      { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "script" },
      { "sec-fetch-site": "cross-site", "sec-fetch-mode": "cors", "sec-fetch-dest": "empty" },
      { ...FOLLOWED, origin: "https://evil.example" },
    ];
    for (const path of DOCUMENTS) {
      expect((await get(path, FOLLOWED)).status, path).toBe(200);
      for (const headers of refused) {
        expect((await get(path, headers)).json.code, path).toBe("origin_refused");
      }
    }
    for (const path of ["/api/sessions", "/assets/page-1.js", "/openapi.json", "/livez"]) {
      expect((await get(path, FOLLOWED)).json.code, path).toBe("origin_refused");
    }
    expect((await get("/", { ...FOLLOWED, host: "evil.example" })).json.code).toBe("host_refused");
  });

  it("[PAGE-37] fit together until the service stops, also once another version is installed", async () => {
    const before = await get("/");
    rmSync(join(folder.path, "assets"), { recursive: true });
    writePage("another version", { "page-2.js": "" });
    expect((await get("/")).text).toBe(before.text);
    expect((await get("/assets/page-1.js")).status).toBe(200);
    expect((await get("/assets/page-2.js")).status).toBe(404);
  });
});

it("[PAGE-36] a service that was not asked for the page has none of its addresses", async () => {
  await using service = await startTestServer();
  for (const path of [...DOCUMENTS, "/assets/page-1.js"]) {
    const { status, json } = await service.call<{ code: string }>("GET", path);
    expect([status, json.code], path).toEqual([404, "route_not_found"]);
  }
});
