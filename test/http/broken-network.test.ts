import { join } from "node:path";

import { expect, it } from "vitest";

import { seededRandom } from "../helpers/random.ts";
import { testSize } from "../helpers/size.ts";
import { temporaryFolder } from "../helpers/temp.ts";
import { followThroughBreaks } from "../torture/broken-network.ts";

const MESSAGES = testSize("network");

it("[HTTP-48] [HTTP-14] messages over broken connections arrive once each and in order", async () => {
  const { messages, retries } = await followThroughBreaks({
    database: join(temporaryFolder(), "reprise.db"),
    messages: MESSAGES,
    breaks: MESSAGES / 50,
    random: seededRandom("the client through broken connections"),
    reader: "client",
  });
  expect(messages).toBe(MESSAGES);
  expect(retries).toBeGreaterThan(0);
});

it("[HTTP-36] [HTTP-29] an EventSource gets each message once and in order over broken connections", async () => {
  const { messages } = await followThroughBreaks({
    database: join(temporaryFolder(), "reprise.db"),
    messages: MESSAGES / 2,
    breaks: MESSAGES / 100,
    random: seededRandom("an EventSource through broken connections"),
    reader: "EventSource",
  });
  expect(messages).toBe(MESSAGES / 2);
});
