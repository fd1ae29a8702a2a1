import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { tool } from "@langchain/core/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { permissionChoices } from "../../../src/core/text/words.ts";
import { createExchanger } from "../../../src/agent/exchange.ts";
import { NOT_RUN } from "../../../src/agent/messages/thread-state.ts";
import { ask, asksFirst } from "../../../src/agent/permit/tool-asking.ts";
import { type GivenReply, MAX_QUESTION } from "../../../src/core/questions.ts";
import { startDispatcher } from "../../../src/exchange/nodes/dispatcher.ts";
import { queueExchange } from "../../../src/store/records/exchanges/queue.ts";
import { listExchanges } from "../../../src/store/records/exchanges/read.ts";
import { answerQuestion } from "../../../src/store/records/questions/answer.ts";
import { listOpenQuestions } from "../../../src/store/records/questions/read.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { readSession } from "../../../src/store/records/sessions/read.ts";
import { verifySession } from "../../../src/store/verify/verify-session.ts";
import { dyingStore } from "../../helpers/dying-store.ts";
import { type Bench, openBench } from "../../helpers/exchanger.ts";
import {
  type ModelAnswer,
  type SentMessage,
  startModelServer,
} from "../../helpers/model-server.ts";
import { temporaryFolder } from "../../helpers/temp.ts";
import { seededRandom } from "../../helpers/random.ts";
import { testSize } from "../../helpers/size.ts";
import { tokenHolder } from "../../../src/core/principal.ts";

/** Pays after a yes; what it pays is a line of a file that nobody else writes. */
function tools(log: string) {
  const options = { description: "Pays.", schema: z.object({ what: z.string() }) };
  const pay = ({ what }: { what: string }): string => {
    appendFileSync(log, `${what}\n`);
    return `paid ${what}`;
  };
  return [
    asksFirst(
      tool(
        async ({ what }, config) => {
          const { choice } = await ask(config, {
            kind: "permission",
            text: `Pay ${what}?`,
            choices: permissionChoices(null),
            permission: null,
          });
          return choice === "allow_once" ? pay({ what }) : `not allowed: ${what}`;
        },
        { ...options, name: "pay" },
      ),
    ),
    tool(pay, { ...options, name: "pay_unasked" }),
  ];
}

const paying = (name: string, ...all: readonly string[]) =>
  all.map((what) => ({ id: "call_0", name, arguments: JSON.stringify({ what }) }));
const asking = (question: string, ...choices: readonly string[]) => ({
  name: "ask_user",
  arguments: JSON.stringify(choices.length === 0 ? { question } : { question, choices }),
});

/** Calls these tools first, and then repeats all results. */
function calling(toolCalls: NonNullable<ModelAnswer["toolCalls"]>) {
  return (messages: readonly SentMessage[]): ModelAnswer => {
    const at = messages.findLastIndex(({ role }) => role === "user");
    const results = messages.slice(at).filter(({ role }) => role === "tool");
    return results.length === 0
      ? { toolCalls }
      : { content: results.map(({ content }) => content).join(", ") };
  };
}

async function openAsking(answer: (messages: readonly SentMessage[]) => ModelAnswer) {
  const log = join(temporaryFolder(), "paid");
  const server = await startModelServer({ answer });
  const bench = await openBench(server, {}, { programTools: tools(log) });
  const { store, session } = bench;
  return {
    ...bench,
    server,
    paid: () => (existsSync(log) ? readFileSync(log, "utf8").split("\n").filter(Boolean) : []),
    open: () => store.read(listOpenQuestions, { reference: session.id }),
    answer: (question: string, given: string | GivenReply, continues = false) =>
      store.write(answerQuestion, {
        reference: session.id,
        question,
        given: typeof given === "string" ? { choice: given } : given,
        note: null,
        answered_by: "http",
        continues,
      }),
    states: async (id = session.id) =>
      (await store.read(listExchanges, { reference: id, limit: 10 }))
        .map(({ state }) => state)
        .toReversed(),
    activity: async (id = session.id) => (await store.read(readSession, { id })).activity,
  };
}

