import { existsSync, readFileSync, writeFileSync } from "node:fs";

import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { buildAgent } from "../../../src/agent/agent.ts";
import { createExchanger } from "../../../src/agent/exchange.ts";
import { createCheckpointSaver } from "../../../src/langgraph/saver.ts";
import { openModel } from "../../../src/agent/models/open.ts";
import { modelConfig } from "../../../src/rules/models/config.ts";
import { OUTCOME_UNKNOWN } from "../../../src/core/text/outcome-unknown.ts";
import { withResults } from "../../../src/agent/messages/thread-state.ts";
import { NO_FACTS } from "../../../src/core/calls.ts";
import { RepriseError } from "../../../src/core/errors.ts";
import { localPrincipal } from "../../../src/core/principal.ts";
import { threadId } from "../../../src/core/threads.ts";
import { releaseLease, takeLease } from "../../../src/store/records/leases/lease.ts";
import { beginExchange } from "../../../src/store/records/messages/begin-exchange.ts";
import { readDetail } from "../../../src/store/records/messages/read.ts";
import { answerQuestion } from "../../../src/store/records/questions/answer.ts";
import { listOpenQuestions, type OpenQuestion } from "../../../src/store/records/questions/read.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { readSession } from "../../../src/store/records/sessions/read.ts";
import { leasedStore } from "../../helpers/checkpoints/leased-store.ts";
import { dyingStore } from "../../helpers/dying-store.ts";
import { onlyModel } from "../../helpers/only-model.ts";
import { PERMITTED } from "../../helpers/permit.ts";
import { type Bench, openBench } from "../../helpers/exchanger.ts";
import { expectNoDrift } from "../../helpers/compare.ts";
import { type ModelServer, startModelServer } from "../../helpers/model-server.ts";

const WRITE = {
  id: "call_write",
  name: "write_file",
  args: { path: "note.txt", content: "written" },
};
const LIST = { id: "call_list", name: "list_files", args: { path: "." } };

const TERMINAL = localPrincipal("terminal", null);

function answering(): Promise<ModelServer> {
  return startModelServer({ answer: (_messages, index) => ({ content: `answer ${index + 1}` }) });
}

/**
 * Leaves the session as a process leaves it that was killed while its tools ran: the calls are in
 * the checkpoint, `finished` of them in its pending writes, and no lease is alive.
 */
async function cutWhileToolsRan(
  bench: Bench,
  calls: (typeof WRITE | typeof LIST)[],
  finished: ToolMessage[] = [],
): Promise<void> {
  const { store, session } = bench;
  const fence = await store.write(takeLease, {
    session_id: session.id,
    life_ms: 60_000,
    owner: { host: "gone", machine: "", pid: 1, command: "test", since: "" },
  });
  const { pending } = await store.write(beginExchange, {
    fence,
    content: "write a note",
    model: "openai:gpt-test",
    persona_name: "assistant",
  });
  const saver = createCheckpointSaver({ store: leasedStore(store) });
  const agent = buildAgent({
    session,
    persona: {
      name: "assistant",
      description: "",
      model: null,
      effort: null,
      fallback: null,
      tools: null,
      prompt: "p",
      source: "built-in",
      path: "",
      notes: [],
      servers: {},
    },
    folder: bench.repo,
    root: null,
    readOnly: false,
    mayRun: false,
    cacheLife: "5m",
    ...PERMITTED,
    instructions: null,
    skills: [],
    models: onlyModel(await openModel({ name: "demo", config: modelConfig({}) })),
    saver,
    delegate: null,
    protectedPaths: [],
  });
  const config = { configurable: { thread_id: threadId(session.id, 0) } };
  await agent.updateState(
    config,
    {
      messages: [
        new HumanMessage({ id: pending[0]?.message_id ?? "", content: "write a note" }),
        new AIMessage({ id: "ai-1", content: "", tool_calls: calls }),
      ],
    },
    "model_request",
  );
  const state = await agent.getState(config);
  for (const message of finished) {
    const task = state.tasks.find((_, index) => calls[index]?.id === message.tool_call_id);
    await saver.putWrites(state.config, [["messages", [message]]], task?.id ?? "");
  }
  await store.write(releaseLease, { fence, finished: false });
}

