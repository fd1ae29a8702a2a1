import { writeFileSync } from "node:fs";

import { expect, it } from "vitest";

import { statementsOf } from "../../helpers/count-statements.ts";
import { openBench, SENDS_NOTHING_BY_CLOCK } from "../../helpers/exchanger.ts";
import {
  type ModelAnswer,
  type SentMessage,
  startModelServer,
} from "../../helpers/model-server.ts";

const isPostgres = process.env["REPRISE_TEST_ENGINE"] === "postgres";

it("stores an exchange without tools in few statements and transactions", async () => {
  const server = await startModelServer({ answer: () => ({ content: "answer" }) });
  const bench = await openBench(server, {}, SENDS_NOTHING_BY_CLOCK);
  await bench.run({ text: "one" });

  const sent = await statementsOf(() => bench.run({ text: "two" }));

  expect(sent.statements.length, sent.statements.join("\n")).toBeLessThanOrEqual(50);
  expect(sent.transactions).toBeLessThanOrEqual(isPostgres ? 9 : 7);
});

it("stores an exchange with three tool calls in few statements", async () => {
  const server = await startModelServer({ answer: afterThreeCalls });
  const bench = await openBench(server, {}, SENDS_NOTHING_BY_CLOCK);
  writeFileSync(`${bench.repo}/note.txt`, "a note");
  await bench.run({ text: "one" });

  const sent = await statementsOf(() => bench.run({ text: "two" }));

  expect(server.requests()).toHaveLength(8);
  expect(sent.statements.length, sent.statements.join("\n")).toBeLessThanOrEqual(132);
});

function afterThreeCalls(messages: readonly SentMessage[], index: number): ModelAnswer {
  const results = messages.length - 1 - messages.findLastIndex(({ role }) => role === "user");
  const path = JSON.stringify({ path: "note.txt" });
  return results < 6
    ? { content: "", toolCalls: [{ id: `call-${index}`, name: "read_file", arguments: path }] }
    : { content: "answer" };
}
