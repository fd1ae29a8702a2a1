import { describe, expect, it } from "vitest";

import { LIMIT_SCOPES, type ScopedLimits } from "../../../src/core/cost/limits.ts";
import { listExchanges } from "../../../src/store/records/exchanges/read.ts";
import { answerQuestion } from "../../../src/store/records/questions/answer.ts";
import { listOpenQuestions } from "../../../src/store/records/questions/read.ts";
import { listSessions } from "../../../src/store/records/sessions/list.ts";
import { readLimits, readLimitUse, setLimits } from "../../../src/store/records/sessions/limits.ts";
import { verifySession } from "../../../src/store/verify/verify-session.ts";
import { type Bench, openBench } from "../../helpers/exchanger.ts";
import { type ModelAnswer, startModelServer } from "../../helpers/model-server.ts";
import { localPrincipal } from "../../../src/core/principal.ts";

/** Each call uses 100 tokens. */
const USAGE = { prompt_tokens: 90, completion_tokens: 10, total_tokens: 100 };

function listing(id: string): ModelAnswer {
  return {
    toolCalls: [{ id, name: "list_files", arguments: '{"path":"."}' }],
    usage: USAGE,
  };
}

/** An agent that calls a tool `rounds` times in each exchange. */
async function benchOf(limits: ScopedLimits, rounds: number) {
  const server = await startModelServer({
    answer: (messages) => {
      const since = messages.length - messages.findLastIndex(({ role }) => role === "user") - 1;
      return since < 2 * rounds
        ? listing(`call_${messages.length}`)
        : { content: "done", usage: USAGE };
    },
  });
  const bench = await openBench(server);
  await bench.store.write(setLimits, { id: bench.session.id, tokens: limits });
  return { bench, server };
}

async function lastRecord({ store, session }: Bench) {
  const [record] = await store.read(listExchanges, { reference: session.id, limit: 1 });
  return record;
}

