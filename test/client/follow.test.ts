import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";

import { describe, expect, it } from "vitest";

import { createClient } from "../../src/client/client.ts";
import { startServer } from "../../src/http/serve.ts";
import { appendUserMessage } from "../../src/store/records/messages/append.ts";
import { endSession } from "../../src/store/records/sessions/change.ts";
import { freePort } from "../helpers/free-port.ts";
import { startTestServer } from "../helpers/server.ts";

const pauseMs = { first: 5, longest: 20 };

/** A proxy in front of a service that cuts each connection after so many bytes. */
async function cuttingProxy(target: string, bytesEach: number) {
  let connections = 0;
  const server = http.createServer((incoming, outgoing) => {
    connections += 1;
    const { host: _, ...headers } = incoming.headers;
    const request = http.get(new URL(incoming.url ?? "/", target), { headers, agent: false });
    request.on("error", () => outgoing.destroy());
    request.on("response", (response) => {
      outgoing.writeHead(response.statusCode ?? 500, response.headers);
      let left = bytesEach;
      response.on("error", () => outgoing.destroy());
      response.on("data", (piece: Buffer) => {
        outgoing.write(piece.subarray(0, left));
        left -= piece.length;
        if (left <= 0) {
          // the cut comes after what was written has had time to arrive
          outgoing.write("", () => setTimeout(() => outgoing.destroy(), 2));
          request.destroy();
        }
      });
      response.on("end", () => outgoing.end());
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    connections: () => connections,
    [Symbol.dispose]: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

describe("following a session", () => {
  it("[HTTP-48] yields each message once and in order, though the connection is cut repeatedly", async () => {
    await using t = await startTestServer();
    const { id } = { id: await t.newSession() };
    for (let index = 1; index <= 60; index += 1) {
      await t.post(id, `message ${index} é😀`);
    }
    await t.store.write(endSession, { id });
    using proxy = await cuttingProxy(t.url, 1501);
    const client = createClient({ baseUrl: proxy.url });
    const seqs: number[] = [];
    for await (const { seq, content } of client.followSession(id, { pauseMs })) {
      expect(content).toBe(`message ${seq} é😀`);
      seqs.push(seq);
    }
    expect(seqs).toEqual(Array.from({ length: 60 }, (_, index) => index + 1));
    expect(proxy.connections()).toBeGreaterThan(5);
  });

  it("[HTTP-48] continues at its position after a restart of the service", async () => {
    const port = await freePort();
    await using t = await startTestServer({ port });
    const id = await t.newSession();
    const append = (content: string) =>
      t.store.write(appendUserMessage, { reference: id, content });
    await append("not wanted");
    const client = createClient({ baseUrl: t.url });
    const lost: unknown[] = [];
    const messages = client.followSession(id, {
      lastSeq: 1,
      pauseMs,
      onLost: (error) => lost.push(error),
    });
    await append("before");
    expect((await messages.next()).value).toMatchObject({ seq: 2, content: "before" });
    const waiting = messages.next();
    await t.server.close();
    await append("in between");
    while (lost.length === 0) {
      await new Promise((resolve) => {
        setTimeout(resolve, 5);
      });
    }
    expect(lost[0]).toMatchObject({ code: "unreachable" });
    const again = await startServer({ store: t.store, version: "1", host: "127.0.0.1", port });
    expect((await waiting).value).toMatchObject({ seq: 3, content: "in between" });
    await t.store.write(endSession, { id });
    expect((await messages.next()).done).toBe(true);
    await again.close();
  });

  it("[HTTP-48] [HTTP-117] throws what another attempt would not fix", async () => {
    await using t = await startTestServer({ token: "x" });
    const follow = (token: string | undefined, id: string) =>
      createClient({ baseUrl: t.url, token }).followSession(id, { pauseMs }).next();
    await expect(follow("x", "ffffffff")).rejects.toMatchObject({ code: "session_not_found" });
    await expect(follow(undefined, "ffffffff")).rejects.toMatchObject({ code: "unauthorized" });
  });

  it("[HTTP-48] [HTTP-118] stops when its signal is aborted, while it reads and while it pauses", async () => {
    await using t = await startTestServer();
    const id = await t.newSession();
    for (const baseUrl of [t.url, "http://127.0.0.1:1"]) {
      const stop = new AbortController();
      const client = createClient({ baseUrl });
      const next = client
        .followSession(id, { signal: stop.signal, pauseMs: { first: 60_000, longest: 60_000 } })
        .next();
      setTimeout(() => stop.abort(new Error("enough")), 100);
      await expect(next).rejects.toThrow("enough");
    }
    await gone(t.server.app.streams);
  });

  it("[HTTP-48] leaves no connection behind when the loop is left", async () => {
    await using t = await startTestServer();
    const id = await t.newSession();
    await t.post(id, "one");
    for await (const { seq } of createClient({ baseUrl: t.url }).followSession(id)) {
      expect(seq).toBe(1);
      break;
    }
    await gone(t.server.app.streams);
  });

  it("[HTTP-48] gives up a silent connection and connects again", async () => {
    let connections = 0;
    const silent = http.createServer((_request, response) => {
      connections += 1;
      if (connections >= 3) {
        response.writeHead(204).end();
      } else {
        response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
      }
    });
    silent.listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as AddressInfo;
    const client = createClient({ baseUrl: `http://127.0.0.1:${port}` });
    const { done } = await client.followSession("x", { pauseMs, silenceMs: 50 }).next();
    expect(done).toBe(true);
    // a slow machine may give up one more before its answer has come
    expect(connections).toBeGreaterThanOrEqual(3);
    silent.close();
    silent.closeAllConnections();
  });
});

describe("the text of a stream", () => {
  const first = { seq: 1, content: "a\u2028b" };
  const second = { seq: 2, content: "x".repeat(100_000) };
  const stream = [
    ": a comment",
    "retry: 5",
    `data: ${JSON.stringify(first)}`,
    "id: 1",
    "",
    "event: other",
    "data: not JSON",
    "",
    "event: unfinished",
    "",
    // one message in several data lines
    ...JSON.stringify(second)
      .split(/(?<=,)/)
      .map((line) => `data:${line}`),
    "",
    "data: cut off",
  ];

  it.each([
    ["LF", "\n"],
    ["CR", "\r"],
    ["CRLF", "\r\n"],
  ])("[HTTP-49] %s, cut after every byte, with a byte order mark", async (_, end) => {
    const bytes = new TextEncoder().encode(`\uFEFF${stream.join(end)}`);
    let connections = 0;
    const client = createClient({
      baseUrl: "http://127.0.0.1",
      fetch: () => {
        connections += 1;
        return Promise.resolve(
          connections === 1
            ? new Response(inPieces(bytes), { headers: { "content-type": "text/event-stream" } })
            : new Response(null, { status: 204 }),
        );
      },
    });
    const received = [];
    for await (const message of client.followSession("x", { pauseMs })) {
      received.push(message);
    }
    expect(received).toEqual([first, second]);
  });
});

/** The first thousand bytes one by one, then the rest. */
function inPieces(bytes: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (let at = 0; at < 1000; at += 1) {
        controller.enqueue(bytes.slice(at, at + 1));
      }
      controller.enqueue(bytes.slice(1000));
      controller.close();
    },
  });
}

async function gone(streams: { readonly open: number }): Promise<void> {
  while (streams.open > 0) {
    await new Promise((resolve) => {
      setTimeout(resolve, 5);
    });
  }
}
