import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { modelConfig } from "../../../src/rules/models/config.ts";
import { setTimeout as sleep } from "node:timers/promises";

import { expect, it, onTestFinished } from "vitest";

import { RepriseError } from "../../../src/core/errors.ts";
import { createExchanger } from "../../../src/agent/exchange.ts";
import { type DispatcherOptions, startDispatcher } from "../../../src/exchange/nodes/dispatcher.ts";
import { readNextToRun } from "../../../src/store/records/exchanges/next-to-run.ts";
import { readReady } from "../../../src/store/records/exchanges/ready.ts";
import {
  withdrawQueued,
  changeQueued,
  stopExchange,
} from "../../../src/store/records/exchanges/change.ts";
import {
  listExchanges,
  readExchangeWithContent,
} from "../../../src/store/records/exchanges/read.ts";
import { releaseLease, takeLease } from "../../../src/store/records/leases/lease.ts";
import { thisProcess } from "../../../src/store/records/leases/this-process.ts";
import { openExchange } from "../../../src/store/records/messages/begin-exchange.ts";
import { appendUserMessage } from "../../../src/store/records/messages/append.ts";
import { readDetail } from "../../../src/store/records/messages/read.ts";
import { answerQuestion } from "../../../src/store/records/questions/answer.ts";
import { listOpenQuestions } from "../../../src/store/records/questions/read.ts";
import { startThread } from "../../../src/store/records/sessions/change.ts";
import { acceptMessages, readWaiting } from "../../../src/store/records/messages/waiting.ts";
import { projectKeyOf } from "../../../src/store/project-key.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { patchSession } from "../../../src/store/records/sessions/patch.ts";
import type { Store } from "../../../src/store/store.ts";
import { verifySession } from "../../../src/store/verify/verify-session.ts";
import { statementsOf } from "../../helpers/count-statements.ts";
import { execute } from "../../helpers/engines.ts";
import { type Bench, openBench, SENDS_NOTHING_BY_CLOCK } from "../../helpers/exchanger.ts";
import { startModelServer } from "../../helpers/model-server.ts";
import { ask, queue, readyOf, statesOf } from "../../helpers/queue.ts";
import { temporaryFolder } from "../../helpers/temp.ts";
import { GUEST } from "../../../src/core/principal.ts";

function dispatch(bench: Bench, changed: Partial<DispatcherOptions> = {}) {
  const dispatcher = startDispatcher({
    store: bench.store,
    jobs: 2,
    openExchanger: () => Promise.resolve(createExchanger(bench.parts)),
    serves: () => Promise.resolve(true),
    pollMs: 20,
    onFailure: (error) => {
      throw error;
    },
    ...changed,
  });
  onTestFinished(() => dispatcher.close());
  return dispatcher;
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) {
    await sleep(10);
  }
}

it("[QUEUE-2] queued messages are answered in order, one exchange for each, in several sessions at once", async () => {
  const server = await startModelServer({
    answer: (messages) => ({ content: `to ${messages.at(-1)?.content}` }),
  });
  const bench = await openBench(server);
  const { store, session } = bench;
  const other = await store.write(createSession, {});
  for (const text of ["one", "two", "three"]) {
    await queue(store, session.id, text);
    await queue(store, other.id, text);
  }
  expect(await statesOf(store, session.id)).toEqual(["queued", "queued", "queued"]);
  expect((await readyOf(store)).map(({ n }) => n)).toEqual([1, 1]);
  const second = dispatch(bench);
  dispatch(bench);
  await until(async () => (await statesOf(store, session.id)).every((state) => state === "done"));
  await until(async () => (await statesOf(store, other.id)).every((state) => state === "done"));
  await second.close();
  expect(server.requests()).toHaveLength(6);
  for (const id of [session.id, other.id]) {
    expect((await verifySession(store, id)).findings).toEqual([]);
    const { messages } = await store.read(readDetail, { reference: id, all: false });
    expect(messages.map(({ content }) => content)).toEqual([
      "one",
      "to one",
      "two",
      "to two",
      "three",
      "to three",
    ]);
  }
  expect(await readyOf(store)).toEqual([]);
});

it("[CLI-180] sessions take turns, the one that has waited longest first", async () => {
  const server = await startModelServer({ answer: () => ({ content: "answered" }) });
  const bench = await openBench(server);
  const { store, session } = bench;
  const other = await store.write(createSession, {});
  for (const text of ["a1", "a2", "a3"]) {
    await queue(store, session.id, text);
  }
  await queue(store, other.id, "b1");
  dispatch(bench, { jobs: 1 });
  await until(async () => (await statesOf(store, session.id))[2] === "done");
  const asked = server.requests().map((messages) => messages.at(-1)?.content);
  expect(asked).toEqual(["a1", "b1", "a2", "a3"]);
});

