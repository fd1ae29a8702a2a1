import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

import { AIMessageChunk, HumanMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";

import { agentGraph, MODEL_NODE } from "../../../src/agent/agent-graph.ts";
import { createCheckpointSaver } from "../../../src/agent/checkpoints/saver.ts";
import { DemoModel } from "../../../src/agent/models/demo.ts";
import { expectNoDrift } from "../../helpers/compare.ts";
import { openBench } from "../../helpers/exchanger.ts";
import { type ModelAnswer, startModelServer } from "../../helpers/model-server.ts";

/** Exchanges with a model that gives these answers, the last one again and again. */
async function benchOf(...answers: readonly ModelAnswer[]) {
  const server = await startModelServer({
    answer: (_messages, index) => answers[Math.min(index, answers.length - 1)] ?? {},
  });
  const bench = await openBench(server);
  const rows = async () => {
    const all = await expectNoDrift(bench.database, bench.session.id);
    return all.map(({ role, content }) => [role, content]);
  };
  return { server, bench, rows };
}

it("[ANSWER-1] answers with one id are messages of their own", async () => {
  const { server, bench, rows } = await benchOf(
    { id: "chatcmpl-7", content: "one" },
    { id: "chatcmpl-7", content: "two" },
  );
  await bench.run({ text: "first" });
  await bench.run({ text: "second" });
  const said = [
    ["user", "first"],
    ["assistant", "one"],
    ["user", "second"],
    ["assistant", "two"],
  ];
  expect(await rows()).toEqual(said);
  await bench.run({ text: "third" });
  expect(server.requests()[2]?.map(({ content }) => content)).toEqual([
    "first",
    "one",
    "second",
    "two",
    "third",
  ]);
});

describe.each([
  ["cut off", '{"path":"kept.txt","content":"half {of'],
  ["cut off behind an escape", '{"path":"kept.txt","content":"half\\"}'],
  ["no JSON", '}}{"path":'],
  ["a list", '["kept.txt"]'],
])("[ANSWER-2] a call whose arguments are %s", (_what, broken) => {
  it("is not carried out, but told about; the one beside it is carried out", async () => {
    const { server, bench, rows } = await benchOf(
      {
        content: "I write.",
        toolCalls: [
          { id: "call_good", name: "read_file", arguments: '{"path":"kept.txt"}' },
          { id: "call_broken", name: "write_file", arguments: broken },
        ],
      },
      { content: "so be it" },
    );
    const file = path.join(bench.repo, "kept.txt");
    writeFileSync(file, "all of it");
    expect((await bench.run({ text: "write" })).answer).toBe("so be it");
    expect(readFileSync(file, "utf8")).toBe("all of it");
    const refusal = expect.stringMatching(/^Error: .*not one whole JSON object.*again/) as string;
    expect(await rows()).toEqual([
      ["user", "write"],
      ["assistant", "I write."],
      ["tool", refusal],
      ["tool", expect.stringContaining("all of it")],
      ["assistant", "so be it"],
    ]);
    expect((await bench.run({ text: "go on" })).answer).toBe("so be it");
    expect(server.refused()).toEqual([]);
    expect(server.requests()).toHaveLength(3);
  });

  it("is told about where it stands alone", async () => {
    const { server, bench } = await benchOf(
      { toolCalls: [{ id: "call_1", name: "write_file", arguments: broken }] },
      { content: "so be it" },
    );
    expect((await bench.run({ text: "write" })).answer).toBe("so be it");
    expect(readdirSync(bench.repo)).toEqual([]);
    expect((await bench.run({ text: "go on" })).answer).toBe("so be it");
    expect(server.refused()).toEqual([]);
  });
});

it("[ANSWER-3] a call of a tool that there is not is told which there are", async () => {
  const { bench, rows } = await benchOf(
    { toolCalls: [{ id: "call_1", name: "frobnicate", arguments: "{}" }] },
    { content: "ah" },
  );
  await bench.run({ text: "frobnicate it" });
  const [, , result] = await rows();
  expect(result).toEqual([
    "tool",
    "Error: there is no tool of this name; those there are: read_file, list_files, find_files, search_files, write_file, edit_file, delegate.",
  ]);
});

it("[ANSWER-4] an empty answer is stored and not sent again", async () => {
  const { server, bench, rows } = await benchOf({ content: "" }, { content: "here" });
  await bench.run({ text: "hello?" });
  await bench.run({ text: "anybody?" });
  expect(server.requests()[1]?.map(({ content }) => content)).toEqual(["hello?", "anybody?"]);
  expect(await rows()).toEqual([
    ["user", "hello?"],
    ["assistant", ""],
    ["user", "anybody?"],
    ["assistant", "here"],
  ]);
});

it("[ANSWER-5] a thread that holds a call that could not be read goes on", async () => {
  const { server, bench } = await benchOf({ content: "here" });
  const saver = createCheckpointSaver({ store: bench.store });
  const model = new DemoModel({});
  const older = agentGraph({
    model,
    tools: [],
    systemPrompt: "",
    saver,
    shown: (all) => all,
    countModelCall: () => undefined,
  });
  const raw = { name: "read_file", args: "}}{", id: "call_1", index: 0 };
  await older.updateState(
    { configurable: { thread_id: `${bench.session.id}:0` } },
    {
      messages: [
        new HumanMessage("read it"),
        new AIMessageChunk({
          content: "I read.",
          tool_call_chunks: [{ ...raw, type: "tool_call_chunk" }],
          additional_kwargs: {
            tool_calls: [
              { id: raw.id, type: "function", function: { name: raw.name, arguments: raw.args } },
            ],
          },
        }),
      ],
    },
    MODEL_NODE,
  );
  await bench.run({ text: "and?" });
  expect(server.refused()).toEqual([]);
  expect(server.requests()[0]?.map(({ content }) => content)).toEqual([
    "read it",
    "I read.",
    "and?",
  ]);
});
