import { AIMessage, type AIMessageChunk } from "@langchain/core/messages";
import { expect, it } from "vitest";

import { modelConfig } from "../../../src/rules/models/config.ts";
import { openModel } from "../../../src/agent/models/open.ts";
import { startProvider } from "../../helpers/providers/start.ts";
import { call, text } from "../../helpers/providers/steps.ts";

const STEPS = [
  text("Hello"),
  text(" there"),
  call("look", {}),
  { kind: "usage", input: 5, output: 4 } as const,
];

it.each([{ role: undefined }, { role: null }, { role: "" }] as const)(
  "[ANSWER-6] text that a server streams with the role %j is the assistant's",
  async (quirks) => {
    await using provider = await startProvider("openai", () => STEPS, { quirks });
    const model = await openModel({ name: "openai:local", config: modelConfig(provider.env) });
    let answer: AIMessageChunk | undefined;
    for await (const chunk of await model.stream("hello")) {
      answer = answer?.concat(chunk) ?? chunk;
    }
    expect(AIMessage.isInstance(answer)).toBe(true);
    expect(answer?.text).toBe("Hello there");
    expect(answer?.tool_calls).toMatchObject([{ name: "look", args: {} }]);
    expect(answer?.usage_metadata).toMatchObject({ input_tokens: 5, output_tokens: 4 });
  },
);
