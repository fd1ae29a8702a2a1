import { type AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";
import { describe, expect, it } from "vitest";

import { modelConfig } from "../../../src/rules/models/config.ts";
import { openModel } from "../../../src/agent/models/open.ts";
import { PROVIDERS } from "../../helpers/providers/start.ts";
import { call, reasoning, type Step, text } from "../../helpers/providers/steps.ts";
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

it("LangChain's client of the Responses API sends reasoning back as the mock gave it", async () => {
  const provider = await providerOfTest("openai", (index) => [
    reasoning(`Reasoning ${index}.`),
    ...(index < 2
      ? [text("I read it."), call("read_file", { path: "a.txt" }), reasoning("And then?")]
      : []),
    ...(index < 2 ? [call("read_file", { path: "b.txt" })] : [text("Done.")]),
  ]);
  const model = new ChatOpenAI({
    model: "gpt-6.1-sol",
    apiKey: "test-key",
    useResponsesApi: true,
    zdrEnabled: true,
    streamUsage: true,
    maxRetries: 0,
    modelKwargs: { include: ["reasoning.encrypted_content"] },
    configuration: { baseURL: `${provider.url}/v1` },
  });
  const messages: (AIMessage | HumanMessage | ToolMessage)[] = [new HumanMessage("Read it.")];
  for (let index = 0; index < 3; index += 1) {
    let answer: Awaited<ReturnType<typeof model.invoke>> | undefined;
    for await (const chunk of await model.stream(messages)) {
      answer = answer?.concat(chunk) ?? chunk;
    }
    const made = answer ?? expect.fail();
    messages.push(made);
    for (const { id = "" } of made.tool_calls ?? []) {
      messages.push(new ToolMessage({ tool_call_id: id, content: "7" }));
    }
  }
  expect(provider.refusals()).toEqual([]);
  expect(provider.received.flatMap(({ dropped }) => dropped)).toEqual([]);
  const { input } = provider.requests.at(-1) as { input: readonly { readonly type: string }[] };
  expect(input.filter(({ type }) => type === "reasoning")).toHaveLength(4);
});
