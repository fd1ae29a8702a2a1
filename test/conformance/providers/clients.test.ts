import type { AIMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";

import { modelConfig } from "../../../src/rules/models/config.ts";
import { openModel } from "../../../src/agent/models/open.ts";
import { PROVIDERS } from "../../helpers/providers/start.ts";
import { reasoning, type Step, text } from "../../helpers/providers/steps.ts";
import { providerOfTest } from "./send.ts";

const MODELS = {
  openai: "openai:local",
  anthropic: "anthropic:claude-sonnet-5",
  ollama: "ollama:llama3.2:3b",
};

describe.each(PROVIDERS)("the client that the program uses for %s", (name) => {
  const ask = async (steps: readonly Step[]) => {
    const provider = await providerOfTest(name, () => steps);
    const model = await openModel({ name: MODELS[name], config: modelConfig(provider.env) });
    let answer: AIMessage | undefined;
    for await (const chunk of await model.stream("hello")) {
      answer = answer === undefined ? chunk : (answer as typeof chunk).concat(chunk);
    }
    return { answer, provider };
  };

  it("reads an answer of the mock, with its calls and its usage", async () => {
    const { answer, provider } = await ask([
      reasoning("Hm."),
      text("I read "),
      text("it."),
      { kind: "call", name: "read_file", args: '{"path":"a.txt"}', size: 4 },
    ]);
    expect(answer?.text).toContain("I read it.");
    expect(answer?.tool_calls).toMatchObject([{ name: "read_file", args: { path: "a.txt" } }]);
    const [received] = provider.received;
    expect(answer?.usage_metadata?.output_tokens).toBe(received?.usage?.output);
    expect(provider.refusals()).toEqual([]);
  });

  it("fails if the stream breaks off, or reports an error", async () => {
    await expect(ask([text("Half"), { kind: "drop" }])).rejects.toThrow(/\S/);
    await expect(ask([text("Half"), { kind: "error", cause: "failed" }])).rejects.toThrow(/\S/);
  });
});
