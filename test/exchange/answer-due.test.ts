import { expect, it } from "vitest";

import { answerDue, keepAnswering } from "../../src/exchange/answer-due.ts";
import { releaseLease, takeLease } from "../../src/store/records/leases/lease.ts";
import { beginExchange } from "../../src/store/records/messages/begin-exchange.ts";
import { atRest } from "../../src/store/portable/import-tree.ts";
import { readSessionTree } from "../../src/store/portable/read-tree.ts";
import { writeSessionTree } from "../../src/store/portable/write-tree.ts";
import { findDueQuestions } from "../../src/store/records/questions/due.ts";
import { listOpenQuestions } from "../../src/store/records/questions/read.ts";
import { verifySession } from "../../src/store/verify/verify-session.ts";
import { describeEngine, newSession, openFresh, owner } from "../helpers/engines.ts";
import { statesOf } from "../helpers/queue.ts";
import { askIn } from "../helpers/waiting-session.ts";

describeEngine("default answers", (engine) => {
  it("[QUESTION-30] reach each question, however many others cannot be given theirs", async () => {
    const store = await openFresh(engine);
    const skipped = await newSession(store);
    const { id } = await newSession(store);
    const choices = ["yes", "no"];
    const wrong = new Set<string>();
    // more than are answered at once
    for (let index = 0; index < 101; index += 1) {
      wrong.add(await askIn(store, skipped.id, { choices, index, due: "maybe" }));
    }
    const question = await askIn(store, id, { choices, due: "2" });
    const { findings } = await verifySession(store, skipped.id);
    expect(findings.map(({ sentence }) => sentence).join()).toMatch(/default_answer/);

    await answerDue(store);
    await answerDue(store);
    const rows = await store.read(
      ({ db }) =>
        db
          .selectFrom("questions")
          .select(["id", "state", "answer", "answered_by", "answer_by"])
          .execute(),
      null,
    );
    expect(rows.find((row) => row.id === question)).toMatchObject({
      state: "answered",
      answer: "2",
      answered_by: "timeout",
    });
    // they wait for a person, and are not found again
    expect(rows.filter((row) => wrong.has(row.id)).length).toBe(101);
    expect(rows.filter((row) => row.answer_by !== null && row.state === "open")).toEqual([]);
    expect(await store.read(findDueQuestions, { top: null })).toEqual([]);
    expect((await verifySession(store, skipped.id)).findings).toEqual([]);
  });

  it("[QUEUE-33] are not given to what was imported", async () => {
    const store = await openFresh(engine);
    const there = await openFresh(engine);
    const { id } = await newSession(store);
    const fence = await store.write(takeLease, { session_id: id, owner, life_ms: 60_000 });
    const begin = { fence, content: "ask", model: null, persona_name: null };
    await store.write(beginExchange, begin);
    await askIn(store, id, { choices: ["yes", "no"], due: "1" });
    await store.write(releaseLease, { fence, finished: false, end: "waiting" });
    const tree = atRest(await store.read(readSessionTree, { id }), new Date().toISOString());
    await there.write(writeSessionTree, { tree });
    await answerDue(there);
    expect(await there.read(listOpenQuestions, { reference: id })).toMatchObject([
      { state: "open", default_answer: null, answer_by: null },
    ]);
    expect(await statesOf(there, id)).toEqual(["waiting"]);
  });

  it("[QUESTION-41] are given again and again, until it is stopped", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    const failures: unknown[] = [];
    const stop = keepAnswering({ store, everyMs: 10, onFailure: (error) => failures.push(error) });
    for (let index = 0; index < 2; index += 1) {
      await askIn(store, id, { choices: ["yes", "no"], index, due: "2" });
      await expect.poll(() => store.read(listOpenQuestions, { reference: id })).toEqual([]);
    }
    stop();
    expect(failures).toEqual([]);
  });

  it("[QUESTION-34] of one session are given by who continues its exchange, so that no node does", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    const other = await newSession(store);
    const fence = await store.write(takeLease, { session_id: id, owner, life_ms: 60_000 });
    const begin = { fence, content: "ask", model: null, persona_name: null };
    await store.write(beginExchange, begin);
    for (const session of [id, other.id]) {
      await askIn(store, session, { choices: ["yes", "no"], due: "2" });
    }
    await store.write(releaseLease, { fence, finished: false, end: "waiting" });
    await answerDue(store, id);
    expect(await store.read(listOpenQuestions, { reference: id })).toEqual([]);
    expect(await statesOf(store, id)).toEqual(["waiting"]);
    expect(await store.read(findDueQuestions, { top: null })).toHaveLength(1);
  });
});
