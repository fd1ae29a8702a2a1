import { once } from "node:events";
import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import type { AddressInfo } from "node:net";

import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { expect, it, onTestFinished } from "vitest";
import { z } from "zod";

import { boundedFetch } from "../../src/mcp/bounded-fetch.ts";
import { connect, reconnectMs } from "../../src/mcp/connection.ts";
import { MAX_MESSAGE_BYTES } from "../../src/mcp/program-transport.ts";
import { resultOf } from "../helpers/mcp.ts";

const LARGE = "x".repeat(MAX_MESSAGE_BYTES + 1);

function connectAddress(url: string) {
  return connect({
    server: {
      name: "service",
      place: { kind: "address", url, headers: { "x-token": "given" } },
      tools: null,
      timeoutMs: 60_000,
      hash: "",
      secrets: [],
      client: null,
    },
    version: "0.0.0",
    folder: null,
    onSecrets: () => {},
    program: () => expect.fail("no program is started"),
    timeoutMs: 60_000,
    signal: new AbortController().signal,
  });
}

/** A service with the SDK. Its path `/moved` leads elsewhere. */
async function startService() {
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: "service", version: "1.0.0" });
    server.registerTool(
      "echo",
      { description: "Repeats a text.", inputSchema: z.object({ text: z.string() }) },
      async ({ text }) => ({ content: [{ type: "text", text: `echo: ${text}` }] }),
    );
    return server;
  });
  const tokens = new Set<unknown>();
  const service = createServer((request, response) => {
    void (async () => {
      if (request.url === "/moved") {
        response.writeHead(302, { location: "http://localhost:1/mcp" }).end();
        return;
      }
      if (request.url === "/huge") {
        response.writeHead(200, { "content-type": "application/json" }).end(`"${LARGE}"`);
        return;
      }
      if (request.url?.startsWith("/stream/") === true) {
        const events = {
          "/stream/line": LARGE,
          "/stream/lines": "data: x\r\n".repeat(LARGE.length / 8),
        };
        const lines =
          new Map(Object.entries(events)).get(request.url) ?? "x\r\n\r\n".repeat(LARGE.length / 4);
        response.writeHead(200, { "content-type": "text/event-stream" }).end(`data: ${lines}\n\n`);
        return;
      }
      tokens.add(request.headers["x-token"]);
      const { method = "GET", url = "" } = request;
      const body = await buffer(request);
      const headers = Object.entries(request.headers).map(([name, value]): [string, string] => [
        name,
        String(value),
      ]);
      const given = new Request(`http://127.0.0.1${url}`, {
        method,
        headers,
        body: method === "POST" ? body.toString("utf8") : null,
      });
      const answer = await handler.fetch(given);
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      response.end(await answer.text());
    })();
  });
  service.listen(0, "127.0.0.1");
  await once(service, "listening");
  onTestFinished(() => void service.close());
  const { port } = service.address() as AddressInfo;
  const connectTo = (path: string) => connectAddress(`http://127.0.0.1:${port}${path}`);
  return { connectTo, tokens, url: `http://127.0.0.1:${port}` };
}

it("[MCP-10] calls tools over HTTP, with the headers of the config", async () => {
  const { connectTo, tokens } = await startService();
  const connection = await connectTo("/mcp");
  onTestFinished(() => connection.close());
  const { tools } = await connection.list();
  expect(tools.map(({ fullName }) => fullName)).toEqual(["service__echo"]);
  const [tool = expect.fail("no tool")] = tools;
  const call = { tool, args: { text: "a" }, timeoutMs: 60_000, signal: undefined };
  expect(await resultOf(connection.call({ ...call, onProgress: () => {} }))).toBe("echo: a");
  expect([...tokens]).toEqual(["given"]);
});

it("[MCP-22] takes no message of more than 8 MiB, and streams of any length", async () => {
  const { connectTo, url } = await startService();
  await expect(connectTo("/huge")).rejects.toThrow("too large");
  const read = async (path: string): Promise<number> =>
    (await (await boundedFetch(MAX_MESSAGE_BYTES)(`${url}${path}`)).text()).length;
  for (const path of ["/stream/line", "/stream/lines"]) {
    await expect(read(path)).rejects.toThrow("too large");
  }
  expect(await read("/stream/long")).toBeGreaterThan(MAX_MESSAGE_BYTES);
});

it("[MCP-22] follows no redirect to another origin", async () => {
  const { connectTo } = await startService();
  await expect(connectTo("/moved")).rejects.toThrow("not followed");
});

it("[MCP-132] opens a stream that ends without its answer at most once a second, whatever its server asks for", async () => {
  const opened: number[] = [];
  const service = createServer((request, response) => {
    void (async () => {
      const body = (await buffer(request)).toString("utf8");
      const message: unknown = body === "" ? {} : JSON.parse(body);
      const { id, method } = message as { id?: number; method?: string };
      const answer = (result: object): void => {
        response.writeHead(200, { "content-type": "application/json" });
        response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
      };
      if (method === "initialize") {
        const serverInfo = { name: "cuts", version: "0" };
        answer({ protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo });
      } else if (method === "tools/list") {
        answer({ tools: [{ name: "act", description: "", inputSchema: { type: "object" } }] });
      } else if (method === "tools/call" || (method === undefined && opened.length > 0)) {
        opened.push(performance.now());
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.end(`id: ${opened.length}\nretry: 0\ndata:\n\n`);
      } else {
        response.writeHead(method === "notifications/initialized" ? 202 : 405).end();
      }
    })();
  });
  service.listen(0, "127.0.0.1");
  await once(service, "listening");
  onTestFinished(() => {
    service.closeAllConnections();
    service.close();
  });
  const { port } = service.address() as AddressInfo;
  const connection = await connectAddress(`http://127.0.0.1:${port}/mcp`);
  onTestFinished(() => connection.close());
  const { tools } = await connection.list();
  const [tool = expect.fail("no tool")] = tools;
  const stop = new AbortController();
  const call = { tool, args: {}, timeoutMs: 60_000, signal: stop.signal, onProgress: () => {} };
  const ended = connection
    .call(call)
    .next(stop.signal)
    .catch(() => null);
  await expect.poll(() => opened.length).toBe(2);
  stop.abort();
  await ended;
  expect(opened[1]! - opened[0]!).toBeGreaterThan(900);
  // a time that is too long for a timer would be none
  expect([0, 5000, 9e9].map(reconnectMs)).toEqual([1000, 5000, 60_000]);
});
