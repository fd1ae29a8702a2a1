import type http from "node:http";
import net from "node:net";
import { text as readText } from "node:stream/consumers";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { createClient, type MessagePage } from "../../src/client/client.ts";
import type { SessionDetail } from "../../src/core/schemas/schemas.ts";
import { createSession } from "../../src/store/records/sessions/create.ts";
import { appendUserMessage } from "../../src/store/records/messages/append.ts";
import { exchangeBytes, startTestServer, type TestServer } from "../helpers/server.ts";
import { createWire } from "../torture/wire.ts";
import { testLevel, testSize } from "../helpers/size.ts";

const LARGE_MESSAGES = testSize("large-messages");

let t: TestServer;
let id: string;
let host: string;
beforeAll(async () => {
  t = await startTestServer();
  id = await t.newSession();
  host = `Host: ${new URL(t.url).host}\r\n`;
});
afterAll(() => t[Symbol.asyncDispose]());

/** All answers to the bytes. */
async function answersTo(bytes: string) {
  // the last one makes the service close the connection, if nothing before did
  const closing = `GET /livez HTTP/1.1\r\n${host}Connection: close\r\n\r\n`;
  const answers = await createWire(t.url).send({
    bytes: Buffer.from(bytes + closing, "latin1"),
    last: true,
  });
  const last = answers.at(-1);
  const closed = last?.status === 200 && last.headers.get("connection") === "close";
  return answers
    .slice(0, closed ? -1 : undefined)
    .map(({ status, body }) => [
      status,
      status >= 400 ? (JSON.parse(body) as { code: string }).code : "",
    ]);
}

const post = (path: string, body: string, headers = ""): string =>
  `POST ${path} HTTP/1.1\r\n${host}Content-Type: application/json\r\n${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

describe("the host of a request", () => {
  it("[HTTP-51] is named exactly once", async () => {
    for (const bytes of [
      "GET /livez HTTP/1.1\r\n\r\n",
      `GET /livez HTTP/1.1\r\n${host}Host: evil.example\r\n\r\n`,
      `GET /livez HTTP/1.1\r\n${host}${host}\r\n`,
    ]) {
      expect(await answersTo(bytes)).toEqual([[400, "malformed_request"]]);
    }
  });

  it("[HTTP-51] [HTTP-113] of a target in the absolute form must be the service's too", async () => {
    const { host: own } = new URL(t.url);
    const get = (target: string) => answersTo(`GET ${target} HTTP/1.1\r\n${host}\r\n`);
    expect(await get(`http://${own}/livez`)).toEqual([[200, ""]]);
    expect(await get("http://evil.example/livez")).toEqual([[403, "host_refused"]]);
    expect(await get(`http://${own}@evil.example/livez`)).toEqual([[403, "host_refused"]]);
    expect(await get("HTTPS://evil.example/livez")).toEqual([[403, "host_refused"]]);
    expect(await answersTo(`DELETE http://${own}/livez HTTP/1.1\r\n${host}\r\n`)).toEqual([
      [405, "method_not_allowed"],
    ]);
  });

  it("[HTTP-51] is checked with Origin after any number of headers", async () => {
    const many = "a:b\r\n".repeat(2900);
    expect(
      await answersTo(`GET /livez HTTP/1.1\r\n${host}${many}Origin: http://evil.example\r\n\r\n`),
    ).toEqual([[403, "origin_refused"]]);
  });
});

