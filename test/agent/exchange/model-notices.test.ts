import { expect, it } from "vitest";

import { openBench } from "../../helpers/exchanger.ts";
import { startModelServer } from "../../helpers/model-server.ts";

const OWN_CONTEXT = { REPRISE_CONTEXT_TOKENS: "" };

async function notices(model: string, times = 2): Promise<readonly string[]> {
  const server = await startModelServer({ answer: () => ({ content: "answer" }) });
  const bench = await openBench(server, { REPRISE_MODEL: model, ...OWN_CONTEXT });
  for (let n = 0; n < times; n += 1) {
    await bench.run({ text: `question ${n}` });
  }
  return bench.events.flatMap((event) => (event.type === "notice" ? [event.sentence] : []));
}

it("[MODEL-2] an exchange with a model that nobody knows says once what is assumed", async () => {
  const [sentence, ...others] = await notices("openai:gpt-test");
  expect(sentence).toContain("a context of 128,000 tokens is assumed");
  expect(sentence).toContain("price is unknown");
  expect(others).toEqual([]);
});

it("[MODEL-4] an exchange with a model that ends says so once in a session", async () => {
  const [sentence, ...others] = await notices("openai:gpt-5-mini");
  expect(sentence).toContain("shut down after 11 Dec 2026");
  expect(others).toEqual([]);
});

it("[MODEL-2] says nothing about a model of the table", async () => {
  expect(await notices("openai:gpt-5.2", 1)).toEqual([]);
});
