import { expect, it } from "vitest";

import { MAX_TASK, type TaskState } from "../../../src/core/text/tasks.ts";
import { forkSession } from "../../../src/store/checkpoints/forks/fork-session.ts";
import { readMessagesAfter } from "../../../src/store/records/messages/read.ts";
import { readTasks } from "../../../src/store/records/messages/read-tasks.ts";
import { setPlanMode, startThread } from "../../../src/store/records/sessions/change.ts";
import { listSessions } from "../../../src/store/records/sessions/list.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { openBench } from "../../helpers/exchanger.ts";
import { type ModelAnswer, startModelServer } from "../../helpers/model-server.ts";

const listOf = (...tasks: readonly (readonly [text: unknown, state: TaskState])[]) => ({
  tasks: tasks.map(([text, state]) => ({ text, state })),
});
const calling = (args: object, id = "call_0"): ModelAnswer => ({
  toolCalls: [{ id, name: "update_tasks", arguments: JSON.stringify(args) }],
});

/** A session whose model does with each message what the test says, and answers "ok" after its results. */
async function openTasks(answers: Readonly<Record<string, ModelAnswer>>) {
  const server = await startModelServer({
    answer: (messages) => {
      const last = messages.at(-1);
      // a note of the program may follow
      const [text = ""] = last?.role === "user" ? last.content.split("\n", 1) : [];
      return answers[text] ?? { content: "ok" };
    },
  });
  const bench = await openBench(server);
  const tasks = (id = bench.session.id) => bench.store.read(readTasks, { id });
  const results = async () => {
    const page = { session_id: bench.session.id, after_seq: 0, all: true, limit: 100 };
    return (await bench.store.read(readMessagesAfter, page))
      .filter(({ role }) => role === "tool")
      .map(({ status, content }) => ({ status, content }));
  };
  return { ...bench, server, tasks, results };
}

it("[TASKS-1] [TASKS-2] [TASKS-4] [TASKS-7] keeps the list of the last call that succeeded, without a question, in planning mode too", async () => {
  const [read, fix] = ["read total.ts", "fix the rounding"];
  const first = listOf([read, "running"], [fix, "pending"]);
  const bench = await openTasks({
    one: calling(first),
    two: calling(listOf([read, "done"], [fix, "running"])),
    many: calling(listOf(...Array.from({ length: 10_000 }, () => ["a", "pending"] as const))),
    long: calling(listOf(["a".repeat(MAX_TASK + 1), "pending"])),
    empty: calling(listOf([" ", "pending"])),
    none: calling({ tasks: "all of them" }),
  });
  const { store } = bench;
  const { id } = await store.write(createSession, { repo_path: bench.repo, permission: "ask" });
  await bench.run({ session_id: id, text: "one" });
  expect(bench.server.offeredTools()[0]).toContain("update_tasks");
  expect(await bench.tasks(id)).toEqual(first.tasks);
  expect(bench.events).toContainEqual(
    expect.objectContaining({ type: "tool_call", name: "update_tasks", args: first }),
  );
  await store.write(setPlanMode, { id, plan_mode: true });
  for (const text of ["two", "many", "long", "empty", "none"]) {
    expect((await bench.run({ session_id: id, text })).state).toBe("done");
  }
  expect(await bench.tasks(id)).toMatchObject([{ state: "done" }, { state: "running" }]);
  const page = { session_id: id, after_seq: 0, all: true, limit: 100 };
  const rows = await store.read(readMessagesAfter, page);
  const results = rows.filter(({ role }) => role === "tool");
  expect(results.map(({ status }) => status)).toEqual(["ok", "ok", ...Array(4).fill("not_run")]);
  expect(Math.max(...results.map(({ content }) => content.length))).toBeLessThan(2000);
  expect(rows.flatMap(({ tool_calls }) => tool_calls ?? [])[1]).toMatchObject({
    effect: "reads",
    subject: "1 of 2 done: fix the rounding",
  });
});

it("[TASKS-3] shows what a model wrote on one line and without control sequences", async () => {
  const bench = await openTasks({
    hostile: calling(listOf(["\u001b[2J\u202egpj.exe\n\nnext", "running"])),
  });
  await bench.run({ text: "hostile" });
  expect(await bench.tasks()).toEqual([{ text: "␛[2J<U+202E>gpj.exe next", state: "running" }]);
});

it("[TASKS-5] a fork has the list as of its end, and a fresh thread has none", async () => {
  const bench = await openTasks({
    one: calling(listOf(["first", "running"])),
    two: calling(listOf(["second", "running"])),
  });
  const { store, session } = bench;
  await bench.run({ text: "one" });
  const { last_seq } = (await bench.run({ text: "hello" })).session;
  await bench.run({ text: "two" });
  const fork = await store.write(forkSession, { session_id: session.id, at_seq: last_seq });
  expect(await bench.tasks(fork.id)).toEqual([{ text: "first", state: "running" }]);
  expect(await bench.tasks()).toEqual([{ text: "second", state: "running" }]);
  await store.write(startThread, { id: session.id, archive: false });
  await bench.run({ text: "hello" });
  expect(await bench.tasks()).toEqual([]);
  await bench.run({ text: "one" });
  expect(await bench.tasks()).toHaveLength(1);
  await store.write(startThread, { id: session.id, archive: true });
  expect(await bench.tasks()).toEqual([]);
});

it("[TASKS-6] a sub-agent has a list for itself", async () => {
  const delegated = { persona: "reviewer", task: "inner" };
  const bench = await openTasks({
    outer: {
      toolCalls: [
        ...(calling(listOf(["outer", "running"]), "call_0").toolCalls ?? []),
        { id: "call_1", name: "delegate", arguments: JSON.stringify(delegated) },
      ],
    },
    inner: calling(listOf(["inner", "running"])),
  });
  await bench.run({ text: "outer" });
  const page = { limit: 10, parent_session_id: bench.session.id };
  const { sessions } = await bench.store.read(listSessions, page);
  expect(await bench.tasks()).toEqual([{ text: "outer", state: "running" }]);
  expect(await bench.tasks(sessions[0]?.id)).toEqual([{ text: "inner", state: "running" }]);
});
