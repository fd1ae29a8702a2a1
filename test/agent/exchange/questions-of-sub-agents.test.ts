import { describe, expect, it } from "vitest";

import { inWords } from "../../helpers/in-words.ts";
import { createExchanger } from "../../../src/agent/exchange.ts";
import { stopExchange } from "../../../src/store/records/exchanges/change.ts";
import { listExchanges } from "../../../src/store/records/exchanges/read.ts";
import { parseExport } from "../../../src/store/portable/parse.ts";
import { exportText } from "../../../src/store/portable/export-text.ts";
import type { SessionTree } from "../../../src/store/portable/export-schema.ts";
import { importTree, withNewIds } from "../../../src/store/portable/import-tree.ts";
import { readSessionTree } from "../../../src/store/portable/read-tree.ts";
import { answerQuestion } from "../../../src/store/records/questions/answer.ts";
import { listOpenQuestions } from "../../../src/store/records/questions/read.ts";
import { endSession, startThread } from "../../../src/store/records/sessions/change.ts";
import { deleteSessionTree } from "../../../src/store/records/sessions/delete-tree.ts";
import { readTreeIds } from "../../../src/store/records/sessions/tree-ids.ts";
import { readSession } from "../../../src/store/records/sessions/read.ts";
import type { Operation } from "../../../src/store/store.ts";
import { verifySession } from "../../../src/store/verify/verify-session.ts";
import { type Bench, openBench } from "../../helpers/exchanger.ts";
import {
  type ModelAnswer,
  type SentMessage,
  startModelServer,
} from "../../helpers/model-server.ts";

const delegating = (task: string) => ({ name: "delegate", arguments: JSON.stringify({ task }) });
const asking = (question: string) => ({
  name: "ask_user",
  arguments: JSON.stringify({ question }),
});

/** A sub-agent with the task `ask <what>` or `ask <what>+<what>` asks that first, then `and then`; others answer at once. */
function model(messages: readonly SentMessage[]): ModelAnswer {
  const at = messages.findLastIndex(({ role }) => role === "user");
  const text = messages[at]?.content ?? "";
  const results = messages.slice(at + 1).filter(({ role }) => role === "tool");
  const said = results.map(({ content }) => content).join(", ");
  if (text.startsWith("ask ")) {
    const first = text.slice(4).split("+");
    const next = results.length === 0 ? first : results.length === first.length ? ["and then"] : [];
    return next.length === 0
      ? { content: said }
      : { toolCalls: next.map((what) => asking(`${what}?`)) };
  }
  if (text.startsWith("delegate") && results.length === 0) {
    return {
      toolCalls: text
        .split(" ")
        .slice(1)
        .map((what) => delegating(`ask ${what}`)),
    };
  }
  return { content: said === "" ? `to ${text}` : said };
}

async function openAsking(...tasks: readonly string[]) {
  const server = await startModelServer({ answer: model });
  const bench = await openBench(server);
  const { session } = bench;
  expect((await bench.run({ text: ["delegate", ...tasks].join(" ") })).state).toBe("waiting");
  return { ...bench, server, ...questionsOf(bench, session.id) };
}

function questionsOf({ store }: Pick<Bench, "store">, reference: string) {
  const open = () => store.read(listOpenQuestions, { reference });
  return {
    open,
    askerOf: async (text: string) =>
      (await open()).find((each) => each.text === text)?.session_id ?? "",
    answer: async (text: string, answer: string) => {
      const question = (await open()).find((each) => each.text === text);
      const given = { given: inWords(question, answer), note: null, answered_by: "http" } as const;
      return store.write(answerQuestion, { reference, question: question?.id ?? "", ...given });
    },
    states: async () => {
      const ids = await store.read(readTreeIds, { id: reference });
      const all = ids.map(async (id) => {
        const records = await store.read(listExchanges, { reference: id, limit: 10 });
        const { activity } = await store.read(readSession, { id });
        return [activity, ...records.map(({ state }) => state).toReversed()].join(" ");
      });
      return Promise.all(all);
    },
    questions: async () => {
      const rows = await store.read(
        ({ db }) => db.selectFrom("questions").select(["text", "state"]).orderBy("text").execute(),
        null,
      );
      return rows.map(({ text, state }) => `${text} ${state}`);
    },
  };
}

