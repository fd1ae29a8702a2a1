import { join } from "node:path";

import { expect, it } from "vitest";

import { seededRandom } from "../helpers/random.ts";
import { temporaryFolder } from "../helpers/temp.ts";
import { followThroughBreaks } from "../torture/broken-network.ts";

it("[HTTP-48] [HTTP-14] 5,000 messages over 50 broken connections: none lost, doubled or out of order", async () => {
  const { messages, retries } = await followThroughBreaks({
    database: join(temporaryFolder(), "reprise.db"),
    messages: 5000,
    breaks: 50,
    random: seededRandom("the client through broken connections"),
    reader: "client",
  });
  expect(messages).toBe(5000);
  expect(retries).toBeGreaterThan(0);
});

it("[HTTP-36] [HTTP-29] an EventSource loses, doubles and mixes up nothing over 20 broken connections", async () => {
  const { messages } = await followThroughBreaks({
    database: join(temporaryFolder(), "reprise.db"),
    messages: 1000,
    breaks: 20,
    random: seededRandom("an EventSource through broken connections"),
    reader: "EventSource",
  });
  expect(messages).toBe(1000);
});