it("[QUEUE-38] [QUEUE-50] fails in a session whose folder is gone, says so and keeps the message", async () => {
  const server = await startModelServer({ answer: () => ({ content: "answered" }) });
  const bench = await openBench(server);
  const { store } = bench;
  const repo_path = join(temporaryFolder(), "deleted");
  const { id } = await store.write(createSession, { repo_path });
  await queue(store, id, "a question");
  dispatch(bench);
  await until(async () => (await statesOf(store, id))[0] === "failed");
  const [record] = await store.read(listExchanges, { reference: id, limit: 1 });
  expect(record).toMatchObject({
    error_code: "folder_missing",
    error_sentence: expect.stringContaining("folder does not exist") as string,
  });
  const {
    record: { content },
  } = await store.read(readExchangeWithContent, { reference: id, n: 1 });
  expect(content).toBe("a question");
  expect(server.requests()).toEqual([]);
});

it("[QUEUE-38] fails in a session whose folder was replaced by a link", async () => {
  const server = await startModelServer({ answer: () => ({ content: "answered" }) });
  const bench = await openBench(server);
  const { store } = bench;
  const repo_path = join(temporaryFolder(), "replaced");
  const project_key = await projectKeyOf(repo_path);
  symlinkSync(temporaryFolder(), repo_path);
  const { id } = await store.write(createSession, { repo_path, project_key });
  await queue(store, id, "a question");
  dispatch(bench);
  await until(async () => (await statesOf(store, id))[0] === "failed");
  const [record] = await store.read(listExchanges, { reference: id, limit: 1 });
  expect(record).toMatchObject({ error_code: "folder_moved" });
  expect(server.requests()).toEqual([]);
});

it("[QUEUE-13] what has not begun can be changed, withdrawn and stopped", async () => {
  const server = await startModelServer({ answer: () => ({ content: "answered" }) });
  const bench = await openBench(server);
  const { store, session } = bench;
  const reference = session.id;
  await queue(store, reference, "one");
  await queue(store, reference, "two");
  await queue(store, reference, "three");
  await store.write(changeQueued, { reference, n: 1, content: "first" });
  await store.write(withdrawQueued, { reference, n: 2 });
  await store.write(stopExchange, { reference, n: 3 });
  dispatch(bench);
  await until(async () => (await statesOf(store, reference))[0] === "done");
  expect(await statesOf(store, reference)).toEqual(["done", "stopped", "stopped"]);
  expect(server.requests().map((messages) => messages.at(-1)?.content)).toEqual(["first"]);
  await expect(store.write(stopExchange, { reference, n: 1 })).rejects.toMatchObject({
    code: "exchange_ended",
  });
  await expect(store.write(changeQueued, { reference, n: 1, content: "x" })).rejects.toMatchObject({
    code: "exchange_begun",
  });
});

it("[QUEUE-11] an exchange that runs stops when it is asked to, and keeps the text that had arrived", async () => {
  const arrived = Promise.withResolvers<void>();
  const server = await startModelServer({
    latencyMs: 50,
    chunkSize: 4,
    answer: () => {
      arrived.resolve();
      return { content: "word ".repeat(1000) };
    },
  });
  const bench = await openBench(server);
  const { store, session } = bench;
  await queue(store, session.id, "a question");
  dispatch(bench);
  await arrived.promise;
  await sleep(300);
  await store.write(stopExchange, { reference: session.id, n: 1 });
  await until(async () => (await statesOf(store, session.id))[0] === "stopped");
  const [record] = await store.read(listExchanges, { reference: session.id, limit: 1 });
  expect(record).toMatchObject({ first_seq: 1, last_seq: 2 });
});

it("[QUEUE-6] a node that stops gives back what it runs, and another one continues it", async () => {
  const arrived = Promise.withResolvers<void>();
  const server = await startModelServer({
    latencyMs: 20,
    chunkSize: 4,
    answer: (_, index) => {
      arrived.resolve();
      return { content: index === 0 ? "word ".repeat(200) : "the answer" };
    },
  });
  const bench = await openBench(server);
  const { store, session } = bench;
  await queue(store, session.id, "a question");
  const first = dispatch(bench);
  await arrived.promise;
  await sleep(100);
  await first.close();
  expect(await statesOf(store, session.id)).toEqual(["queued"]);
  dispatch(bench);
  await until(async () => (await statesOf(store, session.id))[0] === "done");
  const [record] = await store.read(listExchanges, { reference: session.id, limit: 1 });
  expect(record).toMatchObject({ n: 1, state: "done", first_seq: 1, last_seq: 2 });
  expect((await verifySession(store, session.id)).findings).toEqual([]);
});