describe("rare forms of HTTP", () => {
  it("[HTTP-19] every refusal of them is a problem", async () => {
    expect(
      await answersTo("CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n"),
    ).toEqual([[404, "route_not_found"]]);
    expect(await answersTo(`TRACE /livez HTTP/1.1\r\n${host}\r\n`)).toEqual([
      [405, "method_not_allowed"],
    ]);
    // HTTP lets a server pass over an expectation it does not know
    expect(await answersTo(`GET /livez HTTP/1.1\r\n${host}Expect: something\r\n\r\n`)).toEqual([
      [200, ""],
    ]);
    expect(await answersTo(post("/api/sessions", "{}", "Expect: 100-continue\r\n"))).toEqual([
      [201, ""],
    ]);
    // an offer that the service passes over; the connection stays good for more
    const wire = createWire(t.url);
    const offer = `GET /livez HTTP/1.1\r\n${host}Connection: upgrade\r\nUpgrade: websocket\r\n\r\n`;
    for (const bytes of [offer, offer]) {
      expect(await wire.send({ bytes: Buffer.from(bytes) })).toMatchObject([{ status: 200 }]);
    }
    wire.close();
  });

  it("[HTTP-26] refusals of what is not HTTP carry an id as well", async () => {
    expect(await exchangeBytes(t.url, "NOT HTTP\r\n\r\n")).toMatch(
      /^X-Request-Id: [0-9a-f-]{36}\r$/m,
    );
  });

  it("[HTTP-52] a broken request after good ones is refused after their answers", async () => {
    const { last_seq: before } = (await t.call<SessionDetail>("GET", `/api/sessions/${id}`)).json;
    const message = post(`/api/sessions/${id}/messages`, '{"content":"stored"}');
    expect(await answersTo(`${message}NOT HTTP\r\n\r\n`)).toEqual([
      [201, ""],
      [400, "malformed_request"],
    ]);
    expect(
      await answersTo(`${message}GET /nowhere HTTP/1.1\r\n${host}\r\n${message}NOT HTTP\r\n\r\n`),
    ).toEqual([
      [201, ""],
      [404, "route_not_found"],
      [201, ""],
      [400, "malformed_request"],
    ]);
    const { last_seq } = (await t.call<SessionDetail>("GET", `/api/sessions/${id}`)).json;
    expect(last_seq).toBe(before + 3);
  });

  it("[HTTP-52] nothing is written into a stream that has begun, and it continues", async () => {
    const session = await t.newSession();
    const socket = net.connect(Number(new URL(t.url).port), "127.0.0.1");
    const text = readText(socket);
    socket.write(
      `GET /api/sessions/${session}/stream HTTP/1.1\r\n${host}\r\nGET /livez HTTP/1.1\r\n${host}\r\nNOT HTTP\r\n\r\n`,
    );
    while (t.server.app.streams.open === 0) {
      await new Promise((resolve) => {
        setTimeout(resolve, 5);
      });
    }
    await t.post(session, "one");
    await t.call("POST", `/api/sessions/${session}/end`);
    expect((await text).split("HTTP/1.1 ")).toHaveLength(2);
    expect(await text).toMatch(/^HTTP\/1\.1 200 [^]*"content":"one"[^]*\r\n0\r\n\r\n$/);
  });
});

