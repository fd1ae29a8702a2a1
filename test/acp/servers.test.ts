import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { expect, it, onTestFinished } from "vitest";

import { startEditor } from "../helpers/editor.ts";
import { startModelServer } from "../helpers/model-server.ts";
import { startOAuth } from "../helpers/oauth-server.ts";
import { freshHome } from "../helpers/reprise.ts";

/** A service over HTTP that answers only requests with its header. */
async function startService() {
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: "notes", version: "1.0.0" });
    server.registerTool("act", { description: "Acts." }, async () => ({
      content: [{ type: "text", text: "acted" }],
    }));
    return server;
  });
  const service = createServer((request, response) => {
    void (async () => {
      if (request.headers["x-key"] !== "key-of-the-user") {
        response.writeHead(401).end();
        return;
      }
      const body = await text(request);
      const answer = await handler.fetch(
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
      response.end(await answer.text());
    })();
  });
  service.listen(0, "127.0.0.1");
  await once(service, "listening");
  onTestFinished(() => {
    service.close();
    service.closeAllConnections();
  });
  return `http://127.0.0.1:${(service.address() as AddressInfo).port}/mcp`;
}

async function homeOf(tool: string) {
  const server = await startModelServer({
    answer: (messages) =>
      messages.at(-1)?.role === "user"
        ? { toolCalls: [{ name: tool, arguments: "{}", id: "c" }] }
        : { content: `end: ${messages.at(-1)?.content}` },
  });
  const home = freshHome({
    ...server.env("openai"),
    REPRISE_MODEL: "openai:test",
    NOTES_KEY: "key-of-the-user",
  });
  return { server, home };
}

it("[ACP-63] an editor's MCP server over HTTP is used in its session, with variables of the user in headers", async () => {
  const url = await startService();
  const { home, server } = await homeOf("notes__act");
  const editor = await startEditor(home, { onPermission: () => "allow_once" });
  const headers = [{ name: "X-Key", value: "${NOTES_KEY}" }];
  const sessionId = await editor.begin({
    mcpServers: [{ type: "http", name: "notes", url, headers }],
  });
  await editor.prompt(sessionId, "use it");
  expect(editor.asked[0]?.toolCall.name).toBe("notes__act");
  expect(editor.transcript()).toContain("agent: end: acted");
  await editor.leave();
  // the server belongs to that connection
  const second = await startEditor(home);
  await second.request("session/load", { sessionId, cwd: home.project, mcpServers: [] });
  await second.prompt(sessionId, "again");
  expect(second.asked).toEqual([]);
  expect(second.transcript().at(-1)).toMatch(/^agent: end: .*is not configured any more/s);
  expect(JSON.stringify([editor.updates(), second.updates()])).not.toContain("key-of-the-user");
  expect(server.refused()).toEqual([]);
});

it("[ACP-63] one that needs a login costs its tools, with a notice", async () => {
  const service = await startOAuth();
  const { home } = await homeOf("guarded__act");
  const editor = await startEditor(home);
  const sessionId = await editor.begin({
    mcpServers: [{ type: "http", name: "guarded", url: service.resource, headers: [] }],
  });
  await editor.prompt(sessionId, "use it");
  expect(editor.transcript().join("\n")).toContain(
    "The MCP server guarded cannot be used, so it has no tools here: it needs a login",
  );
  expect(editor.asked).toEqual([]);
});
