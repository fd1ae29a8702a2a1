import { once } from "node:events";
import http from "node:http";
import net from "node:net";

import { describe, expect, it } from "vitest";

import { startServer } from "../../src/http/serve.ts";
import { startTestServer } from "../helpers/server.ts";
import { openStream } from "../helpers/stream.ts";

describe("shutting down", () => {
  it("[HTTP-43] [HTTP-78] closes the listener, cuts streams after a whole message, and can be called twice", async () => {
    await using t = await startTestServer();
    const id = await t.newSession();
    const streams = await Promise.all(
      Array.from({ length: 5 }, () => openStream(t.url, `/api/sessions/${id}/stream`)),
    );
    await t.post(id, "the last one");
    await Promise.all(streams.map((stream) => stream.received(1)));
    const closing = t.server.close();
    // at once, before any stream has ended: nobody gets an error from a server that is going
    await expect(connect(t.url)).rejects.toMatchObject({ code: "ECONNREFUSED" });
    await Promise.all([closing, t.server.close()]);
    for (const stream of streams) {
      expect(await stream.ended).toBe(false);
      expect(stream.messages()).toHaveLength(1);
    }
    expect(t.server.app.streams).toMatchObject({ open: 0, watched: 0 });
    await t.server.close();
  });

  it("[HTTP-43] lets a running request finish", async () => {
    await using t = await startTestServer();
    const id = await t.newSession();
    const request = http.request(`${t.url}/api/sessions/${id}/messages`, {
      method: "POST",
      headers: { "content-type": "application/json", "content-length": 15 },
    });
    request.write('{"content":');
    await once(t.server.app.fastify.server, "request");
    const closing = t.server.close();
    request.end('"x"}');
    const [response] = (await once(request, "response")) as [http.IncomingMessage];
    expect(response.statusCode).toBe(201);
    response.resume();
    await closing;
  });

  it("[HTTP-43] does not wait for connections without a request", async () => {
    // a grace that no test would live to see
    await using t = await startTestServer({ graceMs: 600_000 });
    const { hostname, port } = new URL(t.url);
    const sockets = [
      "",
      "GET /livez HTTP/1.1\r\nHos",
      `GET /livez HTTP/1.1\r\nHost: ${hostname}:${port}\r\n\r\n`,
    ];
    for (const bytes of sockets) {
      const socket = net.connect(Number(port), hostname);
      socket.on("error", () => undefined);
      await once(socket, "connect");
      socket.write(bytes);
    }
    await t.call("GET", "/livez");
    await t.server.close();
  });

  it("[HTTP-43] does not wait forever: idle connections, half requests, readers that take nothing", async () => {
    await using t = await startTestServer({ graceMs: 200 });
    const id = await t.newSession();
    for (let index = 0; index < 12; index += 1) {
      await t.post(id, "x".repeat(1024 * 1024));
    }
    const { hostname, port } = new URL(t.url);
    const sockets = [
      "",
      "POST /api/sessions HTTP/1.1\r\nHost: ",
      `POST /api/sessions HTTP/1.1\r\nHost: ${hostname}:${port}\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{`,
      `GET /api/sessions/${id}/stream HTTP/1.1\r\nHost: ${hostname}:${port}\r\n\r\n`,
    ].map((bytes) => {
      const socket = net.connect(Number(port), hostname);
      socket.on("error", () => undefined);
      socket.write(bytes);
      return socket.pause();
    });
    while (t.server.app.streams.open === 0) {
      await new Promise((resolve) => {
        setTimeout(resolve, 5);
      });
    }
    await t.server.close();
    const { server } = t.server.app.fastify;
    expect(server.listening).toBe(false);
    server.getConnections((_error, count) => expect(count).toBe(0));
    for (const socket of sockets) {
      socket.destroy();
    }
  });
});

describe("the address to listen on", () => {
  it("[HTTP-44] is refused with its reason if it is in use or not local", async () => {
    await using t = await startTestServer();
    const port = Number(new URL(t.url).port);
    const options = { store: t.store, version: "1", host: "127.0.0.1", port };
    await expect(startServer(options)).rejects.toMatchObject({
      code: "address_unavailable",
      message: expect.stringContaining("--port"),
    });
    for (const host of ["192.0.2.1", "no-such-name.invalid"]) {
      const start = startServer({ ...options, host, port: 0, token: "x" });
      await expect(start).rejects.toMatchObject({ code: "address_unavailable" });
    }
    // what could not listen has left nothing behind, and the store is as good as before
    expect((await t.call("GET", "/readyz")).status).toBe(200);
  });

  it("[HTTP-44] localhost is one address, and the printed one answers", async () => {
    await using t = await startTestServer({ host: "localhost" });
    expect(t.url).toMatch(/^http:\/\/localhost:\d+$/);
    expect((await fetch(t.url.replace("localhost", "127.0.0.1") + "/livez")).status).toBe(200);
  });
});

describe("the log", () => {
  it("[HTTP-45] holds one line per request and nothing that anyone wrote", async () => {
    await using t = await startTestServer();
    const id = await t.newSession();
    const secret = "pr1vate";
    await t.post(id, secret);
    await t.call("GET", `/api/sessions/${id}?before_seq=${secret}`, {
      headers: { "x-note": secret },
    });
    await t.call("GET", `/api/sessions/${secret}`);
    await t.call("GET", `/${secret}`);
    await t.call("POST", "/api/sessions", { body: { persona_name: secret } });
    const stream = await openStream(t.url, `/api/sessions/${id}/stream`);
    await stream.received(1);
    stream.cut();
    while (t.log.length < 7) {
      await new Promise((resolve) => {
        setTimeout(resolve, 5);
      });
    }
    expect(t.log.map(({ method, route, status }) => [method, route, status])).toEqual([
      ["POST", "/api/sessions", 201],
      ["POST", "/api/sessions/:id/messages", 201],
      ["GET", "/api/sessions/:id", 422],
      ["GET", "/api/sessions/:id", 404],
      ["GET", "none", 404],
      ["POST", "/api/sessions", 201],
      ["GET", "/api/sessions/:id/stream", 200],
    ]);
    expect(new Set(t.log.map(({ id: request }) => request)).size).toBe(7);
    expect(t.log.map(({ ms }) => typeof ms)).toEqual(Array.from({ length: 7 }, () => "number"));
    const text = JSON.stringify(t.log);
    expect(text).not.toContain(secret);
    expect(text).not.toContain(id);
  });
});

async function connect(url: string): Promise<void> {
  const { hostname, port } = new URL(url);
  const socket = net.connect(Number(port), hostname);
  await once(socket, "connect");
  socket.destroy();
}
