import { describe, expect, it } from "vitest";

import { createExchanger } from "../../../src/agent/exchange.ts";
import { createExchangeTree } from "../../../src/exchange/exchange-tree.ts";
import { exchangeLimits } from "../../../src/core/exchange-limits.ts";
import { modelConfig } from "../../../src/rules/models/config.ts";
import { listSessions } from "../../../src/store/records/sessions/list.ts";
import { openBench } from "../../helpers/exchanger.ts";
import {
  type ModelAnswer,
  type SentMessage,
  startModelServer,
} from "../../helpers/model-server.ts";

/** Every fresh agent delegates as often as its test wants; one with results answers. */
function delegatingAll(times: number) {
  return (messages: readonly SentMessage[]): ModelAnswer =>
    messages.at(-1)?.role === "tool"
      ? { content: "done" }
      : {
          toolCalls: Array.from({ length: times }, (_, index) => ({
            id: `call_${index}`,
            name: "delegate",
            arguments: JSON.stringify({ persona: "assistant", task: "again" }),
          })),
        };
}

const LIMITS = { childrenAtOnce: 2, children: 7, modelCalls: 600 };

describe("delegation", () => {
  it("[AGENT-5] [AGENT-6] sub-agents of sub-agents wait for each other, and those over the limit are refused", async () => {
    const server = await startModelServer({ answer: delegatingAll(5) });
    const bench = await openBench(server, {}, { limits: LIMITS });
    const result = await bench.run({ text: "begin" });
    expect(result.answer).toBe("done");
    const { sessions } = await bench.store.read(listSessions, { limit: 100 });
    expect(sessions).toHaveLength(1 + LIMITS.children);
    expect(sessions.every(({ activity }) => activity === "idle")).toBe(true);
    expect(bench.events).toContainEqual(
      expect.objectContaining({ type: "child_waiting", running: LIMITS.childrenAtOnce }),
    );
    const sent = JSON.stringify(server.requests());
    expect(sent).toContain("this exchange has begun as many sub-agents as it may");
  });

  it("[AGENT-5] never runs more sub-agents at once than allowed, at whatever depth", async () => {
    const tree = createExchangeTree({ ...LIMITS, children: 1000 });
    const signal = new AbortController().signal;
    let running = 0;
    let most = 0;
    const work = async (): Promise<void> => {
      running += 1;
      most = Math.max(most, running);
      await new Promise(setImmediate);
      running -= 1;
    };
    const child = async (
      depth: number,
      parent: Parameters<typeof tree.runChild>[0]["parent"],
    ): Promise<void> => {
      await tree.runChild({
        parent,
        signal,
        onWait: () => undefined,
        run: async (place): Promise<void> => {
          await work();
          if (depth < 3) {
            await Promise.all([1, 2, 3, 4].map(() => child(depth + 1, place)));
          }
          await work();
        },
      });
    };
    await Promise.all([1, 2, 3, 4].map(() => child(1, null)));
    expect(most).toBe(LIMITS.childrenAtOnce);
  });

  it("[AGENT-5] stops waiting when the exchange is stopped", async () => {
    const tree = createExchangeTree({ ...LIMITS, childrenAtOnce: 1 });
    const stop = new AbortController();
    const end = Promise.withResolvers<void>();
    const child = (run: () => Promise<void>) =>
      tree.runChild({ parent: null, signal: stop.signal, onWait: () => undefined, run });
    const first = child(() => end.promise);
    const second = child(async () => undefined);
    stop.abort(new Error("stopped"));
    await expect(second).rejects.toThrow("stopped");
    end.resolve();
    await first;
  });

  it("[AGENT-7] a root exchange stops at its limit of model calls, sub-agents included, and can be continued", async () => {
    const server = await startModelServer({
      answer: (messages) => {
        const results = messages.filter(({ role }) => role === "tool").length;
        return messages[0]?.content === "again" || results === 4
          ? { content: "done" }
          : delegatingAll(1)([]);
      },
    });
    const bench = await openBench(server, {}, { limits: { ...LIMITS, modelCalls: 5 } });
    await expect(bench.run({ text: "begin" })).rejects.toMatchObject({
      code: "call_limit_reached",
    });
    expect(server.requests()).toHaveLength(5);
    expect((await bench.run({ text: null })).answer).toBe("done");
  });

  it("[AGENT-16] calls of sub-agents that reach the limit are continued, and nothing is asked twice", async () => {
    const server = await startModelServer({
      answer: (messages) => {
        const isChild = messages[0]?.content === "again";
        if (messages.at(-1)?.role === "tool") {
          return { content: isChild ? "the child's answer" : "done" };
        }
        const list = { id: "call_list", name: "list_files", arguments: '{"path":"."}' };
        return isChild ? { toolCalls: [list] } : delegatingAll(4)([]);
      },
    });
    // the root's call and one of each sub-agent; two of the four wait for a place at first
    const bench = await openBench(server, {}, { limits: { ...LIMITS, modelCalls: 5 } });
    await expect(bench.run({ text: "begin" })).rejects.toMatchObject({
      code: "call_limit_reached",
    });
    expect(server.requests()).toHaveLength(5);
    expect((await bench.run({ text: null })).answer).toBe("done");
    expect(server.requests()).toHaveLength(10);
    const results = server
      .requests()
      .at(-1)
      ?.filter(({ role }) => role === "tool");
    expect(results?.map(({ content }) => content)).toEqual(Array(4).fill("the child's answer"));
    const { sessions } = await bench.store.read(listSessions, { limit: 100 });
    expect(sessions.map(({ activity }) => activity)).toEqual(Array(5).fill("idle"));
  });

  it("[AGENT-17] calls for automatic summaries count", async () => {
    const server = await startModelServer({ answer: () => ({ content: "words ".repeat(50) }) });
    const env = { REPRISE_CONTEXT_TOKENS: "2000" };
    const bench = await openBench(server, env, { limits: { ...LIMITS, modelCalls: 1 } });
    const text = "question ".repeat(500);
    await bench.run({ text });
    // a summary and the answer would be two calls
    await expect(bench.run({ text })).rejects.toMatchObject({ code: "call_limit_reached" });
    expect(server.requests()).toHaveLength(2);
    expect((await bench.run({ text: null })).state).toBe("done");
  });

  it("[AGENT-18] /compact has its own limit, the same number", async () => {
    const server = await startModelServer({ answer: () => ({ content: "in short" }) });
    const bench = await openBench(server);
    for (const text of ["question ".repeat(3000), "another"]) {
      await bench.run({ text });
    }
    const small = { REPRISE_MODEL: "openai:gpt-test", REPRISE_CONTEXT_TOKENS: "1000" };
    const exchanger = createExchanger({
      ...bench.parts,
      models: modelConfig({ ...server.env("openai"), ...small }),
      limits: { ...LIMITS, modelCalls: 3 },
    });
    const live = { signal: new AbortController().signal };
    await expect(exchanger.compact({ session_id: bench.session.id }, live)).rejects.toMatchObject({
      code: "call_limit_reached",
    });
    expect(server.requests()).toHaveLength(2 + 3);
  });

  it("[AGENT-8] takes its limits from the environment", () => {
    expect(exchangeLimits({})).toEqual({ childrenAtOnce: 4, children: 32, modelCalls: 600 });
    expect(
      exchangeLimits({
        REPRISE_CHILDREN_AT_ONCE: "1",
        REPRISE_CHILDREN: " 2 ",
        REPRISE_MODEL_CALLS: "3",
      }),
    ).toEqual({ childrenAtOnce: 1, children: 2, modelCalls: 3 });
    expect(() => exchangeLimits({ REPRISE_MODEL_CALLS: "0" })).toThrow("whole number of 1 or more");
  });
});
