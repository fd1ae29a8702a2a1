import { setTimeout as sleep } from "node:timers/promises";

import { tool } from "@langchain/core/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { createExchanger } from "../../../src/agent/exchange.ts";
import type { Session } from "../../../src/core/sessions.ts";
import { listExchanges } from "../../../src/store/records/exchanges/read.ts";
import { releaseLease } from "../../../src/store/records/leases/lease.ts";
import { readMessagesAfter } from "../../../src/store/records/messages/read.ts";
import { endSession } from "../../../src/store/records/sessions/change.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { listSessions } from "../../../src/store/records/sessions/list.ts";
import { openChild } from "../../../src/store/records/sessions/open-child.ts";
import { readSession } from "../../../src/store/records/sessions/read.ts";
import { expectNoDrift } from "../../helpers/compare.ts";
import { type Bench, openBench } from "../../helpers/exchanger.ts";
import {
  type ModelAnswer,
  type SentMessage,
  startModelServer,
} from "../../helpers/model-server.ts";

const TASK = "count the files";

/** A parent that delegates its first message, a child that answers. */
function delegating(messages: readonly SentMessage[]): ModelAnswer {
  const last = messages.at(-1);
  if (last?.role === "tool") {
    return { content: `the sub-agent said: ${last.content}` };
  }
  return last?.content === TASK
    ? { content: "there are three files and nothing else to be found in the folder" }
    : {
        toolCalls: [
          {
            id: "call_delegate",
            name: "delegate",
            arguments: JSON.stringify({ persona: "reviewer", task: TASK }),
          },
        ],
      };
}

async function childrenOf(bench: Bench, id = bench.session.id): Promise<readonly Session[]> {
  const page = await bench.store.read(listSessions, { limit: 10, parent_session_id: id });
  return page.sessions;
}

