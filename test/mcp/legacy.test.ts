import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";

import { McpServer, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";

import type { Server } from "../../src/mcp/configured-servers.ts";
import { isAnswer, reasonOf } from "../../src/mcp/reasons.ts";
import { resultText } from "../../src/mcp/result-text.ts";
import { Servers } from "../../src/mcp/servers.ts";
import type { McpPlace } from "../../src/rules/servers/server.ts";
import { temporaryFolder } from "../helpers/temp.ts";

const LEGACY = fileURLToPath(new URL("../fixtures/mcp/legacy.ts", import.meta.url));

function openServer(place: McpPlace, timeoutMs = 60_000) {
  const server: Server = {
    name: "old",
    place,
    tools: null,
    timeoutMs,
    client: null,
    hash: "0",
    secrets: [],
  };
  const servers = new Servers({
    servers: [server],
    unusable: [],
    problems: [],
    env: { PATH: process.env["PATH"] },
    folder: temporaryFolder(),
    version: "0.0.0",
    listTimeoutMs: 60_000,
    session_id: "00000000-0000-4000-8000-000000000000",
    cwd: null,
    conceal: (given) => given,
    onSecrets: () => {},
  });
  onTestFinished(() => servers.end());
  const call = async () => {
    const connection = await servers.connection(server);
    const [tool = expect.fail("no tool")] = (await connection.list()).tools;
    const running = connection.call({
      tool,
      args: { text: "a" },
      timeoutMs,
      signal: undefined,
      onProgress: () => {},
    });
    const step = await running.next(undefined);
    const { result } = step.kind === "result" ? step : expect.fail("no result");
    return { text: resultText(result), protocol: connection.protocol };
  };
  return { servers, call };
}

/** A service of the SDK with sessions. */
async function startSessions(enableJsonResponse: boolean) {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  const requests: string[] = [];
  const newSession = async () => {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      enableJsonResponse,
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
    });
    const server = new McpServer({ name: "sessions", version: "1.0.0" });
    server.registerTool(
      "echo",
      { description: "Repeats a text.", inputSchema: z.object({ text: z.string() }) },
      async ({ text: given }) => ({ content: [{ type: "text", text: `echo: ${given}` }] }),
    );
    await server.connect(transport);
    return transport;
  };
  const service = createServer((request, response) => {
    void (async () => {
      const body = await text(request);
      const id = request.headers["mcp-session-id"];
      requests.push(`${request.method}${id === undefined ? "" : " in a session"}`);
      const known = typeof id === "string" ? sessions.get(id) : await newSession();
      if (known === undefined) {
        response.writeHead(404).end();
        return;
      }
      const answer = await known.handleRequest(
        new Request("http://127.0.0.1/mcp", {
          method: request.method ?? "GET",
          headers: Object.entries(request.headers).map(([name, value]): [string, string] => [
            name,
            String(value),
          ]),
          body: request.method === "POST" ? body : null,
        }),
      );
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      if (answer.body === null) {
        response.end();
      } else {
        Readable.fromWeb(answer.body as never).pipe(response);
      }
    })();
  });
  return { url: await listening(service), sessions, requests };
}

async function listening(service: ReturnType<typeof createServer>): Promise<string> {
  service.listen(0, "127.0.0.1");
  await once(service, "listening");
  onTestFinished(() => {
    service.close();
    service.closeAllConnections();
  });
  const { port } = service.address() as AddressInfo;
  return `http://127.0.0.1:${port}/mcp`;
}

describe("the protocol before 2026-07-28", () => {
  it("[MCP-50] is spoken with a program", async () => {
    const { call } = openServer({
      kind: "program",
      command: process.execPath,
      args: [LEGACY],
      env: {},
    });
    expect(await call()).toEqual({ text: "echo: a", protocol: "2025-11-25" });
  });

  it.each([false, true])(
    "[MCP-50] is spoken over HTTP in a session, which is ended (answers in JSON: %s)",
    async (asJson) => {
      const service = await startSessions(asJson);
      const { servers, call } = openServer({ kind: "address", url: service.url, headers: {} });
      expect(await call()).toEqual({ text: "echo: a", protocol: "2025-11-25" });
      expect(await call()).toEqual({ text: "echo: a", protocol: "2025-11-25" });
      expect(service.sessions.size).toBe(1);
      await servers.end();
      expect(service.requests).toContain("DELETE in a session");
      expect(service.sessions.size).toBe(0);
    },
  );

  it("[MCP-50] has another session if the server has forgotten the first one, and repeats no call", async () => {
    const service = await startSessions(true);
    const { call } = openServer({ kind: "address", url: service.url, headers: {} });
    await call();
    service.sessions.clear();
    const error = await call().then(
      () => expect.fail("it succeeded"),
      (error: unknown) => error,
    );
    expect(reasonOf(error)).toContain("its session has ended");
    expect(isAnswer(error)).toBe(true);
    expect(await call()).toEqual({ text: "echo: a", protocol: "2025-11-25" });
  });
});

describe("an answer over HTTP", () => {
  const MEGABYTE = "x".repeat(1024 * 1024);
  const stream = (response: ServerResponse, chunk: (at: number) => string): void => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const write = (at: number): void => {
      if (!response.destroyed && at < 400) {
        response.write(chunk(at), () => write(at + 1));
      }
    };
    write(0);
  };

  it.each<readonly [what: string, send: (response: ServerResponse) => void]>([
    [
      "one JSON text",
      (response) => {
        response.writeHead(200, { "content-type": "application/json" });
        response.end(`{"x":"${MEGABYTE.repeat(9)}"}`);
      },
    ],
    [
      "one line of an event",
      (response) => stream(response, (at) => (at === 0 ? "data: " : MEGABYTE)),
    ],
    ["one event of many lines", (response) => stream(response, () => `data: ${MEGABYTE}\n`)],
    [
      "one event with other ends of lines",
      (response) => stream(response, () => `data: ${MEGABYTE}\r\n`),
    ],
    ["very many events", (response) => stream(response, () => `data: ${MEGABYTE}\n\n`)],
  ])("[MCP-51] is broken off if it is too large: %s", async (_, send) => {
    const service = createServer((request, response) => {
      void (async () => {
        const body = await text(request);
        if (!body.includes(`"initialize"`)) {
          response.writeHead(body.includes("server/discover") ? 400 : 202).end();
          return;
        }
        send(response);
      })();
    });
    const { servers } = openServer({ kind: "address", url: await listening(service), headers: {} });
    const { tools, problems } = await servers.offered();
    expect(tools).toEqual([]);
    expect(problems).toEqual([expect.stringContaining("its answer is too large.")]);
  });
});