/** The revision of the last exchange of each session, by its id: sub-agents that are begun together have no order. */
const revisionsOf: Operation<{ readonly id: string }, ReadonlyMap<string, number>> = async (
  tx,
  { id },
) => {
  const revisions = new Map<string, number>();
  for (const session_id of await readTreeIds(tx, { id })) {
    const [last] = await listExchanges(tx, { reference: session_id, limit: 1 });
    revisions.set(session_id, last?.revision ?? 0);
  }
  return revisions;
};

async function expectVerified({ store, session }: Bench): Promise<void> {
  for (const id of await store.read(readTreeIds, session)) {
    expect((await verifySession(store, id)).findings).toEqual([]);
  }
}

describe("a question of a sub-agent", () => {
  it("[QUESTION-13] [QUESTION-14] parks its parents, is asked at the root, and its second answer is not the first", async () => {
    const bench = await openAsking("colour");
    const [first] = await bench.open();
    expect(first).toMatchObject({ text: "colour?", path: [bench.session.id, first?.session_id] });
    expect(first?.session_id).not.toBe(bench.session.id);
    expect(await bench.states()).toEqual(["interrupted waiting", "interrupted waiting"]);
    await bench.answer("colour?", "red");
    // the root's, which runs the sub-agent's
    expect(await bench.states()).toEqual(["interrupted queued", "interrupted waiting"]);
    expect((await bench.run({ text: null })).state).toBe("waiting");
    await bench.answer("and then?", "green");
    expect((await bench.run({ text: null })).answer).toBe("red, green");
    expect(await bench.states()).toEqual(["idle done", "idle done"]);
    expect(bench.server.refused()).toEqual([]);
    await expectVerified(bench);
  });

  it("[QUESTION-14] an answer lets its sub-agent continue, while another one still asks and is not run", async () => {
    const bench = await openAsking("colour", "size");
    const revisions = () => bench.store.read(revisionsOf, bench.session);
    const before = await revisions();
    const asker = await bench.askerOf("colour?");
    await bench.answer("size?", "large");
    expect((await bench.states())[0]).toBe("interrupted queued");
    expect((await bench.run({ text: null })).state).toBe("waiting");
    expect((await bench.states())[0]).toBe("interrupted waiting");
    expect((await bench.open()).map(({ text }) => text)).toEqual(["colour?", "and then?"]);
    // all but the one that asks the colour
    const after = await revisions();
    const same = [...after].filter(([id, revision]) => before.get(id) === revision);
    expect(same.map(([id]) => id)).toEqual([asker]);
    expect(bench.server.requests()).toHaveLength(4);
    await bench.answer("and then?", "soon");
    expect((await bench.run({ text: null })).state).toBe("waiting");
    expect((await bench.states()).toSorted()).toEqual([
      "idle done",
      "interrupted waiting",
      "interrupted waiting",
    ]);
    await bench.answer("colour?", "red");
    expect((await bench.run({ text: null })).state).toBe("waiting");
    await bench.answer("and then?", "later");
    expect((await bench.run({ text: null })).answer).toBe("red, later, large, soon");
    expect(bench.server.refused()).toEqual([]);
    await expectVerified(bench);
  });

  it("[QUESTION-7] a sub-agent with two questions continues once both are answered", async () => {
    const bench = await openAsking("colour+width", "size");
    await bench.answer("colour?", "red");
    expect((await bench.states())[0]).toBe("interrupted waiting");
    const asker = await bench.askerOf("width?");
    const before = await bench.store.read(revisionsOf, bench.session);
    await bench.answer("size?", "large");
    expect((await bench.run({ text: null })).state).toBe("waiting");
    // it was not run for the one answer that it has
    const after = await bench.store.read(revisionsOf, bench.session);
    expect(after.get(asker)).toBe(before.get(asker));
    await bench.answer("width?", "wide");
    expect((await bench.states())[0]).toBe("interrupted queued");
  });

  it("[QUESTION-15] [QUESTION-31] a new message at the root withdraws it, and the sub-agent is idle", async () => {
    const bench = await openAsking("colour");
    expect((await bench.run({ text: "never mind" })).answer).toBe("to never mind");
    expect(await bench.questions()).toEqual(["colour? withdrawn"]);
    expect(await bench.states()).toEqual(["idle stopped done", "idle stopped"]);
    // nobody waits for it any more
    const [, session_id = ""] = await bench.store.read(readTreeIds, bench.session);
    const exchanger = createExchanger(bench.parts);
    const live = { listener: () => undefined, signal: new AbortController().signal };
    await expect(exchanger.exchange({ session_id, text: null }, live)).rejects.toMatchObject({
      code: "nothing_to_continue",
    });
    expect(bench.server.refused()).toEqual([]);
    await expectVerified(bench);
  });

  it.each([
    ["a stop", stopRoot, "interrupted stopped"],
    ["the end of the session", endRoot, "idle stopped"],
    ["a fresh thread", clearRoot, "idle stopped"],
  ])("[QUESTION-15] %s withdraws it and stops what waits", async (_what, act, state) => {
    const bench = await openAsking("colour");
    const [question] = await bench.open();
    await act(bench);
    expect(await bench.open()).toEqual([]);
    expect(await bench.questions()).toEqual(["colour? withdrawn"]);
    expect(await bench.states()).toEqual([state, state]);
    const given = { given: { text: "red" }, note: null, answered_by: "http" } as const;
    const { id } = bench.session;
    await expect(
      bench.store.write(answerQuestion, { reference: id, question: question?.id ?? "", ...given }),
    ).rejects.toMatchObject({ code: act === endRoot ? "session_ended" : "question_withdrawn" });
    await expectVerified(bench);
  });

  it.each([
    ["a stop", stopRoot, "interrupted stopped"],
    ["a fresh thread", clearRoot, "idle stopped"],
    ["a new message", messageToRoot, "idle stopped done"],
  ])("[QUESTION-31] %s stops what waits, also once it was answered", async (_what, act, state) => {
    const bench = await openAsking("colour");
    await bench.answer("colour?", "red");
    await act(bench);
    const [root, child] = await bench.states();
    expect(root).toBe(state);
    expect(child).toBe(state.replace(" done", ""));
    await expectVerified(bench);
  });

  it.each([
    ["a stop", stopRoot],
    ["the end of its session", endRoot],
    ["a fresh thread", clearRoot],
  ])(
    "[QUESTION-32] %s of the sub-agent alone continues its parent without it",
    async (_what, act) => {
      const bench = await openAsking("colour", "size");
      const [first, second] = await bench.open();
      await act({ ...bench, session: { ...bench.session, id: first?.session_id ?? "" } });
      // it still waits for the other one
      expect((await bench.states())[0]).toBe("interrupted waiting");
      await act({ ...bench, session: { ...bench.session, id: second?.session_id ?? "" } });
      expect(await bench.states()).toEqual(["interrupted queued", "idle stopped", "idle stopped"]);
      const stopped = "Error: the sub-agent was stopped before it answered.";
      expect((await bench.run({ text: null })).answer).toBe(`${stopped}, ${stopped}`);
      expect(await bench.states()).toEqual(["idle done", "idle stopped", "idle stopped"]);
      await expectVerified(bench);
    },
  );

  it("[QUESTION-32] the deletion of the sub-agent alone continues its parent, which begins another one", async () => {
    const bench = await openAsking("colour");
    const [question] = await bench.open();
    await bench.store.write(deleteSessionTree, { id: question?.session_id ?? "" });
    expect(await bench.states()).toEqual(["interrupted queued"]);
    expect((await bench.run({ text: null })).state).toBe("waiting");
    expect((await bench.open()).map(({ text }) => text)).toEqual(["colour?"]);
  });

  it("[QUESTION-32] a person who answers in the sub-agent's session lets its parent continue", async () => {
    const bench = await openAsking("colour");
    const [question] = await bench.open();
    const session_id = question?.session_id ?? "";
    const exchanger = createExchanger(bench.parts);
    const live = { listener: () => undefined, signal: new AbortController().signal };
    for (const text of ["colour?", "and then?"]) {
      expect((await bench.states())[0]).toBe("interrupted waiting");
      const [open] = await bench.open();
      expect(open?.text).toBe(text);
      const given = { given: { text: "red" }, note: null, answered_by: "terminal" } as const;
      const own = { reference: session_id, question: open?.id ?? "", continues: true };
      await bench.store.write(answerQuestion, { ...own, ...given });
      await exchanger.exchange({ session_id, text: null }, live);
    }
    expect(await bench.states()).toEqual(["interrupted queued", "idle done"]);
    expect((await bench.run({ text: null })).answer).toBe("red, red");
  });

  it("[QUESTION-16] moves with its session, and is answered there", async () => {
    const bench = await openAsking("colour");
    const { store, session } = bench;
    const tree = await store.read(readSessionTree, session);
    const copy = withNewIds(
      parseExport([...exportText(tree, "2026-01-01T00:00:00.000Z")].join("")),
    );
    await importTree(store, copy);
    const there = questionsOf(bench, copy.session.id);
    const [here] = await bench.open();
    const [question] = await there.open();
    expect(question).toMatchObject({ text: "colour?", asked_at: here?.asked_at });
    expect(question?.id).not.toBe(here?.id);
    await expectRefused(tree);
    await store.write(deleteSessionTree, session);
    await importTree(store, tree);
    expect(await bench.open()).toEqual([here]);
    for (const { answer, states, id } of [
      { ...there, id: copy.session.id },
      { ...bench, id: session.id },
    ]) {
      const exchanger = createExchanger(bench.parts);
      const go = () =>
        exchanger.exchange(
          { session_id: id, text: null },
          { listener: () => undefined, signal: new AbortController().signal },
        );
      await answer("colour?", "red");
      expect(await states()).toEqual(["interrupted queued", "interrupted waiting"]);
      await go();
      await answer("and then?", "green");
      expect(await go()).toMatchObject({ answer: "red, green" });
    }
    await store.write(
      ({ db }) => db.updateTable("questions").set({ answered_by: null }).execute(),
      null,
    );
    const { findings } = await verifySession(store, question?.session_id ?? "");
    expect(findings.map(({ kind }) => kind)).toEqual(["question", "question"]);
    await store.write(deleteSessionTree, session);
    await store.write(deleteSessionTree, copy.session);
    expect(await bench.questions()).toEqual([]);
  });
});

async function stopRoot({ store, session }: Bench): Promise<void> {
  await store.write(stopExchange, { reference: session.id, n: 1 });
}

async function endRoot({ store, session }: Bench): Promise<void> {
  await store.write(endSession, session);
}

async function clearRoot({ store, session }: Bench): Promise<void> {
  await store.write(startThread, { id: session.id, archive: true });
}

async function messageToRoot({ run }: Bench): Promise<void> {
  await run({ text: "never mind" });
}

/** Questions that cannot be true are refused by an import, and named by `verify`. */
async function expectRefused(tree: SessionTree): Promise<void> {
  const [child] = tree.children;
  const [asked] = child?.session.questions ?? [];
  if (child === undefined || asked === undefined) {
    throw new Error("the sub-agent has asked");
  }
  const wrong = { ...asked, answer: "nobody's" };
  const session = { ...child.session, questions: [wrong] };
  const text = [...exportText({ ...tree, children: [{ ...child, session }] }, asked.asked_at)];
  expect(() => parseExport(text.join(""))).toThrow(
    expect.objectContaining({
      code: "export_invalid",
      faults: [expect.objectContaining({ pointer: "/children/0/session/questions/0/answer" })],
    }) as Error,
  );
}
