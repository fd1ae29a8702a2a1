import { setTimeout as sleep } from "node:timers/promises";

import { expect } from "vitest";

import { createClient } from "../../src/client/client.ts";
import type { QueuedExchangeInfo } from "../../src/core/schemas/schemas.ts";
import type { ProcessOptions } from "./process.ts";
import { freshHome, type Home } from "./reprise.ts";

const TOKEN = "a-token";

/** A home whose services answer with the demo model, if the environment names no other. */
export function homeOfNodes(env: Readonly<Record<string, string>> = {}): Home {
  return freshHome({ REPRISE_MODEL: "demo", REPRISE_TOKEN: TOKEN, ...env });
}

/** Starts `reprise serve` in such a home. */
export async function startNode(home: Home, args: readonly string[], options?: ProcessOptions) {
  const service = home.start(["serve", "--port", "0", ...args], options);
  const [, url = ""] = await service.waitFor(/^listening on (\S+)$/m);
  const client = createClient({ baseUrl: url, token: TOKEN });
  const queue = (id: string, content = "hi"): Promise<Response> =>
    fetch(`${url}/api/sessions/${id}/exchanges`, {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify({ content }),
    });
  return {
    service,
    url,
    client,
    queue,
    post: async (id: string, content: string): Promise<QueuedExchangeInfo> => {
      const answer = await queue(id, content);
      expect(answer.status).toBe(202);
      return (await answer.json()) as QueuedExchangeInfo;
    },
    ended: async (id: string, n = 1): Promise<string> => {
      let exchange = await client.getExchange(id, n);
      while (exchange.ended_at === null) {
        await sleep(20);
        exchange = await client.getExchange(id, n);
      }
      return exchange.state;
    },
  };
}
