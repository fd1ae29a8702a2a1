import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

import { createMcpHandler, type McpServer } from "@modelcontextprotocol/server";
import { onTestFinished } from "vitest";

/** What a service does with a request before it answers; `cut` ends the connection instead. */
export type OnRequest = (body: string) => "cut" | null;

/** A service with the SDK on loopback, in the stateless protocol and the one before it. Returns its address. */
export async function startMcpService(
  open: () => McpServer,
  after: OnRequest = () => null,
): Promise<string> {
  const handler = createMcpHandler(open);
  const service = createServer((request, response) => {
    void (async () => {
      const body = (await buffer(request)).toString("utf8");
      const headers = Object.entries(request.headers).map(([name, value]): [string, string] => [
        name,
        String(value),
      ]);
      const { method = "GET", url = "" } = request;
      const given = new Request(`http://127.0.0.1${url}`, {
        method,
        headers,
        body: method === "POST" ? body : null,
      });
      const answer = await handler.fetch(given);
      const text = await answer.text();
      if (after(body) === "cut") {
        response.destroy();
        return;
      }
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      response.end(text);
    })().catch(() => response.destroy());
  });
  service.listen(0, "127.0.0.1");
  await once(service, "listening");
  onTestFinished(() => {
    service.closeAllConnections();
    service.close();
  });
  const { port } = service.address() as AddressInfo;
  return `http://127.0.0.1:${port}/mcp`;
}
