import { ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { expect, it } from "vitest";
import { z } from "zod";

import { offeredChoices } from "../../../src/core/text/words.ts";
import { ask } from "../../../src/agent/permit/tool-asking.ts";
import { exportText } from "../../../src/store/portable/export-text.ts";
import { readSessionTree } from "../../../src/store/portable/read-tree.ts";
import { listOpenQuestions } from "../../../src/store/records/questions/read.ts";
import { openBench } from "../../helpers/exchanger.ts";
import { startModelServer } from "../../helpers/model-server.ts";

const KEY = "sk-canary-0123456789abcdefghijklmnopqrstuvwxyz";
const options = { description: "A tool.", schema: z.object({}) };

/** They return, throw and ask what holds the key. */
const TOOLS = [
  tool(
    (_, { toolCall }: { toolCall?: { id?: string } }) =>
      new ToolMessage({
        name: "blocks",
        tool_call_id: toolCall?.id ?? "",
        content: [
          { type: "text", text: `begin ${KEY.slice(0, 20)}` },
          { type: "text", text: `${KEY.slice(20)} end` },
          { type: "image_url", image_url: { url: `https://images.test/${KEY}` } },
        ],
        artifact: { list: [{ [KEY]: KEY }] },
      }),
    { ...options, name: "blocks" },
  ),
  tool(
    () => {
      throw new Error(`The server refused ${KEY}.`);
    },
    { ...options, name: "throws" },
  ),
  tool(
    async (_, config) => {
      const { answer } = await ask(config, {
        kind: "question",
        text: `Is it ${KEY}?`,
        choices: offeredChoices(["yes", KEY]),
        permission: {
          tool: "send",
          subject: `It sends ${KEY}.`,
          rule: KEY,
          layer: "built-in",
          may_last: false,
        },
      });
      return answer;
    },
    { ...options, name: "asks" },
  ),
];

it("[PERMISSION-70] [PERMISSION-72] a secret is in no result, split or thrown, no question, event, row or checkpoint", async () => {
  const server = await startModelServer({
    answer: (messages) =>
      messages.at(-1)?.role === "user"
        ? { toolCalls: TOOLS.map(({ name }) => ({ name, arguments: "{}" })) }
        : { content: "done" },
  });
  const bench = await openBench(
    server,
    {},
    { programTools: TOOLS, secrets: async () => [{ name: "TEST_KEY", value: KEY }] },
  );
  expect((await bench.run({ text: "go" })).state).toBe("waiting");
  const reference = bench.session.id;
  const [question] = await bench.store.read(listOpenQuestions, { reference });
  expect(question).toMatchObject({
    text: "Is it [TEST_KEY]?",
    choices: [{ label: "yes" }, { label: "[TEST_KEY]" }],
    permission: { subject: "It sends [TEST_KEY].", rule: "[TEST_KEY]" },
  });
  const results = bench.events.flatMap((event) =>
    event.type === "tool_result" ? [event.content] : [],
  );
  expect(results).toEqual(
    expect.arrayContaining([
      "begin [TEST_KEY] end",
      expect.stringContaining("Error: The server refused [TEST_KEY]."),
    ]),
  );
  const tree = await bench.store.read(readSessionTree, { id: reference });
  const exported = [...exportText(tree, new Date().toISOString())].join("");
  for (const text of [exported, JSON.stringify(bench.events)]) {
    expect(text).not.toContain(KEY.slice(10));
    expect(text).toContain("[TEST_KEY]");
  }
});
