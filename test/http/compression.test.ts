import http from "node:http";
import { brotliDecompressSync, gunzipSync } from "node:zlib";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { request, startTestServer, type TestServer } from "../helpers/server.ts";

let t: TestServer;
let id: string;
beforeAll(async () => {
  t = await startTestServer();
  id = await t.newSession();
  await t.post(id, "words ".repeat(2000));
});
afterAll(() => t[Symbol.asyncDispose]());

function bytesOf(path: string, encoding: string | null, headers = {}) {
  // `fetch` would unpack the answer
  return new Promise<{ status: number; headers: http.IncomingHttpHeaders; bytes: Buffer }>(
    (resolve, reject) => {
      const outgoing = http.get(
        new URL(path, t.url),
        {
          agent: false,
          headers: { ...(encoding === null ? {} : { "accept-encoding": encoding }), ...headers },
        },
        (answer) => {
          const pieces: Buffer[] = [];
          answer.on("data", (piece: Buffer) => pieces.push(piece));
          answer.on("end", () =>
            resolve({
              status: answer.statusCode ?? 0,
              headers: answer.headers,
              bytes: Buffer.concat(pieces),
            }),
          );
        },
      );
      outgoing.on("error", reject);
    },
  );
}

describe("large JSON answers", () => {
  it("[HTTP-82] are compressed for clients that accept it, with the same text", async () => {
    const path = `/api/sessions/${id}`;
    const plain = await bytesOf(path, null);
    expect(plain.headers["content-encoding"]).toBeUndefined();
    for (const [accepted, encoding, unpack] of [
      ["gzip", "gzip", gunzipSync],
      ["br", "br", brotliDecompressSync],
      ["gzip, deflate, br", "br", brotliDecompressSync],
    ] as const) {
      const { headers, bytes } = await bytesOf(path, accepted);
      expect(headers["content-encoding"], accepted).toBe(encoding);
      expect(headers.vary).toMatch(/accept-encoding/i);
      expect(bytes.length).toBeLessThan(plain.bytes.length / 5);
      expect(unpack(bytes).equals(plain.bytes)).toBe(true);
    }
    for (const refused of ["identity", "deflate", "gzip;q=0", "x-unknown"]) {
      const { status, headers, bytes } = await bytesOf(path, refused);
      expect([status, headers["content-encoding"] ?? "identity"], refused).toEqual([
        200,
        "identity",
      ]);
      expect(bytes.equals(plain.bytes)).toBe(true);
    }
  });

  it("[HTTP-82] [HTTP-111] small answers and streams are not compressed", async () => {
    await t.call("POST", `/api/sessions/${id}/end`);
    for (const path of ["/livez", `/api/sessions/${id}/stream`]) {
      const { status, headers } = await bytesOf(path, "gzip, br");
      expect([status, headers["content-encoding"]], path).toEqual([200, undefined]);
    }
  });
});

describe("answers that change with the version only", () => {
  it("[HTTP-83] have an ETag, and 304 for clients that have them already", async () => {
    for (const path of ["/openapi.json", "/api/artifacts/schemas/dev/phase-plan@1"]) {
      const first = await bytesOf(path, null);
      const { etag = "" } = first.headers;
      expect(etag, path).toMatch(/^W\/"[^"]+"$/);
      expect(first.headers["cache-control"]).toBe("no-cache");
      // both forms of the answer are the same one
      expect((await bytesOf(path, "gzip")).headers.etag).toBe(etag);
      for (const encoding of [null, "br"]) {
        const again = await bytesOf(path, encoding, { "if-none-match": etag });
        expect([again.status, again.bytes.length], path).toEqual([304, 0]);
      }
      const opaque = etag.slice(2);
      for (const condition of ["*", opaque, `"other", ${etag}`, `${etag},`, `"a" , ${opaque}`]) {
        const { status, headers, bytes } = await bytesOf(path, null, {
          "if-none-match": condition,
        });
        expect([status, bytes.length], condition).toEqual([304, 0]);
        expect(headers["content-type"], condition).toBeUndefined();
      }
      for (const encoding of [null, "br"]) {
        expect((await bytesOf(path, encoding)).headers.vary).toMatch(/accept-encoding/i);
      }
      const other = await bytesOf(path, null, { "if-none-match": 'W/"other"' });
      expect(other.status).toBe(200);
      expect(other.bytes.equals(first.bytes)).toBe(true);
    }
  });

  it("[HTTP-83] are the only ones that may be cached", async () => {
    for (const path of ["/api/sessions", `/api/sessions/${id}`, "/livez", "/openapi.jso"]) {
      const { headers } = await bytesOf(path, null);
      expect([headers["cache-control"], headers.etag], path).toEqual(["no-store", undefined]);
    }
  });
});

describe("paths behind a proxy", () => {
  const created = (url: string, prefix: string | null) =>
    request(url, {
      method: "POST",
      path: "/api/sessions",
      headers: prefix === null ? {} : { "x-forwarded-prefix": prefix },
    });
  const linked = (url: string, prefix: string | null) =>
    request(url, {
      path: "/api/sessions?limit=1",
      headers: prefix === null ? {} : { "x-forwarded-prefix": prefix },
    });

  it("[HTTP-84] Location and Link begin with the configured prefix", async () => {
    await using proxied = await startTestServer({ publicPath: "/reprise" });
    for (const prefix of [null, "/other"]) {
      const { headers } = await created(proxied.url, prefix);
      expect(headers.get("location")).toMatch(/^\/reprise\/api\/sessions\/[0-9a-f-]{36}$/);
    }
    const { headers } = await linked(proxied.url, null);
    expect(headers.get("link")).toMatch(/^<\/reprise\/api\/sessions\?.*>; rel="next"$/);
    const { json } = await proxied.call<{ servers: object[] }>("GET", "/openapi.json");
    expect(json.servers).toMatchObject([{ url: "/reprise" }]);
  });

  it("[HTTP-84] [HTTP-112] Location and Link begin with the prefix of a trusted proxy, if it is a plain path", async () => {
    await using proxied = await startTestServer({ trustProxy: true });
    await created(proxied.url, null);
    const { headers } = await created(proxied.url, "/team/reprise");
    expect(headers.get("location")).toMatch(/^\/team\/reprise\/api\/sessions\//);
    expect((await linked(proxied.url, "/r")).headers.get("link")).toMatch(/^<\/r\/api\/sessions\?/);
    for (const hostile of [
      "//evil.example",
      "https://evil.example",
      "/a/../b",
      "/x>; rel=evil",
      "/a b",
      "/",
      `/${"a".repeat(300)}`,
    ]) {
      const answer = await created(proxied.url, hostile);
      expect(answer.headers.get("location"), hostile).toMatch(/^\/api\/sessions\//);
    }
  });

  it("[HTTP-84] without trust the header is ignored, and a bad prefix is refused at the start", async () => {
    expect((await created(t.url, "/r")).headers.get("location")).toMatch(/^\/api\/sessions\//);
    for (const publicPath of ["reprise", "/reprise/", "//x", "/a b", "/.."]) {
      await expect(startTestServer({ publicPath }), publicPath).rejects.toMatchObject({
        code: "config_invalid",
      });
    }
  });
});