describe("delegate", () => {
  it("[AGENT-1] starts a separate session, one level deeper, with its own rows and thread", async () => {
    const server = await startModelServer({ answer: delegating });
    const bench = await openBench(server);
    const result = await bench.run({ text: "how many files are there?" });
    expect(result.answer).toContain("there are three files");

    const [child, ...more] = await childrenOf(bench);
    expect(more).toEqual([]);
    expect(child).toMatchObject({
      parent_session_id: bench.session.id,
      depth: 1,
      persona_name: "reviewer",
      repo_path: bench.repo,
      title: TASK,
      activity: "idle",
    });
    const rows = await expectNoDrift(bench.database, child?.id ?? "");
    expect(rows.map(({ role }) => role)).toEqual(["user", "assistant"]);
    const parentRows = await expectNoDrift(bench.database, bench.session.id);
    expect(parentRows.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"]);
    // the child's context is its own
    expect(server.requests()[1]?.map(({ content }) => content)).toEqual([TASK]);
  });

  it("[AGENT-2] is not offered at depth 3, and an exchange there delegates nothing", async () => {
    const server = await startModelServer({ answer: delegating });
    const bench = await openBench(server);
    let parent = bench.session;
    for (let depth = 1; depth <= 3; depth += 1) {
      parent = await bench.store.write(createSession, {
        repo_path: bench.repo,
        parent_session_id: parent.id,
        parent_call_id: `call-${depth}`,
        depth,
      });
    }
    const result = await bench.run({ session_id: parent.id, text: "delegate this" });
    expect(await childrenOf(bench, parent.id)).toEqual([]);
    expect(result.messages.find(({ role }) => role === "tool")?.content).toMatch(
      /error|not a valid/i,
    );
  });

  it("[EVENT-7] is reported with the ids of the sub-agent, without its text", async () => {
    const server = await startModelServer({
      answer: (messages) =>
        messages.length === 1 && messages[0]?.content === TASK
          ? { content: "I look", toolCalls: [{ name: "list_files", arguments: "{}" }] }
          : delegating(messages),
    });
    const bench = await openBench(server);
    await bench.run({ text: "how many files are there?" });
    const [child] = await childrenOf(bench);
    const own = bench.events.filter(({ session_id }) => session_id === bench.session.id);
    const call = own.find(({ type }) => type === "tool_call");
    expect(own).toContainEqual(
      expect.objectContaining({
        type: "child",
        call_id: call?.type === "tool_call" ? call.call_id : "",
        child_session_id: child?.id,
      }),
    );
    const others = bench.events.filter((event) => !own.includes(event));
    expect(new Set(others.map(({ session_id }) => session_id))).toEqual(new Set([child?.id]));
    expect(new Set(others.map(({ exchange_id }) => exchange_id)).size).toBe(1);
    expect(new Set(others.map(({ type }) => type))).toEqual(new Set(["tool_call", "tool_result"]));
  });

  it("[AGENT-3] continues the sub-agent that a stopped call started", async () => {
    const server = await startModelServer({ answer: delegating, latencyMs: 40, chunkSize: 5 });
    const bench = await openBench(server);
    const stop = new AbortController();
    const stopped = bench.run(
      { text: "how many files are there?" },
      {
        signal: stop.signal,
        listener: (event) => {
          if (event.type === "child") {
            void sleep(200).then(() => stop.abort());
          }
        },
      },
    );
    expect((await stopped).state).toBe("stopped");
    const before = await childrenOf(bench);
    expect(before).toHaveLength(1);
    const { activity } = await bench.store.read(readSession, { id: bench.session.id });
    expect(activity).toBe("interrupted");

    const result = await bench.run();
    expect(result.answer).toBe(
      "the sub-agent said: there are three files and nothing else to be found in the folder",
    );
    expect((await childrenOf(bench)).map(({ id }) => id)).toEqual(before.map(({ id }) => id));
    const rows = await bench.store.read(readMessagesAfter, {
      session_id: before[0]?.id ?? "",
      after_seq: 0,
      all: true,
      limit: 10,
    });
    expect(rows.filter(({ role }) => role === "user")).toHaveLength(1);
    await expectNoDrift(bench.database, bench.session.id);
    await expectNoDrift(bench.database, before[0]?.id ?? "");
  });

  for (const [cause, code] of [
    ["is stopped", undefined],
    ["reaches a limit in another sub-agent", "call_limit_reached"],
  ] as const) {
    it(`[AGENT-19] has no sub-agent that still runs when an exchange ends that ${cause}`, async () => {
      const waits = Promise.withResolvers<void>();
      const options = { description: "Waits.", schema: z.object({}) };
      const wait = tool(
        async (_input, { signal }: { signal?: AbortSignal }) => {
          waits.resolve();
          return new Promise<string>((_, reject) => {
            signal?.addEventListener("abort", () => reject(signal.reason as Error));
          });
        },
        { ...options, name: "wait" },
      );
      const join = tool(() => waits.promise.then(() => "both run"), { ...options, name: "join" });
      const server = await startModelServer({
        answer: ([first, ...more]) => ({
          toolCalls:
            first?.content === "begin"
              ? ["wait", "join"].map((task) => ({
                  name: "delegate",
                  arguments: JSON.stringify({ task }),
                }))
              : [{ name: more.length === 0 ? String(first?.content) : "wait", arguments: "{}" }],
        }),
      });
      const bench = await openBench(server, {}, (store) => ({
        programTools: [wait, join],
        limits: { childrenAtOnce: 2, children: 2, modelCalls: code === undefined ? 600 : 3 },
        store: {
          ...store,
          // a slow disk: sub-agents that were stopped still have to give back their leases
          write: async (operation, input) => {
            const isRelease = operation.name === releaseLease.name;
            await sleep(isRelease ? 100 : 0);
            return store.write(operation, input);
          },
        },
      }));
      const stop = new AbortController();
      const ended = bench.run({ text: "begin" }, { signal: stop.signal });
      if (code === undefined) {
        await waits.promise;
        stop.abort();
        expect(await ended).toMatchObject({ state: "stopped" });
      } else {
        await expect(ended).rejects.toMatchObject({ code });
      }
      const children = await childrenOf(bench);
      expect(children.map(({ activity }) => activity)).toEqual(["interrupted", "interrupted"]);
    });
  }

  it("[AGENT-20] does not take its sub-agent from the process that continues the exchange, after it was suspended", async () => {
    const [works, isDone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const work = tool(
      async () => {
        works.resolve();
        await isDone.promise;
        return "worked";
      },
      { name: "work", description: "Works.", schema: z.object({}) },
    );
    const call = (name: string, args: object) => ({ name, arguments: JSON.stringify(args) });
    const server = await startModelServer({
      answer: ([first, ...more]) => {
        if (more.length > 0) {
          return { content: "it is done" };
        }
        const isChild = first?.content === TASK;
        return { toolCalls: [isChild ? call("work", {}) : call("delegate", { task: TASK })] };
      },
    });
    const bench = await openBench(server, {}, { programTools: [work] });
    const { store, parts, session } = bench;
    const [opened, resumed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const suspended = createExchanger({
      ...parts,
      store: {
        ...store,
        write: async (operation, input) => {
          const output = await store.write(operation, input);
          if (operation.name === openChild.name) {
            opened.resolve();
            await resumed.promise;
          }
          return output;
        },
      },
    });
    const live = { listener: () => undefined, signal: new AbortController().signal };
    const lost = suspended.exchange({ session_id: session.id, text: "how many files?" }, live);
    lost.catch(() => undefined);
    await opened.promise;
    const continued = bench.run({ when_busy: "take_over" });
    await works.promise;
    resumed.resolve();
    await expect(lost).rejects.toMatchObject({ code: "lease_lost" });
    isDone.resolve();
    expect(await continued).toMatchObject({ state: "done", answer: "it is done" });
    const [child] = await childrenOf(bench);
    const exchanges = await store.read(listExchanges, { reference: child?.id ?? "", limit: 9 });
    expect(exchanges.map(({ state }) => state)).toEqual(["done"]);
    const rows = await expectNoDrift(bench.database, child?.id ?? "");
    expect(rows.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"]);
  });

  it("[AGENT-4] ends open sub-agents with their parent", async () => {
    const bench = await openBench(await startModelServer({ answer: delegating }));
    await bench.run({ text: "how many files are there?" });
    await bench.store.write(endSession, { id: bench.session.id });
    expect((await childrenOf(bench)).map(({ state }) => state)).toEqual(["ended"]);
  });
});