/** What is asked; as many questions are open. */
async function askedOf({ store, session }: Bench, count: number): Promise<readonly OpenQuestion[]> {
  const open = await store.read(listOpenQuestions, { reference: session.id });
  expect(open).toHaveLength(count);
  return open;
}

async function answer(
  { store, session }: Bench,
  question: OpenQuestion | undefined,
  choice: string,
): Promise<void> {
  await store.write(answerQuestion, {
    reference: session.id,
    question: question?.id ?? "",
    given: { choice },
    note: null,
    answered_by: "terminal",
  });
}

describe("an exchange that was interrupted while its tools ran", () => {
  it("[EXCHANGE-1] is shown as interrupted and costs nothing until it is continued", async () => {
    const server = await answering();
    const bench = await openBench(server);
    await cutWhileToolsRan(bench, [WRITE]);
    const { activity } = await bench.store.read(readSession, { id: bench.session.id });
    expect(activity).toBe("interrupted");
    expect(server.requests()).toEqual([]);
  });

  it("[EXCHANGE-2] [QUESTION-4] never repeats an unsafe call without consent: its outcome is unknown", async () => {
    const server = await answering();
    const bench = await openBench(server);
    await cutWhileToolsRan(bench, [WRITE]);
    const result = await bench.run();
    expect(result.answer).toBe("answer 1");
    expect(existsSync(`${bench.repo}/note.txt`)).toBe(false);
    expect(server.requests()[0]?.map(({ role, content }) => [role, content])).toEqual([
      ["user", "write a note"],
      ["assistant", ""],
      ["tool", OUTCOME_UNKNOWN],
    ]);
    const { activity } = await bench.store.read(readSession, { id: bench.session.id });
    expect(activity).toBe("idle");
    await expectNoDrift(bench.database, bench.session.id);
  });

  it("[EXCHANGE-3] repeats an unsafe call with consent, and asks about nothing else", async () => {
    const bench = await openBench(await answering());
    await cutWhileToolsRan(bench, [LIST, WRITE]);
    expect(await bench.run({}, { repeats: "ask" })).toMatchObject({ state: "waiting" });
    const [question] = await askedOf(bench, 1);
    expect(question).toMatchObject({ kind: "repeat" });
    expect(question?.text).toContain("\n- write_file note.txt\n");
    expect(question?.text).not.toContain("list_files");
    expect(existsSync(`${bench.repo}/note.txt`)).toBe(false);
    await answer(bench, question, "again");
    expect(await bench.run({}, { repeats: "ask" })).toMatchObject({ state: "done" });
    expect(readFileSync(`${bench.repo}/note.txt`, "utf8")).toBe("written");
  });

  it("[EXCHANGE-3] [EXCHANGE-2] a yes counts once, and after a no the outcome is unknown", async () => {
    const server = await startModelServer({
      answer: (messages) =>
        messages.at(-1)?.role === "tool"
          ? { content: `it said: ${messages.at(-1)?.content}` }
          : { toolCalls: [{ name: "pay", arguments: "{}" }] },
    });
    let paid = 0;
    const pay = tool(
      () => {
        paid += 1;
        throw new RepriseError("lease_lost", "cut");
      },
      { name: "pay", description: "Pays.", schema: z.object({}) },
    );
    const bench = await openBench(server, {}, { programTools: [pay] });
    await expect(bench.run({ text: "go" })).rejects.toMatchObject({ code: "lease_lost" });
    expect(await bench.run({}, { repeats: "ask" })).toMatchObject({ state: "waiting" });
    const [first] = await askedOf(bench, 1);
    await answer(bench, first, "again");
    await expect(bench.run({}, { repeats: "ask" })).rejects.toMatchObject({ code: "lease_lost" });
    expect(paid).toBe(2);
    expect(await bench.run({}, { repeats: "ask" })).toMatchObject({ state: "waiting" });
    expect(paid).toBe(2);
    const [second] = await askedOf(bench, 1);
    expect(second?.text).toBe(first?.text);
    await answer(bench, second, "skip");
    const end = await bench.run({}, { repeats: "ask" });
    expect(end).toMatchObject({ state: "done", answer: `it said: ${OUTCOME_UNKNOWN}` });
    expect(paid).toBe(2);
    await expectNoDrift(bench.database, bench.session.id);
  });

  it("[EXCHANGE-3] an exchange that a terminal began asks by itself, and a yes of an import counts as none", async () => {
    const bench = await openBench(await answering());
    await cutWhileToolsRan(bench, [WRITE]);
    expect(await bench.run({ asked_by: "prompt", principal: TERMINAL }, {})).toMatchObject({
      state: "done",
    });
    const other = await openBench(await answering());
    await cutWhileToolsRan(other, [WRITE]);
    const run = () => other.run({ principal: TERMINAL });
    expect(await run()).toMatchObject({ state: "waiting" });
    const [question] = await askedOf(other, 1);
    await answer(other, question, "again");
    await other.store.write(async (tx) => {
      await tx.db.updateTable("questions").set({ answered_here: 0 }).execute();
    }, null);
    expect(await run()).toMatchObject({ state: "waiting" });
    expect(existsSync(`${other.repo}/note.txt`)).toBe(false);
    const [again] = await askedOf(other, 1);
    await answer(other, again, "again");
    expect(await run()).toMatchObject({ state: "done" });
    expect(existsSync(`${other.repo}/note.txt`)).toBe(true);
  });

  it("[EXCHANGE-3] a question counts for a process that asks nothing itself, and stays open for no calls that run", async () => {
    const bench = await openBench(await answering());
    await cutWhileToolsRan(bench, [WRITE]);
    await bench.run({}, { repeats: "ask" });
    expect(await bench.run()).toMatchObject({ state: "waiting" });
    const [question] = await askedOf(bench, 1);
    await answer(bench, question, "again");
    expect(await bench.run()).toMatchObject({ state: "done" });
    expect(readFileSync(`${bench.repo}/note.txt`, "utf8")).toBe("written");
    const other = await openBench(await answering());
    await cutWhileToolsRan(other, [WRITE]);
    await other.run({}, { repeats: "ask" });
    await askedOf(other, 1);
    expect(await other.run({}, { repeats: "always" })).toMatchObject({ state: "done" });
    await askedOf(other, 0);
  });

  it("[EXCHANGE-4] continues without asking if only safe calls are open", async () => {
    const server = await answering();
    const bench = await openBench(server);
    await cutWhileToolsRan(bench, [LIST]);
    await bench.run({}, { repeats: "ask" });
    expect(server.requests()[0]?.at(-1)).toMatchObject({ role: "tool" });
    expect(server.requests()[0]?.at(-1)?.content).not.toBe(OUTCOME_UNKNOWN);
  });

  it("[EXCHANGE-5] does not run a finished parallel tool again", async () => {
    const server = await answering();
    const bench = await openBench(server);
    const done = new ToolMessage({
      id: "tool-1",
      content: "listed before the cut",
      name: "list_files",
      tool_call_id: LIST.id,
    });
    await cutWhileToolsRan(bench, [LIST, WRITE], [done]);
    await bench.run({}, { repeats: "always" });
    expect(
      server
        .requests()[0]
        ?.slice(2)
        .map(({ content }) => content),
    ).toEqual(["listed before the cut", expect.stringContaining("note.txt")]);
  });

  it("[EXCHANGE-10] never repeats a finished call beside one that is not safe to repeat", async () => {
    const server = await answering();
    const bench = await openBench(server);
    const other = { ...WRITE, id: "call_other", args: { path: "other.txt", content: "written" } };
    const done = new ToolMessage({
      id: "tool-1",
      content: "wrote note.txt",
      name: "write_file",
      tool_call_id: WRITE.id,
    });
    await cutWhileToolsRan(bench, [WRITE, other], [done]);
    writeFileSync(`${bench.repo}/note.txt`, "mine");
    await bench.run();
    expect(readFileSync(`${bench.repo}/note.txt`, "utf8")).toBe("mine");
    expect(existsSync(`${bench.repo}/other.txt`)).toBe(false);
    expect(server.requests().map((messages) => messages.map(({ content }) => content))).toEqual([
      ["write a note", "", "wrote note.txt", OUTCOME_UNKNOWN],
    ]);
    await expectNoDrift(bench.database, bench.session.id);
  });

  it("[EXCHANGE-11] asks again if it was killed while it stored results for the calls", async () => {
    const bench = await openBench(await answering());
    await cutWhileToolsRan(bench, [WRITE]);
    const saver = createCheckpointSaver({ store: leasedStore(bench.store) });
    const thread = { configurable: { thread_id: threadId(bench.session.id, 0) } };
    const head = await saver.getTuple(thread);
    const unknown = withResults([{ ...WRITE, ...NO_FACTS, result: null }]);
    // updateState stores what it is given as writes first, then as a checkpoint
    await saver.putWrites(head?.config ?? thread, [["messages", unknown]], "update");
    await bench.run();
    expect(existsSync(`${bench.repo}/note.txt`)).toBe(false);
    await expectNoDrift(bench.database, bench.session.id);
  });

  it("[EXCHANGE-6] is skipped by a new message, with a result for every open call before it", async () => {
    const server = await answering();
    const bench = await openBench(server);
    const done = new ToolMessage({
      id: "tool-1",
      content: "listed before the cut",
      name: "list_files",
      tool_call_id: LIST.id,
    });
    await cutWhileToolsRan(bench, [LIST, WRITE], [done]);
    await bench.run({ text: "never mind" });
    expect(server.requests()[0]?.map(({ role, content }) => [role, content])).toEqual([
      ["user", "write a note"],
      ["assistant", ""],
      ["tool", "listed before the cut"],
      ["tool", OUTCOME_UNKNOWN],
      ["user", "never mind"],
    ]);
    expect(existsSync(`${bench.repo}/note.txt`)).toBe(false);
    const rows = await expectNoDrift(bench.database, bench.session.id);
    expect(rows.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "tool",
      "tool",
      "user",
      "assistant",
    ]);
  });
});