it("does not search for exchanges when a message is appended, which makes none ready", async () => {
  const bench = await openBench(await startModelServer({ answer: () => ({ content: "done" }) }));
  const { store, session } = bench;
  let searches = 0;
  const counting: Store = {
    ...store,
    read: (operation, input) => {
      searches += Number(operation.name === readReady.name);
      return store.read(operation, input);
    },
  };
  dispatch(bench, { store: counting, pollMs: 3_600_000 });
  await until(() => Promise.resolve(searches > 0));
  for (let count = 0; count < 20; count += 1) {
    await store.write(appendUserMessage, { reference: session.id, content: "a note" });
    // a search would be read before this
    await store.read(readReady, { limit: 1, after: null });
  }
  expect(searches).toBe(1);
  await queue(store, session.id, "a question");
  await until(async () => (await statesOf(store, session.id)).includes("done"));
});

it("[QUEUE-26] a session that somebody has without an exchange is left alone", async () => {
  const server = await startModelServer({ answer: () => ({ content: "answered" }) });
  const bench = await openBench(server);
  const { store, session } = bench;
  const held = await store.write(takeLease, {
    session_id: session.id,
    owner: thisProcess("test"),
    life_ms: 600_000,
  });
  await queue(store, session.id, "a question");
  let attempts = 0;
  const counting: Store = {
    ...store,
    write: (operation, input) => {
      attempts += Object.is(operation, openExchange) ? 1 : 0;
      return store.write(operation, input);
    },
  };
  const parts = { ...bench.parts, store: counting };
  const first = dispatch({ ...bench, parts, store: counting }, { pollMs: 600_000 });
  await sleep(300);
  expect(attempts).toBe(0);
  expect(await statesOf(store, session.id)).toEqual(["queued"]);
  await first.close();
  await store.write(releaseLease, { fence: held, finished: false, end: null });
  dispatch(bench);
  await until(async () => (await statesOf(store, session.id))[0] === "done");
});

it("[QUEUE-19] an exchange is tried again if the database is away for a moment", async () => {
  const server = await startModelServer({ answer: () => ({ content: "answered" }) });
  const bench = await openBench(server);
  const { store, session } = bench;
  await queue(store, session.id, "a question");
  let failures = 0;
  const failing: Store = {
    ...store,
    write: (operation, input) =>
      Object.is(operation, openExchange) && (failures += 1) < 3
        ? Promise.reject(new RepriseError("database_unavailable", "The database is away."))
        : store.write(operation, input),
  };
  const parts = { ...bench.parts, store: failing };
  const reported: unknown[] = [];
  dispatch({ ...bench, parts }, { onFailure: (error) => reported.push(error) });
  await until(async () => (await statesOf(store, session.id))[0] === "done");
  expect(failures).toBe(3);
  expect(reported).toMatchObject([
    { code: "database_unavailable" },
    { code: "database_unavailable" },
  ]);
  expect(server.requests()).toHaveLength(1);
});

it("[QUEUE-27] an exchange of the service takes at most 60 statements", async () => {
  const server = await startModelServer({ answer: () => ({ content: "answer" }) });
  const bench = await openBench(server, {}, SENDS_NOTHING_BY_CLOCK);
  const { store, session } = bench;
  await queue(store, session.id, "one");
  // the first exchange of a session stores its model and persona too
  const first = dispatch(bench);
  await until(async () => (await statesOf(store, session.id))[0] === "done");
  await first.close();
  await queue(store, session.id, "two");
  const exchanger = createExchanger(bench.parts);
  const ended = Promise.withResolvers<void>();
  const sent = await statementsOf(async () => {
    await store.read(readReady, { after: null, limit: 100 });
    const next = await store.read(readNextToRun, { session_id: session.id });
    const { session_id, n, revision, content, principal } = next!.queued;
    const claim = { n, revision };
    const { lease_state } = next!;
    await exchanger.exchange(
      { session_id, text: content, claim, principal, asked_by: "http", lease_state },
      { listener: () => ended.resolve(), signal: new AbortController().signal },
    );
  });
  expect(sent.statements.length, sent.statements.join("\n")).toBeLessThanOrEqual(60);
  expect(await statesOf(store, session.id)).toEqual(["done", "done"]);
});

