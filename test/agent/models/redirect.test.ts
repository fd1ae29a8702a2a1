import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { expect, it, onTestFinished } from "vitest";

import { openModel } from "../../../src/agent/models/open.ts";
import { modelConfig } from "../../../src/rules/models/config.ts";

/** A server that keeps the headers of its requests and answers as it is asked to. */
async function startServer(status: number, headers: Readonly<Record<string, string>> = {}) {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(JSON.stringify(request.headers));
    response.writeHead(status, headers).end("{}");
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

it.each(["openai", "anthropic", "ollama"])(
  "[MODEL-11] %s: a redirect to another host gets neither the key nor the request",
  async (provider) => {
    const other = await startServer(400);
    const first = await startServer(307, { location: `${other.url}/v1/chat/completions` });
    const config = modelConfig({
      [`${provider.toUpperCase()}_BASE_URL`]: first.url,
      [`${provider.toUpperCase()}_API_KEY`]: "sk-canary",
    });
    const model = await openModel({ name: `${provider}:x`, config });
    await expect(model.invoke("hello")).rejects.toThrow(/error|fetch/i);
    expect(first.seen).toHaveLength(1);
    expect(other.seen).toEqual([]);
  },
);

it("[MODEL-12] the headers of the config are sent with each request", async () => {
  const server = await startServer(400);
  for (const api of ["chat", "anthropic"] as const) {
    const config = modelConfig(
      {},
      { mine: { api, baseUrl: server.url, key: null, headers: { "X-Title": "mine" } } },
    );
    const model = await openModel({ name: "mine:x", config });
    await expect(model.invoke("hello")).rejects.toThrow("400");
  }
  expect(server.seen).toHaveLength(2);
  for (const headers of server.seen) {
    expect(headers).toContain('"x-title":"mine"');
  }
});