describe("continuing a session", () => {
  for (const before of ["is done", "was stopped", "was cut in its tools"]) {
    it(`[EXCHANGE-40] answers a message, whichever write its process dies at, when the exchange before ${before}`, async () => {
      let stop = new AbortController();
      const server = await startModelServer({
        latencyMs: 10,
        answer: (messages, index) => {
          if (messages.at(-1)?.content === "stop") {
            stop.abort();
          }
          return { content: `answer ${index}` };
        },
      });
      const bench = await openBench(server);
      const { store, parts } = bench;
      const live = { listener: () => undefined, signal: new AbortController().signal };
      let stored = 0;
      for (let at = 1, isOver = false; !isOver; at += 1) {
        const session = await store.write(createSession, { repo_path: bench.repo });
        const session_id = session.id;
        if (before === "was cut in its tools") {
          await cutWhileToolsRan({ ...bench, session }, [LIST]);
        } else {
          stop = new AbortController();
          const text = before === "is done" ? "first" : "stop";
          const { state } = await bench.run({ session_id, text }, { signal: stop.signal });
          expect(state).toBe(before === "is done" ? "done" : "stopped");
        }
        const asked = server.requests().length;
        const dying = dyingStore(store, at, "after");
        const dead = createExchanger({ ...parts, store: dying.store });
        const lost = dead.exchange({ session_id, text: "second" }, live);
        lost.catch(() => undefined);
        isOver = (await Promise.race([dying.dead.then(() => null), lost])) !== null;
        const { messages } = await store.read(readDetail, {
          reference: session_id,
          all: true,
        });
        if (messages.some(({ content }) => content === "second")) {
          stored += 1;
          // it says that there is nothing to do if only the end of the exchange was not stored
          await bench.run({ session_id, when_busy: "take_over" }).catch(() => undefined);
          for (const messages of server.requests().slice(asked)) {
            expect(messages.at(-1), `write ${at}`).toMatchObject({ content: "second" });
          }
          const rows = await expectNoDrift(bench.database, session_id);
          expect(
            rows.slice(-2).map(({ content }) => content),
            `write ${at}`,
          ).toEqual(["second", expect.stringMatching(/^answer /)]);
        }
        dying.bury();
      }
      expect(stored).toBeGreaterThan(2);
    });
  }

  it("[EXCHANGE-7] hands over the pending messages of a session without an interruption, else says there is nothing", async () => {
    const bench = await openBench(await answering());
    await expect(bench.run()).rejects.toMatchObject({ code: "nothing_to_continue" });
    const { activity } = await bench.store.read(readSession, { id: bench.session.id });
    expect(activity).toBe("idle");
  });
});