it("[QUEUE-20] what the service runs changes a file only after a question, sub-agents included", async () => {
  const task = JSON.stringify({ persona: "assistant", task: "write" });
  const path = JSON.stringify({ path: "made.txt", content: "made\n" });
  const server = await startModelServer({
    answer: (messages, index) => {
      const toolCalls =
        index === 0
          ? [{ id: "call-0", name: "delegate", arguments: task }]
          : [{ id: "call-1", name: "write_file", arguments: path }];
      return messages.at(-1)?.role === "tool" ? { content: "done" } : { toolCalls };
    },
  });
  const bench = await openBench(server);
  const { store } = bench;
  const { id } = await store.write(createSession, { repo_path: bench.repo });
  await queue(store, id, "make a file");
  dispatch(bench);
  await until(async () => (await statesOf(store, id))[0] === "waiting");
  expect(existsSync(`${bench.repo}/made.txt`)).toBe(false);
  const [question, ...others] = await store.read(listOpenQuestions, { reference: id });
  expect(others).toEqual([]);
  expect(question).toMatchObject({ kind: "permission", path: [id, expect.any(String)] });
  expect(question?.text).toContain("+made");
  await store.write(answerQuestion, {
    reference: id,
    question: question?.id ?? "",
    given: { choice: "allow_once" },
    note: null,
    answered_by: "http",
  });
  await until(async () => (await statesOf(store, id))[0] === "done");
  expect(readFileSync(`${bench.repo}/made.txt`, "utf8")).toBe("made\n");
});

it("[QUEUE-21] a folder or model that nobody confirmed is not used", async () => {
  const server = await startModelServer({ answer: () => ({ content: "answer" }) });
  const bench = await openBench(server);
  const { store } = bench;
  const principal = GUEST;
  const { id } = await store.write(createSession, {});
  await queue(store, id, "a question");
  const change = { model: "openai:planted" };
  await store.write(patchSession, { reference: id, change, project_key: null, principal });
  await queue(store, bench.session.id, "another question");
  dispatch(bench);
  await until(async () => (await statesOf(store, id))[0] === "failed");
  await until(async () => (await statesOf(store, bench.session.id))[0] === "done");
  const [record] = await store.read(listExchanges, { reference: id, limit: 1 });
  expect(record).toMatchObject({ error_code: "not_confirmed", begun_at: null, last_seq: null });
  expect(server.requests()).toHaveLength(1);
});

it("[QUESTION-20] [QUESTION-21] messages of nobody are asked about, and handed over after a yes only", async () => {
  const server = await startModelServer({ answer: () => ({ content: "answer" }) });
  const bench = await openBench(server);
  const { store, session } = bench;
  const { id } = session;
  const principal = GUEST;
  const plant = (content: string) =>
    store.write(appendUserMessage, { reference: id, content, principal });
  dispatch(bench);
  const done = async (text: string, count: number) => {
    await queue(store, id, text);
    await until(
      async () => (await statesOf(store, id)).filter((state) => state === "done").length === count,
    );
    return server
      .requests()
      .at(-1)
      ?.map(({ content }) => content);
  };
  const open = () => store.read(listOpenQuestions, { reference: id });
  const answer = async (choice: string) =>
    store.write(answerQuestion, {
      reference: id,
      question: (await open())[0]?.id ?? "",
      given: { choice },
      note: null,
      answered_by: "http",
    });
  await plant("planted");
  await plant("another\nline");
  expect(await done("one", 1)).toEqual(["one"]);
  const [question, ...more] = await open();
  expect(more).toEqual([]);
  expect(question).toMatchObject({ kind: "messages", choices: [{ id: "yes" }, { id: "no" }] });
  expect(question?.text).toMatch(
    /^2 messages came .*this\?\n\[1\] .*\n\| planted\n\[2\] .*\n\| another\n\| line$/,
  );
  // not asked twice, and nothing waits for the answer
  await done("two", 2);
  expect(await open()).toHaveLength(1);
  await answer("yes");
  expect((await done("three", 3))?.slice(-3)).toEqual(["planted", "another\nline", "three"]);
  expect(await open()).toEqual([]);

  await plant("rejected");
  await done("four", 4);
  await answer("no");
  await plant("later");
  await done("five", 5);
  expect((await open())[0]?.text).toMatch(/^1 message came .*\n.*\n\| later$/);
  const { unaccepted } = await store.read(readWaiting, { session_id: id });
  expect(unaccepted.messages.map(({ beginning }) => beginning)).toEqual(["later"]);
  // accepted at a terminal instead
  await store.write(acceptMessages, { session_id: id, through_seq: unaccepted.messages[0]!.seq });
  expect(await open()).toEqual([]);
  expect((await done("six", 6))?.slice(-2)).toEqual(["later", "six"]);
  expect(JSON.stringify(server.requests())).not.toContain("rejected");

  await plant("never answered");
  await done("seven", 7);
  await store.write(startThread, { id, archive: true });
  expect(await open()).toEqual([]);
  expect((await verifySession(store, id)).findings).toEqual([]);
});

