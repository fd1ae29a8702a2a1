import { isHumanMessage, isToolMessage } from "@langchain/core/messages";
import { expect, it } from "vitest";

import { fill } from "../../../bench/fill-thread.ts";
import { createExchanger } from "../../../src/agent/exchange.ts";
import { messagesOf } from "../../../src/agent/messages/thread-state.ts";
import { estimateTokens } from "../../../src/core/text/text.ts";
import { modelConfig } from "../../../src/rules/models/config.ts";
import { isSummary } from "../../../src/store/records/messages/summary.ts";
import { threadId } from "../../../src/core/threads.ts";
import { createCheckpointSaver } from "../../../src/langgraph/saver.ts";
import { verifySession } from "../../../src/store/verify/verify-session.ts";
import { type Bench, openBench } from "../../helpers/exchanger.ts";
import {
  type ModelAnswer,
  type ModelServer,
  type SentMessage,
  startModelServer,
} from "../../helpers/model-server.ts";
import { startScriptedProvider } from "../../helpers/scripted-provider.ts";
import { rowsReadBy } from "../../helpers/read-rows.ts";

const live = { listener: () => {}, signal: new AbortController().signal };
const SMALL = { REPRISE_CONTEXT_TOKENS: "4000" };

function counted(messages: readonly SentMessage[], answer: ModelAnswer): ModelAnswer {
  const sent = messages.reduce((sum, { content }) => sum + estimateTokens(content), 500);
  return { ...answer, usage: { prompt_tokens: sent, completion_tokens: 7 } };
}

/** A model that lists the files in each exchange, counts its calls from 0 again, and summarises. */
function listing(): Promise<ModelServer> {
  return startModelServer({
    answer: (messages) => {
      const last = messages.at(-1);
      if (last?.content.includes("<conversation>") === true) {
        return counted(messages, { content: "SUMMARY" });
      }
      const call = { id: "call_0", name: "list_files", arguments: "{}" };
      return last?.role === "tool"
        ? counted(messages, { content: "answer" })
        : counted(messages, { content: "", toolCalls: [call] });
    },
  });
}

function question(index: number): string {
  return `question ${index} ${"word ".repeat(300)}`;
}

/** Sends a message as a process does that was just started. */
async function afterStart(bench: Bench, text: string): Promise<void> {
  const exchanger = createExchanger(bench.parts);
  await exchanger.exchange({ session_id: bench.session.id, text }, live);
}

async function wholeThread({ store, session }: Bench) {
  const saver = createCheckpointSaver({ store });
  const config = { configurable: { thread_id: threadId(session.id, 0) } };
  return messagesOf(await saver.getTuple(config));
}

it("[SAVER-52] [ANSWER-20] a thread that is read from its summary on keeps all messages, and each call its own id", async () => {
  const bench = await openBench(await listing(), SMALL);
  for (let index = 0; index < 18; index += 1) {
    await (index % 3 === 0
      ? afterStart(bench, question(index))
      : bench.run({ text: question(index) }));
    if (index === 9) {
      await createExchanger(bench.parts).compact({ session_id: bench.session.id }, live);
    }
  }
  const messages = await wholeThread(bench);
  expect(messages.filter(isHumanMessage).map(({ text }) => text)).toEqual(
    Array.from({ length: 18 }, (_, index) => question(index)),
  );
  const results = messages.filter(isToolMessage).map(({ tool_call_id }) => tool_call_id);
  expect(results).toHaveLength(18);
  expect(new Set(results).size).toBe(18);
  const { findings } = await verifySession(bench.store, bench.session.id);
  expect(findings).toEqual([]);
});

it("[SAVER-52] the answer after one that was dropped takes its place in a thread that is read from its summary on", async () => {
  let drops = false;
  await using provider = await startScriptedProvider("openai", () =>
    drops
      ? [{ kind: "text", text: "half of an answer" }, { kind: "drop" }]
      : [{ kind: "text", text: "answer" }],
  );
  const bench = await openBench(await listing(), SMALL);
  for (let index = 0; index < 12; index += 1) {
    await bench.run({ text: question(index) });
  }
  const models = { ...modelConfig(provider.env), retries: 0 };
  const started = () => createExchanger({ ...bench.parts, models });
  const { id: session_id } = bench.session;
  let exchanger = started();
  for (const isStarted of [false, true]) {
    drops = true;
    const text = question(isStarted ? 13 : 12);
    await expect(exchanger.exchange({ session_id, text }, live)).rejects.toMatchObject({
      code: "model_unreachable",
    });
    expect((await wholeThread(bench)).at(-1)?.text).toBe("half of an answer");
    drops = false;
    exchanger = isStarted ? started() : exchanger;
    await exchanger.exchange({ session_id, text: null }, live);
    expect((await wholeThread(bench)).at(-1)?.text).toBe("answer");
  }
  const texts = (await wholeThread(bench)).map(({ text }) => text);
  expect(texts.filter((text) => text.startsWith("question"))).toHaveLength(14);
  expect((await wholeThread(bench)).some(isSummary)).toBe(true);
  expect(texts.join()).not.toContain("half");
  expect((await verifySession(bench.store, bench.session.id)).findings).toEqual([]);
});

it("[SAVER-53] the first exchange after a start reads as many rows in a long session as in a short one", async () => {
  const rowsAfter = async (exchanges: number): Promise<number> => {
    const bench = await openBench(await listing(), SMALL);
    await fill(bench.store, { session_id: bench.session.id, exchanges, rounds: 0 });
    for (let index = 0; index < 3; index += 1) {
      await bench.run({ text: question(index) });
    }
    return rowsReadBy(() => afterStart(bench, question(3)));
  };
  const short = await rowsAfter(100);
  // a lease or a hint may be read once more meanwhile; the thread has 1,800 messages more
  expect(Math.abs((await rowsAfter(1000)) - short)).toBeLessThan(60);
});