const live = { listener: () => undefined, signal: new AbortController().signal };

async function expectVerified({ store, session }: Bench): Promise<void> {
  expect((await verifySession(store, session.id)).findings).toEqual([]);
}

describe("a question to a person", () => {
  it("[QUESTION-5] [QUESTION-6] [QUESTION-10] parks the exchange beside siblings that finish, and its answer continues it", async () => {
    const bench = await openAsking(
      calling([...paying("pay", "rent"), ...paying("pay_unasked", "food", "fun")]),
    );
    expect((await bench.run({ text: "pay" })).state).toBe("waiting");
    // they run at the same time
    expect(bench.paid().toSorted()).toEqual(["food", "fun"]);
    expect(await bench.states()).toEqual(["waiting"]);
    expect(await bench.activity()).toBe("interrupted");
    const [question, ...others] = await bench.open();
    expect(others).toEqual([]);
    expect(question).toMatchObject({
      session_id: bench.session.id,
      number: 1,
      state: "open",
      kind: "permission",
      text: "Pay rent?",
      choices: permissionChoices(null),
      permission: null,
      choice: null,
      answer: null,
      path: [bench.session.id],
    });
    await expect(bench.answer(question?.id ?? "", "perhaps")).rejects.toMatchObject({
      code: "invalid_request",
    });
    const answered = await bench.answer(question?.id ?? "", "allow_once");
    expect(answered).toMatchObject({
      state: "answered",
      choice: "allow_once",
      answer: "allow once",
      answered_by: "http",
    });
    await expect(bench.answer(question?.id ?? "", "deny")).rejects.toMatchObject({
      code: "question_answered",
    });
    expect(await bench.states()).toEqual(["queued"]);

    const result = await bench.run({ text: null }, { repeats: "ask" });
    expect(result).toMatchObject({ state: "done", answer: "paid rent, paid food, paid fun" });
    expect(bench.paid().toSorted()).toEqual(["food", "fun", "rent"]);
    expect(bench.paid().at(-1)).toBe("rent");
    expect(await bench.states()).toEqual(["done"]);
    expect(bench.server.refused()).toEqual([]);
    await expectVerified(bench);
  });

  it.each([
    ["in order", [0, 1]],
    ["in the other order", [1, 0]],
  ])(
    "[QUESTION-7] waits for both of two questions, answered one by one, %s",
    async (_how, order) => {
      const bench = await openAsking(
        calling([asking("Which colour?"), asking("Which size?", "small", "large")]),
      );
      await bench.run({ text: "ask" });
      const answers = [{ text: "red" }, { choice: "2" }];
      const open = await bench.open();
      expect(open.map(({ text }) => text).toSorted()).toEqual(["Which colour?", "Which size?"]);
      const byText = open.toSorted((a, b) => (a.text < b.text ? -1 : 1));
      await bench.answer(byText[order[0] ?? 0]?.id ?? "", answers[order[0] ?? 0] ?? "");
      expect(await bench.states()).toEqual(["waiting"]);
      // to continue with one answer leaves the other question open
      expect((await bench.run({ text: null })).state).toBe("waiting");
      expect((await bench.open()).map(({ text }) => text)).toEqual([byText[order[1] ?? 0]?.text]);
      await bench.answer(byText[order[1] ?? 0]?.id ?? "", answers[order[1] ?? 0] ?? "");
      expect((await bench.run({ text: null })).answer).toBe("red, large");
      expect(bench.server.requests()).toHaveLength(2);
      await expectVerified(bench);
    },
  );

  it("[QUESTION-40] is for the model not run after a new message", async () => {
    const bench = await openAsking((messages) =>
      messages.at(-1)?.content === "pay"
        ? { toolCalls: [...paying("pay", "rent"), ...paying("pay_unasked", "food")] }
        : { content: "fine" },
    );
    expect((await bench.run({ text: "pay" })).state).toBe("waiting");
    expect((await bench.run({ text: "no" })).answer).toBe("fine");
    const results = bench.server.requests()[1]?.filter(({ role }) => role === "tool");
    expect(results?.map(({ content }) => content).toSorted()).toEqual([NOT_RUN, "paid food"]);
    expect(bench.paid()).toEqual(["food"]);
    await expectVerified(bench);
  });

  it("[QUESTION-8] is not the next call's: the same id and the same words need another yes", async () => {
    const bench = await openAsking(calling(paying("pay", "rent")));
    for (const text of ["pay", "pay again"]) {
      expect((await bench.run({ text })).state).toBe("waiting");
      const [question] = await bench.open();
      await bench.answer(question?.id ?? "", text === "pay" ? "allow_once" : "deny", true);
      await bench.run({ text: null });
    }
    expect(bench.paid()).toEqual(["rent"]);
    expect(await bench.states()).toEqual(["done", "done"]);
  });

  it("[QUESTION-9] counts only for what the person was shown", async () => {
    let price = 1;
    let tail = "";
    const server = await startModelServer({ answer: calling(paying("buy", "bread")) });
    const buy = tool(
      async (_input, config) => {
        const text = `Buy for ${price}?${tail}`;
        const choices = permissionChoices(null);
        const given = { kind: "permission", text, choices, permission: null } as const;
        return (await ask(config, given)).answer;
      },
      { name: "buy", description: "Buys.", schema: z.object({ what: z.string() }) },
    );
    const bench = await openBench(server, {}, { programTools: [asksFirst(buy)] });
    const { store, session } = bench;
    const open = () => store.read(listOpenQuestions, { reference: session.id });
    await bench.run({ text: "buy" });
    const given = { choice: "allow_once" };
    const answer = { reference: session.id, given, note: null, answered_by: "terminal" } as const;
    const [first] = await open();
    await store.write(answerQuestion, { ...answer, question: first?.id ?? "" });
    price = 2;
    expect((await bench.run({ text: null })).state).toBe("waiting");
    const [second, ...others] = await open();
    expect(others).toEqual([]);
    expect(second).toMatchObject({ number: 2, text: "Buy for 2?" });
    // asked again before anybody answers, it takes the place of the open one
    price = 3;
    expect((await bench.run({ text: null })).state).toBe("waiting");
    expect((await open()).map(({ number, text }) => [number, text])).toEqual([[3, "Buy for 3?"]]);
    const late = { ...answer, question: second?.id ?? "" };
    await expect(store.write(answerQuestion, late)).rejects.toMatchObject({
      code: "question_withdrawn",
    });

    // it differs only in what is too long to be shown
    const [third] = await open();
    tail = "x".repeat(MAX_QUESTION);
    await store.write(answerQuestion, { ...answer, question: third?.id ?? "" });
    expect((await bench.run({ text: null })).state).toBe("waiting");
    const [long] = await open();
    expect(long?.text).toMatch(/^Buy for 3\?x+…$/);
    expect(long?.text).toHaveLength(MAX_QUESTION);
    await store.write(answerQuestion, { ...answer, question: long?.id ?? "" });
    tail += "y";
    expect((await bench.run({ text: null })).state).toBe("waiting");
  });

  it.each([
    ["white space around it", " Really?\n", ["yes ", "yes", "no"]],
    ["more than a person is shown", "x".repeat(MAX_QUESTION + 1), ["y".repeat(300)]],
  ])("[QUESTION-46] with %s is asked once", async (_what, question, choices = []) => {
    const bench = await openAsking(calling([asking(question, ...choices)]));
    expect((await bench.run({ text: "ask" })).state).toBe("waiting");
    const [asked] = await bench.open();
    await bench.store.write(answerQuestion, {
      reference: bench.session.id,
      question: asked?.id ?? "",
      given: asked?.choices === null ? { text: "fine" } : { choice: "1" },
      note: null,
      answered_by: "http",
      continues: true,
    });
    expect((await bench.run({ text: null })).state).toBe("done");
  });

  it("[QUESTION-11] answered while its siblings still run, is continued at once by a node", async () => {
    const asked = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    const server = await startModelServer({
      answer: calling([asking("Which colour?"), { name: "slow", arguments: "{}" }]),
    });
    const slow = tool(
      async () => {
        asked.resolve();
        await answered.promise;
        return "slept";
      },
      { name: "slow", description: "Sleeps.", schema: z.object({}) },
    );
    const bench = await openBench(server, {}, { programTools: [slow] });
    const { store, session } = bench;
    const running = bench.run({ text: "ask" });
    await asked.promise;
    const question = await until(async () => {
      const [first] = await store.read(listOpenQuestions, { reference: session.id });
      return first;
    });
    await store.write(answerQuestion, {
      reference: session.id.slice(0, 8),
      question: question.id,
      given: { text: "red" },
      note: "bright",
      answered_by: "http",
    });
    answered.resolve();
    expect((await running).state).toBe("waiting");
    await using _node = dispatching(bench);
    const last = await until(async () => {
      const [record] = await store.read(listExchanges, { reference: session.id, limit: 1 });
      return record?.state === "done" ? record : undefined;
    });
    expect(last.n).toBe(1);
    expect(
      server
        .requests()
        .at(-1)
        ?.map(({ content }) => content)
        .slice(-2),
    ).toEqual(["red\n\nbright", "slept"]);
  });

  it("[QUESTION-39] of a sub-agent is still open after its node stopped, and asked once", async () => {
    const tried: Promise<unknown>[] = [];
    const started = Promise.withResolvers<void>();
    const server = await startModelServer({
      answer: (messages) =>
        calling(
          messages.some(({ content }) => content === "delegate")
            ? [{ name: "delegate", arguments: JSON.stringify({ task: "ask" }) }]
            : [asking("Which colour?"), { name: "slow", arguments: "{}" }],
        )(messages),
    });
    const slow = tool(
      async (_input, { signal }: { signal?: AbortSignal }) => {
        started.resolve();
        if (tried.length > 0) {
          return "slept";
        }
        const aborted = new Promise((_, reject) => {
          signal?.addEventListener("abort", () => reject(signal.reason as Error));
        });
        tried.push(aborted.catch(() => undefined));
        return aborted;
      },
      { name: "slow", description: "Sleeps.", schema: z.object({}) },
    );
    const bench = await openBench(server, {}, { programTools: [slow] });
    const { store, session } = bench;
    const reference = session.id;
    const open = () => store.read(listOpenQuestions, { reference });
    const principal = tokenHolder("owner");
    const message = { reference, content: "delegate", asked_by: "http", principal } as const;
    await store.write(queueExchange, message);
    const node = dispatching(bench);
    await started.promise;
    const asked = await until(async () => (await open())[0]);
    await node[Symbol.asyncDispose]();
    const states = async (id: string) =>
      (await store.read(listExchanges, { reference: id, limit: 9 })).map(({ state }) => state);
    expect(await states(reference)).toEqual(["queued"]);
    expect(await states(asked.session_id)).toEqual(["interrupted"]);
    expect(await open()).toEqual([asked]);

    await using _other = dispatching(bench);
    await until(async () => ((await states(reference))[0] === "waiting" ? true : undefined));
    expect(await open()).toEqual([asked]);
    await answerAll(store, reference);
    await until(async () => ((await states(reference))[0] === "done" ? true : undefined));
    expect(await states(asked.session_id)).toEqual(["done"]);
  });

  it("[QUESTION-17] gets its default answer from a node, if it takes it and nobody answers in time", async () => {
    const bench = await openAsking(calling(paying("pay", "rent")));
    const { store, session, parts } = bench;
    const exchanger = createExchanger({ ...parts, defaultAnswer: { choice: "deny", after_ms: 0 } });
    const result = await exchanger.exchange({ session_id: session.id, text: "pay" }, live);
    expect(result.state).toBe("waiting");
    const [question] = await bench.open();
    expect(question).toMatchObject({ default_answer: "deny", state: "open" });
    expect(question?.answer_by).toBe(question?.asked_at);
    await using _node = dispatching(bench);
    await until(async () => ((await bench.states())[0] === "done" ? true : undefined));
    expect(bench.paid()).toEqual([]);
    await expect(bench.answer(question?.id ?? "", "allow_once")).rejects.toMatchObject({
      code: "question_answered",
    });
    expect((await verifySession(store, session.id)).findings).toEqual([]);
  });

  it("[QUESTION-12] is asked, answered and run once, whichever write a process dies at", async () => {
    const bench = await openAsking(
      calling([...paying("pay", "rent"), ...paying("pay_unasked", "food")]),
    );
    const { store, parts } = bench;
    let isOver = false;
    const random = seededRandom("dying writes");
    for (let at = 5; !isOver; at += 1) {
      if (random() * 100 >= testSize("dying-writes")) {
        continue;
      }
      for (const when of ["before", "after"] as const) {
        const session = await store.write(createSession, { permission: "all" });
        const point = `${when} write ${at}`;
        const before = bench.paid().length;
        const dying = dyingStore(store, at, when);
        const first = createExchanger({ ...parts, store: dying.store });
        const request = { session_id: session.id, when_busy: "take_over" } as const;
        // it asks, is answered by somebody else, and continues
        const run = (async () => {
          await first.exchange({ ...request, text: "pay" }, live);
          await answerAll(store, session.id);
          return first.exchange({ ...request, text: null }, live);
        })();
        run.catch(() => undefined);
        isOver = (await Promise.race([dying.dead.then(() => null), run])) !== null;
        if (isOver) {
          break;
        }
        const second = createExchanger(parts);
        for (let turn = 0; turn < 4; turn += 1) {
          await answerAll(store, session.id);
          if ((await store.read(readSession, session)).activity === "idle") {
            break;
          }
          await second.exchange({ ...request, text: null }, live);
        }
        const { findings } = await verifySession(store, session.id);
        expect(findings, point).toEqual([]);
        const paid = bench.paid().slice(before);
        expect(new Set(paid).size, point).toBe(paid.length);
        expect(await bench.states(session.id), point).toEqual(["done"]);
        expect(await store.read(readSession, session), point).toMatchObject({ activity: "idle" });
        const questions = await store.read(
          ({ db }) =>
            db
              .selectFrom("questions")
              .select(["number", "state"])
              .where("session_id", "=", session.id)
              .execute(),
          null,
        );
        expect(questions, point).toEqual([{ number: 1, state: "answered" }]);
        dying.bury();
      }
    }
    expect(bench.server.refused()).toEqual([]);
  });
});

async function answerAll(store: Bench["store"], reference: string): Promise<void> {
  for (const { id: question, choices } of await store.read(listOpenQuestions, { reference })) {
    const given = choices === null ? { text: "red" } : { choice: "allow_once" };
    const from = { note: null, answered_by: "http" } as const;
    await store.write(answerQuestion, { reference, question, given, ...from });
  }
}

async function until<Found>(find: () => Promise<Found | undefined>): Promise<Found> {
  for (;;) {
    const found = await find();
    if (found !== undefined) {
      return found;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function dispatching({ store, parts }: Bench): AsyncDisposable {
  const { close } = startDispatcher({
    store,
    openExchanger: () => Promise.resolve(createExchanger(parts)),
    jobs: 1,
    serves: () => Promise.resolve(true),
    pollMs: 20,
    onFailure: () => undefined,
  });
  return { [Symbol.asyncDispose]: close };
}
