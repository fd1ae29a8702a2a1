import { expect, it, onTestFinished } from "vitest";

import { openModel } from "../../../src/agent/models/open.ts";
import { modelConfig } from "../../../src/rules/models/config.ts";
import { startProvider } from "../../helpers/providers/start.ts";
import { text } from "../../helpers/providers/steps.ts";

it.each([
  ["mistral", false],
  ["groq", true],
])("[MODEL-13] %s is asked for a count of tokens if it takes that: %s", async (name, isAsked) => {
  const provider = await startProvider("openai", () => [text("Done.")]);
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const baseUrl = `${provider.url}/v1`;
  const entry = { api: null, baseUrl, key: null, headers: {} };
  const config = modelConfig({}, { [name]: entry });
  const model = await openModel({ name: `${name}:test`, config });
  for await (const _ of await model.stream("hi")) {
    // read to the end
  }
  expect("stream_options" in (provider.requests[0] ?? {})).toBe(isAsked);
});
