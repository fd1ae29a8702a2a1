import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { startThread } from "../../../src/store/records/sessions/change.ts";
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

it("[ANSWER-1] answers with the same id are separate messages", async () => {
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
  ["with NUL", '{"path":"kept.txt","content":"a\\u0000b"}', "cannot be stored"],
  ["with half of a pair", '{"path":"kept.txt","content":"\\ud800"}', "cannot be stored"],
  [
    "with a member __proto__",
    '{"path":"kept.txt","content":"a","__proto__":{"x":1}}',
    "cannot be stored",
  ],
])(
  "[ANSWER-2] [ANSWER-43] a call whose arguments are %s",
  (_what, broken, why = "not one whole JSON object") => {
    it("is not run and gets a result with the reason; the call beside it runs", async () => {
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
      const refusal = expect.stringMatching(new RegExp(`^Error: .*${why}.*again`)) as string;
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

    it("gets a result with the reason if it is the only call", async () => {
      const { server, bench } = await benchOf(
        { toolCalls: [{ id: "call_1", name: "write_file", arguments: broken }] },
        { content: "so be it" },
      );
      expect((await bench.run({ text: "write" })).answer).toBe("so be it");
      expect(readdirSync(bench.repo)).toEqual([]);
      expect((await bench.run({ text: "go on" })).answer).toBe("so be it");
      expect(server.refused()).toEqual([]);
    });
  },
);

it("[ANSWER-3] a call of an unknown tool gets a result that lists the known ones", async () => {
  const { bench, rows } = await benchOf(
    { toolCalls: [{ id: "call_1", name: "frobnicate", arguments: "{}" }] },
    { content: "ah" },
  );
  await bench.run({ text: "frobnicate it" });
  const [, , result] = await rows();
  expect(result).toEqual([
    "tool",
    "Error: there is no tool of this name; your tools are: read_file, list_files, find_files, search_files, write_file, edit_file, multi_edit, apply_patch, delegate, ask_user, update_tasks.",
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

const writeCall = (name: string) => ({
  id: "same",
  name: "write_file",
  arguments: JSON.stringify({ path: name, content: `of ${name}` }),
});

describe.each(["openai", "anthropic"] as const)("calls with the same id, from %s", (provider) => {
  const model = { REPRISE_MODEL: `${provider}:test` };

  it("[ANSWER-20] get new ids, within one answer and across answers, each with its result", async () => {
    const server = await startModelServer({
      answer: (messages, index) =>
        index % 2 === 0
          ? { toolCalls: [writeCall(`${index}a.txt`), writeCall(`${index}b.txt`)] }
          : { content: `refused: ${server.refused().length}, sent: ${messages.length}` },
    });
    const bench = await openBench(server, { ...server.env(provider), ...model });
    await bench.run({ text: "first" });
    const { answer } = await bench.run({ text: "second" });
    expect(answer).toBe("refused: 0, sent: 9");
    expect(readdirSync(bench.repo).sort()).toEqual(["0a.txt", "0b.txt", "2a.txt", "2b.txt"]);
    const rows = await expectNoDrift(bench.database, bench.session.id);
    const ids = rows.flatMap(({ tool_calls }) => (tool_calls ?? []).map(({ id }) => id));
    expect(ids[0]).toBe("same");
    expect(new Set(ids).size).toBe(4);
    const results = server.requests().at(-1) ?? [];
    const written = results.flatMap(({ tool_call_id, content }) =>
      tool_call_id === undefined ? [] : [[tool_call_id, /\d[ab]\.txt/.exec(content)?.[0]]],
    );
    expect(written).toEqual([
      [ids[0], "0a.txt"],
      [ids[1], "0b.txt"],
      [ids[2], "2a.txt"],
      [ids[3], "2b.txt"],
    ]);
  });
});

it("[ANSWER-22] to delegate start one sub-agent each", async () => {
  const server = await startModelServer({
    answer: (messages) => {
      const last = messages.at(-1);
      if (last?.role === "tool") {
        return { content: last.content };
      }
      const task = last?.content ?? "";
      return task.startsWith("do ")
        ? { content: `done: ${task}` }
        : {
            toolCalls: [
              { id: "call_0", name: "delegate", arguments: JSON.stringify({ task: `do ${task}` }) },
            ],
          };
    },
  });
  const bench = await openBench(server);
  expect((await bench.run({ text: "first" })).answer).toBe("done: do first");
  expect((await bench.run({ text: "second" })).answer).toBe("done: do second");
  await bench.store.write(startThread, { id: bench.session.id, archive: true });
  expect((await bench.run({ text: "third" })).answer).toBe("done: do third");
});

it("[QUESTION-1] [QUESTION-2] calls get ids that are unique in the thread, and the provider sees its own again", async () => {
  const [odd, long] = ["functions.read_file:0", "x".repeat(300)];
  const read = (id: string) => ({ id, name: "read_file", arguments: '{"path":"kept.txt"}' });
  const { server, bench } = await benchOf(
    { toolCalls: [read(odd), read("call_0"), read(long)] },
    { toolCalls: [read(odd), read("call_0"), read("call_1")] },
    { content: "so be it" },
  );
  writeFileSync(path.join(bench.repo, "kept.txt"), "all of it");
  expect((await bench.run({ text: "read" })).answer).toBe("so be it");
  expect(server.refused()).toEqual([]);
  const stored = await expectNoDrift(bench.database, bench.session.id);
  const own = stored.flatMap(({ tool_calls }) => (tool_calls ?? []).map(({ id }) => id));
  expect(new Set(own).size).toBe(6);
  expect(own.every((id) => /^[\w-]{1,64}$/.test(id))).toBe(true);
  expect([own[1], own[5]]).toEqual(["call_0", "call_1"]);
  const sent = server.requests().at(-1) ?? [];
  const calls = sent.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id));
  // what was given twice or cannot be an id is ours
  expect(calls).toEqual([odd, "call_0", own[2], own[3], own[4], "call_1"]);
  expect(sent.flatMap(({ tool_call_id }) => tool_call_id ?? [])).toEqual(calls);
  // what was sent before is sent the same
  const before = server.requests().at(-2) ?? [];
  expect(sent.slice(0, before.length)).toEqual(before);
});

it("[QUESTION-2] a call that delegates is sent back with the provider's id", async () => {
  const { server, bench } = await benchOf(
    { toolCalls: [{ id: "call_0", name: "delegate", arguments: '{"task":"do it"}' }] },
    { content: "did it" },
    { content: "so be it" },
  );
  expect((await bench.run({ text: "go" })).answer).toBe("so be it");
  const sent = server.requests().at(-1) ?? [];
  expect(sent.map(({ tool_call_id }) => tool_call_id)).toEqual([undefined, undefined, "call_0"]);
});