it("[QUEUE-19] an exchange that cannot begin has failed, and the next one is run", async () => {
  const server = await startModelServer({ answer: () => ({ content: "answer" }) });
  const bench = await openBench(server);
  const { store } = bench;
  const { id } = await store.write(createSession, { persona_name: "nobody" });
  await queue(store, id, "one");
  await queue(store, id, "two");
  dispatch(bench);
  await until(async () => (await statesOf(store, id)).every((state) => state === "failed"));
  const records = await store.read(listExchanges, { reference: id, limit: 2 });
  expect(records.map(({ error_code }) => error_code)).toEqual([
    "persona_not_found",
    "persona_not_found",
  ]);
  expect(server.requests()).toEqual([]);
});

it("[QUEUE-19] [QUEUE-40] what needs a key that this node lacks is left to another one, and the rest is run", async () => {
  const server = await startModelServer({ answer: () => ({ content: "answer" }) });
  const bench = await openBench(server);
  const { store, session } = bench;
  const { id } = await store.write(createSession, { model: "anthropic:claude-test" });
  await queue(store, id, "one");
  await queue(store, session.id, "two");
  const reported: unknown[] = [];
  const lacking = dispatch(bench, { onFailure: (error) => reported.push(error) });
  await until(async () => (await statesOf(store, session.id))[0] === "done");
  await until(() => Promise.resolve(reported.length > 0));
  expect(await statesOf(store, id)).toEqual(["queued"]);
  for (const text of ["three", "four", "five"]) {
    await queue(store, session.id, text);
    await until(async () => (await statesOf(store, session.id)).every((state) => state === "done"));
  }
  expect(reported).toMatchObject([{ code: "model_key_missing" }]);
  await lacking.close();
  const models = modelConfig({ ...server.env("anthropic"), ...server.env("openai") });
  dispatch({ ...bench, parts: { ...bench.parts, models } });
  await until(async () => (await statesOf(store, id))[0] !== "queued");
});

it("[QUEUE-19] what a node or its database prevents stays queued", async () => {
  const server = await startModelServer({ answer: () => ({ content: "answer" }) });
  const bench = await openBench(server);
  const { store, session } = bench;
  const failures: unknown[] = [];
  let attempts = 0;
  await queue(store, session.id, "a question");
  const tried = Promise.withResolvers<void>();
  dispatch(bench, {
    openExchanger: () => {
      attempts += 1;
      if (attempts === 3) {
        tried.resolve();
      }
      return attempts <= 3
        ? Promise.reject(new RepriseError("config_invalid", "Not now."))
        : Promise.resolve(createExchanger(bench.parts));
    },
    onFailure: (error) => failures.push(error),
  });
  await tried.promise;
  await until(async () => (await statesOf(store, session.id))[0] === "done");
  expect(failures).toMatchObject([
    { code: "config_invalid" },
    { code: "config_invalid" },
    { code: "config_invalid" },
  ]);
});

it("[QUEUE-9] a service leaves alone what a terminal was running when it was killed", async () => {
  const server = await startModelServer({ answer: () => ({ content: "answer" }) });
  const bench = await openBench(server);
  const { store, session } = bench;
  await ask(store, session.id, "typed");
  await queue(store, session.id, "queued before");
  await execute(
    store,
    "UPDATE sessions SET model = NULL, lease_expires_at = ?",
    "2020-01-01T00:00:00.000Z",
  );
  const other = await store.write(createSession, { repo_path: bench.repo });
  await queue(store, other.id, "a question");
  dispatch(bench, { reviveMs: 20 });
  await until(async () => (await statesOf(store, other.id))[0] === "done");
  expect(await statesOf(store, session.id)).toEqual(["interrupted", "queued"]);
  expect(server.requests()).toHaveLength(1);
  await store.write(stopExchange, { reference: session.id, n: 1 });
  await until(async () => (await statesOf(store, session.id))[1] === "done");
  expect(server.requests()).toHaveLength(2);
});