describe("bodies on the wire", () => {
  it("[HTTP-53] that are compressed, or say so, are refused with 415", async () => {
    for (const headers of ["Content-Encoding: gzip\r\n", "Content-Encoding: x-unknown\r\n"]) {
      expect(await answersTo(post("/api/sessions", "{}", headers))).toEqual([
        [415, "unsupported_media_type"],
      ]);
    }
    expect(
      await answersTo(
        `POST /api/sessions HTTP/1.1\r\n${host}Content-Type: application/json\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
      ),
    ).toEqual([[415, "unsupported_media_type"]]);
    expect(await answersTo(post("/api/sessions", "{}", "Content-Encoding: identity\r\n"))).toEqual([
      [201, ""],
    ]);
  });

  it("[HTTP-2] a body of 0 bytes counts as none, whatever its type", async () => {
    const bytes = `POST /api/sessions HTTP/1.1\r\n${host}Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 0\r\n\r\n`;
    expect(await answersTo(bytes)).toEqual([[201, ""]]);
  });

  it("[HTTP-54] of very many values are refused before they are parsed, and strings may hold anything", async () => {
    const path = `/api/sessions/${id}/messages`;
    const bodies = [
      `{${Array.from({ length: 10_002 }, (_, index) => `"${index}":1`).join(",")}}`,
      `{"content":${"[".repeat(1_000_000)}${"]".repeat(1_000_000)}}`,
      `{"content":${'{"a":'.repeat(500_000)}1${"}".repeat(500_000)}}`,
    ];
    for (const body of bodies) {
      const answer = await t.call<{ code: string; faults: unknown }>("POST", path, { body });
      expect([answer.status, answer.json.code]).toEqual([422, "invalid_request"]);
      expect(answer.json.faults).toEqual([
        { pointer: "", message: expect.stringContaining("more values") },
      ]);
    }
    const content = '[{,"\\'.repeat(20_000);
    const stored = await t.call("POST", path, { body: { content } });
    expect(stored.status).toBe(201);
    const { json } = await t.call<SessionDetail>("GET", `/api/sessions/${id}`);
    expect(json.messages.at(-1)?.content).toBe(content);
  });

  it("[HTTP-56] of 64 MiB together are read at once; more wait for their turn, and none is lost", async () => {
    await using many = await startTestServer();
    const session = await many.newSession();
    // 13 bodies of 6 MiB; in the tortures 1 MiB of text each, six times as long as JSON
    const content = "\u0001".repeat(1024 * 1024 - 100);
    const body =
      testLevel() === "test"
        ? `{"content":"x"${" ".repeat(6 * content.length)}}`
        : JSON.stringify({ content });
    const reading = new Set<http.IncomingMessage>();
    let most = 0;
    many.server.app.fastify.server.on("request", (request: http.IncomingMessage) => {
      // to listen for the bytes here would begin to read them
      request.on("newListener", (event) => {
        if (event === "data") {
          reading.add(request);
          most = Math.max(most, reading.size);
          request.once("close", () => reading.delete(request));
        }
      });
    });
    const path = `/api/sessions/${session}/messages`;
    const answers = await Promise.all(
      Array.from({ length: 13 }, () => many.call("POST", path, { body })),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 13 }, () => 201));
    const { json } = await many.call<SessionDetail>("GET", `/api/sessions/${session}`);
    expect(json.last_seq).toBe(13);
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(11);
  });

  it("[HTTP-56] of requests that go away, queued ones too, give their part of the budget back", async () => {
    // no time-out may help
    await using many = await startTestServer({ timeouts: { requestMs: 600_000 } });
    const session = await many.newSession();
    const { host: name, port } = new URL(many.url);
    const path = `/api/sessions/${session}`;
    const stream = `GET ${path}/stream HTTP/1.1\r\nHost: ${name}\r\n\r\n`;
    const body = `POST ${path}/messages HTTP/1.1\r\nHost: ${name}\r\nContent-Type: application/json\r\nContent-Length: 6000000\r\n\r\n{"content":"`;
    const sockets = Array.from({ length: 30 }, (_, index) => {
      const socket = net.connect(Number(port), "127.0.0.1");
      socket.on("error", () => undefined);
      socket.resume();
      socket.write(index % 2 === 0 ? body : stream + body);
      return socket;
    });
    while (many.server.app.streams.open < 15) {
      await new Promise((resolve) => {
        setTimeout(resolve, 5);
      });
    }
    for (const socket of sockets) {
      socket.destroy();
    }
    await many.post(session, "x".repeat(1024 * 1024));
  });
});

describe("a session of very large messages", () => {
  it("[HTTP-55] comes in answers of 16 MiB of content at most, which together are complete", async () => {
    const { id: session } = await t.store.write(createSession, {});
    // in the tortures six times as long as JSON: all of 100 in one answer would be longer than a string may be
    const content = (testLevel() === "test" ? "x" : "\u0001").repeat(1024 * 1024);
    for (let index = 0; index < LARGE_MESSAGES; index += 1) {
      await t.store.write(appendUserMessage, { reference: session, content });
    }
    const seqs: number[] = [];
    let before = "";
    for (let more = true; more;) {
      const { json } = await t.call<SessionDetail>("GET", `/api/sessions/${session}${before}`);
      expect(json.messages).toHaveLength(Math.min(16, LARGE_MESSAGES - seqs.length));
      seqs.unshift(...json.messages.map(({ seq }) => seq));
      before = `?before_seq=${json.messages[0]?.seq}`;
      more = json.has_earlier;
    }
    const all = Array.from({ length: LARGE_MESSAGES }, (_, index) => index + 1);
    expect(seqs).toEqual(all);
    const client = createClient({ baseUrl: t.url });
    const listed: number[] = [];
    for (let after_seq: number | null = 0; after_seq !== null;) {
      const page: MessagePage = await client.listMessages(session, { limit: 200, after_seq });
      expect(page.messages).toHaveLength(Math.min(16, LARGE_MESSAGES - listed.length));
      listed.push(...page.messages.map(({ seq }) => seq));
      after_seq = page.next;
    }
    expect(listed).toEqual(all);
  });
});
