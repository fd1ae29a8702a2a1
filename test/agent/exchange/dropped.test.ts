import { setTimeout as sleep } from "node:timers/promises";

import { AIMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";

import { createCheckpointSaver } from "../../../src/langgraph/saver.ts";
import { modelConfig } from "../../../src/rules/models/config.ts";
import { verifySession } from "../../../src/store/verify/verify-session.ts";
import { messagesOf } from "../../../src/agent/messages/thread-state.ts";
import { threadId } from "../../../src/core/threads.ts";
import type { Operation } from "../../../src/store/store.ts";
import { readSession } from "../../../src/store/records/sessions/read.ts";
import { expectNoDrift } from "../../helpers/compare.ts";
import { type Bench, openBench } from "../../helpers/exchanger.ts";
import {
  type ProviderName,
  startScriptedProvider,
  type Step,
} from "../../helpers/scripted-provider.ts";

const WHOLE: readonly Step[] = [{ kind: "text", text: "the whole answer" }];
const HALF: Step = { kind: "text", text: "half an ans" };

/** A session whose provider plays these scripts, one for each request. */
async function benchOf(
  scripts: readonly (readonly Step[])[],
  { name = "openai", idle }: { name?: ProviderName; idle?: Idle } = {},
) {
  const provider = await startScriptedProvider(name, (index) => scripts[index] ?? WHOLE);
  const models = modelConfig(provider.env);
  const bench = await openBench({ env: () => provider.env }, provider.env, {
    models: { ...models, retries: 0, ...(idle === undefined ? {} : { idle }) },
  });
  return { bench, provider };
}

type Idle = ReturnType<typeof modelConfig>["idle"];

async function lastMetadata({ store, session }: Bench) {
  const saver = createCheckpointSaver({ store });
  const config = { configurable: { thread_id: threadId(session.id, 0) } };
  return messagesOf(await saver.getTuple(config)).at(-1)?.response_metadata;
}

async function findings({ store, session }: Bench) {
  const { findings } = await verifySession(store, session.id);
  // the helper's session has a folder and no key of it
  return findings.filter(({ kind }) => kind !== "project_key");
}

describe("an answer that the provider cuts off", () => {
  it("[EXCHANGE-15] [EXCHANGE-16] [RETRY-6] is kept and marked; the next attempt's answer takes its place", async () => {
    await using stack = new AsyncDisposableStack();
    const { bench, provider } = await benchOf([[HALF, { kind: "drop" }]]);
    stack.use(provider);
    await expect(bench.run({ text: "question" })).rejects.toMatchObject({
      code: "model_unreachable",
      message: expect.stringMatching(
        /^The OpenAI service can no longer be reached: the connection broke in the middle of the answer \(/,
      ),
    });
    const half = await expectNoDrift(bench.database, bench.session.id);
    expect(half.map(({ content }) => content)).toEqual(["question", "half an ans"]);
    expect(await lastMetadata(bench)).toEqual({ dropped: "model_unreachable" });
    expect(await findings(bench)).toEqual([]);
    const { activity } = await bench.store.read(readSession, { id: bench.session.id });
    expect(activity).toBe("interrupted");

    const result = await bench.run({ text: null });
    expect(result.answer).toBe("the whole answer");
    expect(result.messages.map(({ content }) => content)).toEqual(["the whole answer"]);
    const whole = await expectNoDrift(bench.database, bench.session.id);
    expect(whole.map(({ content }) => content)).toEqual(["question", "the whole answer"]);
    expect(JSON.stringify(provider.requests[1])).not.toContain("half an ans");
    expect(await findings(bench)).toEqual([]);
  });

  it("[EXCHANGE-15] stays as the answer if a message is sent after it", async () => {
    await using stack = new AsyncDisposableStack();
    const { bench, provider } = await benchOf([[HALF, { kind: "drop" }]]);
    stack.use(provider);
    await expect(bench.run({ text: "question" })).rejects.toMatchObject({
      code: "model_unreachable",
    });
    await bench.run({ text: "go on" });
    expect(JSON.stringify(provider.requests[1])).toContain("half an ans");
    expect(await findings(bench)).toEqual([]);
  });
});

describe("a provider that stops sending", () => {
  it.each(["openai", "anthropic", "ollama"] as const)(
    "[EXCHANGE-17] %s: is given up after its first text, with or without comments and pings",
    async (name) => {
      await using stack = new AsyncDisposableStack();
      const steps: Step[] = [HALF, { kind: "comment" }, { kind: "ping" }, { kind: "stall" }];
      const idle = { beforeTextMs: 600_000, afterTextMs: 300 };
      const { bench, provider } = await benchOf([steps], { name, idle });
      stack.use(provider);
      await expect(bench.run({ text: "question" })).rejects.toMatchObject({
        code: "model_unreachable",
        message: expect.stringContaining("sent nothing for"),
      });
      const rows = await expectNoDrift(bench.database, bench.session.id);
      expect(rows.at(-1)?.content).toBe("half an ans");
    },
  );

  it.each(["openai", "anthropic", "ollama"] as const)(
    "[EXCHANGE-17] %s: has longer while it reports that it reasons",
    async (name) => {
      await using stack = new AsyncDisposableStack();
      const idle = { beforeTextMs: 600_000, afterTextMs: 1000 };
      const { bench, provider } = await benchOf(
        [[HALF, { kind: "reasoning", text: "hm" }, { kind: "wait", until: sleep(2000) }]],
        { name, idle },
      );
      stack.use(provider);
      expect((await bench.run({ text: "question" })).answer).toContain("half an ans");
    },
  );

  it("[EXCHANGE-17] is given up before its first text, too", async () => {
    await using stack = new AsyncDisposableStack();
    const idle = { beforeTextMs: 300, afterTextMs: 600_000 };
    const { bench, provider } = await benchOf([[{ kind: "comment" }, { kind: "stall" }]], { idle });
    stack.use(provider);
    await expect(bench.run({ text: "question" })).rejects.toMatchObject({
      code: "model_unreachable",
    });
  });

  it("[EXCHANGE-17] has 60 s after its first text, and 300 s before", () => {
    expect(modelConfig({}).idle).toEqual({ beforeTextMs: 300_000, afterTextMs: 60_000 });
  });
});

const contents: Operation<null, readonly string[]> = async ({ db }) => {
  const rows = await db.selectFrom("messages").select("content").execute();
  return rows.map(({ content }) => content);
};

it("[EXCHANGE-18] a stop after the answer was stored has no effect", async () => {
  const stop = new AbortController();
  await using provider = await startScriptedProvider("openai", () => WHOLE);
  const bench = await openBench({ env: () => provider.env }, provider.env, (store) => ({
    store: {
      ...store,
      write: async (operation, input) => {
        const output = await store.write(operation, input);
        if ((await store.read(contents, null)).includes("the whole answer")) {
          stop.abort();
        }
        return output;
      },
    },
  }));
  const result = await bench.run({ text: "question" }, { signal: stop.signal });
  expect(stop.signal.aborted).toBe(true);
  expect(result).toMatchObject({ answer: "the whole answer", state: "done" });
  const { activity } = await bench.store.read(readSession, { id: bench.session.id });
  expect(activity).toBe("idle");
});

it("[EXCHANGE-19] a tool that fails gets the status failed, with its reason", async () => {
  const call: Step = { kind: "call", name: "read_file", args: '{"path":"none"}', size: 4 };
  await using provider = await startScriptedProvider("openai", (index) =>
    index === 0 ? [call] : WHOLE,
  );
  const bench = await openBench({ env: () => provider.env }, provider.env);
  await bench.run({ text: "read it" });
  expect(bench.events).toContainEqual(
    expect.objectContaining({
      type: "tool_result",
      name: "read_file",
      effect: "reads",
      status: "failed",
      content: expect.stringMatching(/^Error: there is no such file;/),
    }),
  );
  const saver = createCheckpointSaver({ store: bench.store });
  const config = { configurable: { thread_id: threadId(bench.session.id, 0) } };
  const messages = messagesOf(await saver.getTuple(config));
  expect(
    messages.find((message) => !AIMessage.isInstance(message) && message.type === "tool"),
  ).toMatchObject({
    status: "error",
    content: expect.stringMatching(/^Error: there is no such file;/),
  });
});
