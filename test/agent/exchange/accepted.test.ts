import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import { modelConfig } from "../../../src/rules/models/config.ts";
import { openAiAs } from "../../helpers/openai-as.ts";
import { openBench } from "../../helpers/exchanger.ts";
import { startProvider } from "../../helpers/providers/start.ts";
import { call, reasoning, type Step, text } from "../../helpers/providers/steps.ts";

const read = (index: number): Step => call("read_file", { path: `${index % 2}.txt` });

/** In turn: a call, two calls beside a text, an answer. */
function script(index: number): readonly Step[] {
  return [
    [reasoning("Hm."), read(index)],
    [reasoning("And?"), text("Both of them."), read(index), read(index + 1)],
    [reasoning("I know."), text(`Answer ${index}.`)],
  ][index % 3] as Step[];
}

it.each([
  ["anthropic", "claude-sonnet-5"],
  ["anthropic", "claude-opus-5-5"],
  ["anthropic", "claude-haiku-4-5"],
  ["openai", "gpt-4.1"],
  ["openai", "gpt-6.1-sol"],
  ["openai", "local"],
  ["ollama", "llama3.2:3b"],
] as const)(
  "%s accepts every request of some exchanges with reasoning and calls: %s",
  async (provider, model) => {
    await using server = await startProvider(provider, script);
    const env = { ...server.env, REPRISE_MODEL: `${provider}:${model}` };
    const models = modelConfig(env, openAiAs(model.startsWith("gpt-6") ? "responses" : "chat"));
    const bench = await openBench({ env: () => ({}) }, env, { models });
    writeFileSync(join(bench.repo, "0.txt"), "zero");
    writeFileSync(join(bench.repo, "1.txt"), "one");
    for (const question of ["first", "second", "third"]) {
      expect(await bench.run({ text: question })).toMatchObject({
        answer: expect.stringMatching(/^Answer/),
      });
    }
    expect(server.refusals()).toEqual([]);
    expect(server.received.flatMap(({ dropped }) => dropped)).toEqual([]);
    expect(server.requests).toHaveLength(9);
  },
);
