import { tool } from "@langchain/core/tools";
import { interrupt } from "@langchain/langgraph";
import { expect, it } from "vitest";
import { z } from "zod";

import { createCheckpointSaver } from "../../../src/langgraph/saver.ts";
import { reportFailure } from "../../../src/agent/tools/tool-result.ts";
import { threadId } from "../../../src/core/threads.ts";
import { listSessions } from "../../../src/store/records/sessions/list.ts";
import { readFailures } from "../../../src/store/records/sessions/failures.ts";
import { readSession } from "../../../src/store/records/sessions/read.ts";
import { expectNoDrift } from "../../helpers/compare.ts";
import { type Bench, openBench } from "../../helpers/exchanger.ts";
import {
  type ModelAnswer,
  type SentMessage,
  startModelServer,
} from "../../helpers/model-server.ts";

/** A tool that asks a person, and one whose caught failure must not swallow the question. */
function askingTools(isAnswered: () => boolean) {
  const options = { description: "Asks a person.", schema: z.object({}) };
  const ask = async (): Promise<string> => (isAnswered() ? "yes" : String(interrupt("may I?")));
  return [
    tool(ask, { ...options, name: "ask" }),
    tool(reportFailure(ask), { ...options, name: "ask_carefully" }),
  ];
}

const RESULT = /the answer is (.*)/;

/** Calls the tool, then repeats what it said. */
function calling(name: string, also: readonly string[] = []) {
  return (messages: readonly SentMessage[]): ModelAnswer =>
    messages.at(-1)?.role === "tool"
      ? { content: `the answer is ${messages.at(-1)?.content}` }
      : { toolCalls: [name, ...also].map((tool) => ({ name: tool, arguments: "{}" })) };
}

async function activityOf({ store }: Bench, id: string) {
  return (await store.read(readSession, { id })).activity;
}

/** How many checkpoints the session's thread has. */
async function checkpointsOf({ store, session }: Bench): Promise<number> {
  let count = 0;
  const config = { configurable: { thread_id: threadId(session.id, 0) } };
  for await (const _ of createCheckpointSaver({ store }).list(config)) {
    count += 1;
  }
  return count;
}

it.each(["ask", "ask_carefully"])(
  "[EVENT-13] [EXCHANGE-35] [EXCHANGE-36] an exchange whose tool asks a person (%s) waits and can be continued",
  async (name) => {
    let answered = false;
    const server = await startModelServer({ answer: calling(name, ["list_files"]) });
    const bench = await openBench(server, {}, { programTools: askingTools(() => answered) });
    const result = await bench.run({ text: "go" });
    expect(result).toMatchObject({ state: "waiting", answer: "" });
    expect(bench.events.at(-1)).toMatchObject({ type: "waiting" });
    expect(await activityOf(bench, bench.session.id)).toBe("interrupted");
    expect(await bench.store.read(readFailures, { ids: [bench.session.id] })).toEqual(new Map());
    expect(server.requests()).toHaveLength(1);
    // a finished exchange would have one
    expect(await checkpointsOf(bench)).toBeGreaterThan(1);

    answered = true;
    const repeated = await bench.run({ text: null }, { repeats: "always" });
    expect(repeated).toMatchObject({ state: "done", answer: expect.stringMatching(RESULT) });
    expect(await activityOf(bench, bench.session.id)).toBe("idle");
    expect(await checkpointsOf(bench)).toBe(1);
    const rows = await expectNoDrift(bench.database, bench.session.id);
    expect(rows.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "tool",
      "tool",
      "assistant",
    ]);
    expect(rows.some(({ content }) => content === "yes")).toBe(true);
  },
);

it("[EXCHANGE-37] an exchange waits with its sub-agent, and continues in it", async () => {
  let answered = false;
  const child = calling("ask");
  const server = await startModelServer({
    answer: (messages) => {
      if (messages[0]?.content === "the task") {
        return child(messages);
      }
      return messages.at(-1)?.role === "tool"
        ? { content: `it said: ${messages.at(-1)?.content}` }
        : { toolCalls: [{ name: "delegate", arguments: '{"task":"the task"}' }] };
    },
  });
  const bench = await openBench(server, {}, { programTools: askingTools(() => answered) });
  expect((await bench.run({ text: "go" })).state).toBe("waiting");
  const { sessions } = await bench.store.read(listSessions, {
    limit: 10,
    parent_session_id: bench.session.id,
  });
  expect(sessions.map(({ activity }) => activity)).toEqual(["interrupted"]);
  expect(await activityOf(bench, bench.session.id)).toBe("interrupted");

  answered = true;
  const result = await bench.run({ text: null }, { repeats: "always" });
  expect(result).toMatchObject({ state: "done", answer: "it said: the answer is yes" });
});