describe("a limit of tokens", () => {
  it("[BUDGET-1] [BUDGET-4] ends an exchange before the call that comes after it is reached", async () => {
    const { bench, server } = await benchOf({ exchange: 300 }, 5);
    await expect(bench.run({ text: "begin" })).rejects.toMatchObject({
      code: "budget_reached",
      message: expect.stringContaining("300 tokens of the 300"),
    });
    expect(server.requests()).toHaveLength(3);
    expect(await lastRecord(bench)).toMatchObject({
      state: "failed",
      error_code: "budget_reached",
      input_tokens: 270,
      output_tokens: 30,
    });
    // as many again: two more rounds and the answer
    expect((await bench.run({ text: null })).answer).toBe("done");
    expect(server.requests()).toHaveLength(6);
    // the next exchange has all of it
    await expect(bench.run({ text: "again" })).rejects.toMatchObject({ code: "budget_reached" });
    expect(server.requests()).toHaveLength(9);
  });

  it.each(["session", "tree"] as const)(
    "[BUDGET-2] of the %s counts all its exchanges, and can be raised",
    async (kind) => {
      const { bench, server } = await benchOf({ [kind]: 400 }, 1);
      await bench.run({ text: "one" });
      await bench.run({ text: "two" });
      await expect(bench.run({ text: "three" })).rejects.toMatchObject({
        code: "budget_reached",
        message: expect.stringContaining(`--token-limit ${kind}=<n>`),
      });
      await expect(bench.run({ text: null })).rejects.toMatchObject({ code: "budget_reached" });
      expect(server.requests()).toHaveLength(4);
      await bench.store.write(setLimits, { id: bench.session.id, tokens: { [kind]: 600 } });
      expect((await bench.run({ text: null })).answer).toBe("done");
    },
  );

  it.each(["exchange", "tree"] as const)(
    "[BUDGET-3] [BUDGET-9] of the %s counts what sub-agents use, and ends them with it",
    async (kind) => {
      const server = await startModelServer({
        answer: (messages) => {
          if (messages.some(({ content }) => content === "the task")) {
            return listing(`child_${messages.length}`);
          }
          const call = { persona: "assistant", task: "the task" };
          const calls = ["a", "b"].map((id) => ({
            id,
            name: "delegate",
            arguments: JSON.stringify(call),
          }));
          return { toolCalls: calls, usage: USAGE };
        },
      });
      const bench = await openBench(server);
      const { store, session } = bench;
      await store.write(setLimits, { id: session.id, tokens: { [kind]: 500 } });
      const principal = localPrincipal("terminal", null);
      const failing = bench.run({ text: "begin", principal });
      await expect(failing).rejects.toMatchObject({ code: "budget_reached" });
      // both sub-agents may ask at the same moment, so one call more is possible
      expect([5, 6]).toContain(server.requests().length);
      const { sessions } = await store.read(listSessions, { limit: 10 });
      expect(sessions.map(({ activity }) => activity)).toEqual(Array(3).fill("interrupted"));
      const use = await store.read(readLimitUse, { id: session.id });
      expect(use.session).toEqual({ used: 100, limit: null, set: null });
      if (kind === "tree") {
        expect(use.tree).toEqual({ used: server.requests().length * 100, limit: 500, set: 500 });
      }
      // a sub-agent is held to the limits of its root
      const child = sessions.find(({ depth }) => depth === 1);
      const ofChild = await store.read(readLimitUse, { id: child?.id ?? "" });
      expect(ofChild[kind].limit).toBe(500);
    },
  );

  it("[BUDGET-2] of a session does not count its sub-agents", async () => {
    const server = await startModelServer({
      answer: (messages) => {
        if (messages[0]?.content === "the task" || messages.at(-1)?.role === "tool") {
          return { content: "done", usage: USAGE };
        }
        const task = JSON.stringify({ persona: "assistant", task: "the task" });
        return { toolCalls: [{ id: "a", name: "delegate", arguments: task }], usage: USAGE };
      },
    });
    const bench = await openBench(server);
    await bench.store.write(setLimits, { id: bench.session.id, tokens: { session: 201 } });
    expect((await bench.run({ text: "begin" })).answer).toBe("done");
    const use = await bench.store.read(readLimitUse, { id: bench.session.id });
    expect(use.session).toEqual({ used: 200, limit: 201, set: 201 });
  });

  it.each(["exchange", "session", "tree"] as const)(
    "[BUDGET-7] [BUDGET-8] of the %s is a question in an exchange that a terminal began",
    async (kind) => {
      const { bench, server } = await benchOf({ [kind]: 300 }, 5);
      const { store, session } = bench;
      const answer = async (choice: string) => {
        const [question, ...more] = await store.read(listOpenQuestions, { reference: session.id });
        expect(more).toEqual([]);
        expect(question).toMatchObject({
          kind: "limit",
          choices: [{ id: "continue" }, { id: "stop" }],
        });
        const given = { given: { choice }, note: null, answered_by: "http" } as const;
        await store.write(answerQuestion, {
          reference: session.id,
          question: question?.id ?? "",
          ...given,
        });
        return question;
      };
      const principal = localPrincipal("terminal", null);
      expect((await bench.run({ text: "begin", principal })).state).toBe("waiting");
      expect(server.requests()).toHaveLength(3);
      // before the answer, nothing is called and nothing asked again
      expect((await bench.run({ text: null, principal })).state).toBe("waiting");
      expect((await answer("continue"))?.text).toContain("300 tokens of the 300");
      expect((await bench.run({ text: null, principal })).answer).toBe("done");
      expect(server.requests()).toHaveLength(6);
      expect((await store.read(listExchanges, { reference: session.id, limit: 5 })).length).toBe(1);

      // the yes counts for the exchange, or for as long as the session has this limit
      expect((await bench.run({ text: "again", principal })).state).toBe("waiting");
      expect(server.requests()).toHaveLength(kind === "exchange" ? 9 : 6);
      await answer("stop");
      const failed = { code: "budget_reached" };
      await expect(bench.run({ text: null, principal })).rejects.toMatchObject(failed);
      expect(await lastRecord(bench)).toMatchObject({ n: 2, state: "failed" });
      expect(server.requests()).toHaveLength(kind === "exchange" ? 9 : 6);
      await store.write(setLimits, { id: session.id, tokens: { [kind]: 301 } });
      await expect(bench.run({ text: "once more" })).rejects.toMatchObject(failed);
      expect((await verifySession(store, session.id)).findings).toEqual([]);
    },
  );

  it("[BUDGET-9] fails an exchange that nobody attends", async () => {
    for (const origin of ["prompt", "http"] as const) {
      const { bench } = await benchOf({ exchange: 100 }, 5);
      const principal = localPrincipal(origin, null);
      const failing = bench.run({ text: "begin", principal });
      await expect(failing).rejects.toMatchObject({ code: "budget_reached" });
    }
  });

  it("[BUDGET-5] is kept beside the others when one is set", async () => {
    const { bench } = await benchOf({ exchange: 1000, session: 2000 }, 1);
    const { id } = bench.session;
    await bench.store.write(setLimits, { id, tokens: { session: 5, tree: 3000 } });
    const { tokens: limits } = await bench.store.read(readLimits, { id });
    expect(limits).toEqual({ exchange: 1000, session: 5, tree: 3000 });
    expect(Object.keys(limits)).toEqual([...LIMIT_SCOPES]);
  });
});
