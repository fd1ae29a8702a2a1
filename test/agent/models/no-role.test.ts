import { once } from "node:events";
import { createServer } from "node:http";

import { AIMessage, type AIMessageChunk } from "@langchain/core/messages";
import { expect, it, onTestFinished } from "vitest";

import { modelConfig } from "../../../src/rules/models/config.ts";
import { openModel } from "../../../src/agent/models/open.ts";

/** Streams an answer in OpenAI's format as some compatible servers do: the given role, or none. */
async function startServer(role: object): Promise<string> {
  const call = { index: 0, id: "call_1", function: { name: "look", arguments: "{}" } };
  const deltas = [
    { ...role, content: "Hello" },
    { ...role, content: " there" },
    { ...role, tool_calls: [call] },
  ];
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const delta of deltas) {
      const chunk = { id: "1", object: "chat.completion.chunk", choices: [{ index: 0, delta }] };
      response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    }
    const usage = { prompt_tokens: 5, completion_tokens: 4, total_tokens: 9 };
    response.write(`data: ${JSON.stringify({ id: "1", choices: [], usage })}\n\n`);
    response.end("data: [DONE]\n\n");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/v1`;
}

it.each([{}, { role: null }, { role: "" }])(
  "[ANSWER-6] text that a server streams with the role %j is the assistant's",
  async (role) => {
    const config = modelConfig({ OPENAI_BASE_URL: await startServer(role) });
    const model = await openModel({ name: "openai:local", config });
    let answer: AIMessageChunk | undefined;
    for await (const chunk of await model.stream("hello")) {
      answer = answer?.concat(chunk) ?? chunk;
    }
    expect(AIMessage.isInstance(answer)).toBe(true);
    expect(answer?.text).toBe("Hello there");
    expect(answer?.tool_calls).toMatchObject([{ id: "call_1", name: "look", args: {} }]);
    expect(answer?.usage_metadata).toMatchObject({ input_tokens: 5, output_tokens: 4 });
  },
);
