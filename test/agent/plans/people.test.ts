import { setTimeout as sleep } from "node:timers/promises";

import { expect, it } from "vitest";

import { isRepriseError } from "../../../src/core/errors.ts";
import { attemptOfCall } from "../../../src/core/plan-runs.ts";
import type { QuestionRecord } from "../../../src/core/sessions.ts";
import { readCurrentExchange } from "../../../src/store/records/exchanges/current.ts";
import { readRun } from "../../../src/store/records/plans/read-runs.ts";
import { listOpenQuestions } from "../../../src/store/records/questions/read.ts";
import type { Store } from "../../../src/store/store.ts";
import { verifySession } from "../../../src/store/verify/verify-session.ts";
import { describeEngine, type TestDatabase } from "../../helpers/engines.ts";
import {
  type ModelAnswer,
  type SentMessage,
  startModelServer,
} from "../../helpers/model-server.ts";
import {
  answerRun,
  phase,
  PlanBench,
  phaseIn,
  reportFolder,
  storeRun,
} from "../../helpers/plan-bench.ts";
import { sampleOf, seededRandom } from "../../helpers/random.ts";
import { testLevel } from "../../helpers/size.ts";

const ASKS: ModelAnswer = {
  toolCalls: [{ name: "ask_user", arguments: JSON.stringify({ question: "Which one?" }) }],
};
const READS: ModelAnswer = { toolCalls: [{ name: "list_files", arguments: '{"path":"."}' }] };

const KEYS = ["ask", "one", "two"] as const;
const ORDERS = KEYS.flatMap((first) =>
  KEYS.filter((key) => key !== first).map((second) => {
    const [third = first] = KEYS.filter((key) => key !== first && key !== second);
    return [first, second, third] as const;
  }),
);

/** A run of which a phase asks and two others need approval; `slow` works until `isSlow` returns false. */
async function openRun(database: TestDatabase, isSlow: () => boolean) {
  const server = await startModelServer({
    latencyMs: 20,
    answer: (messages: readonly SentMessage[]) => {
      const key = phaseIn(messages);
      if (key === "slow" && isSlow()) {
        return READS;
      }
      const isAsking = key === "ask" && messages.at(-1)?.role === "user";
      return isAsking ? ASKS : { content: `what ${key} has left` };
    },
  });
  const bench = await PlanBench.open(database, server);
  const { store } = bench;
  const phases = [...KEYS, "slow"].map((key) => phase(key, [], "asker"));
  const { id } = await storeRun({
    store,
    repo: reportFolder(),
    phases,
    options: { parallel: 4, approve: ["one", "two"] },
  });
  const requests = (key: string) =>
    server.requests().filter((messages) => phaseIn(messages) === key).length;
  return { bench, store, id, requests };
}

/** The open questions by the keys of their phases. */
async function open(store: Store, id: string): Promise<ReadonlyMap<string, QuestionRecord>> {
  const questions = await store.read(listOpenQuestions, { reference: id });
  return new Map(
    questions.map((each) => [attemptOfCall(each.call_id, "approval")?.key ?? "ask", each]),
  );
}

function given({ kind }: QuestionRecord) {
  return kind === "approval" ? { choice: "approve" } : { text: "this one" };
}

async function recordOf(store: Store, session_id: string) {
  const record = await store.read(readCurrentExchange, { session_id });
  return record!;
}

/** Each takes seconds. */
const SOME = sampleOf(ORDERS, { test: 1, short: 2, long: 6 }[testLevel()], seededRandom("orders"));

describeEngine("two approvals and a question that are open at once", (engine) => {
  it.each(SOME)("[PLANRUN-114] are answered while phases run: %s, %s, %s", async (...order) => {
    let isSlow = true;
    const { bench, store, id, requests } = await openRun(await engine.create(), () => isSlow);
    const running = bench.run(id);
    let isOver = false;
    void running.finally(() => (isOver = true)).catch(() => undefined);
    while ((await open(store, id)).size < 3) {
      expect(isOver).toBe(false);
      await sleep(20);
    }
    for (const key of order) {
      const question = (await open(store, id)).get(key)!;
      await answerRun(store, question, given(question));
      while ((await bench.states(id))[key] !== "done") {
        expect(isOver).toBe(false);
        await sleep(20);
      }
    }
    isSlow = false;
    expect((await running).state).toBe("done");
    expect(await recordOf(store, id)).toMatchObject({ n: 1, state: "done" });
    expect(KEYS.map(requests)).toEqual([2, 1, 1]);
    expect((await verifySession(store, id)).findings).toEqual([]);
  });

  it.each(ORDERS)(
    "[PLANRUN-114] wake the run that waits, each once: %s, %s, %s",
    async (...order) => {
      const { bench, store, id, requests } = await openRun(await engine.create(), () => false);
      expect((await bench.run(id)).state).toBe("waiting");
      expect([...(await open(store, id)).keys()].toSorted()).toEqual(["ask", "one", "two"]);
      for (const [at, key] of order.entries()) {
        const question = (await open(store, id)).get(key)!;
        const before = await recordOf(store, id);
        expect(before.state).toBe("waiting");
        await answerRun(store, question, given(question));
        const after = await recordOf(store, id);
        expect([after.state, after.revision]).toEqual(["queued", before.revision + 1]);
        expect((await bench.runQueued(id)).state).toBe(at === 2 ? "done" : "waiting");
        expect((await bench.states(id))[key]).toBe("done");
        expect((await open(store, id)).size).toBe(2 - at);
      }
      expect(KEYS.map(requests)).toEqual([2, 1, 1]);
      expect((await verifySession(store, id)).findings).toEqual([]);
    },
  );

  it("[PLANRUN-114] are answered by two processes at once: the run is queued once, and the first answer counts", async () => {
    const database = await engine.create();
    const { bench, store, id, requests } = await openRun(database, () => false);
    const other = await database.open();
    expect((await bench.run(id)).state).toBe("waiting");
    const { revision } = await recordOf(store, id);
    const questions = [...(await open(store, id)).values()];
    const answers = questions.flatMap((question) =>
      [store, other].map((each) =>
        answerRun(each, question, given(question)).then(
          () => "counts",
          (error: unknown) => (isRepriseError(error) ? error.code : String(error)),
        ),
      ),
    );
    expect((await Promise.all(answers)).toSorted()).toEqual([
      ...questions.map(() => "counts"),
      ...questions.map(() => "question_answered"),
    ]);
    expect(await recordOf(store, id)).toMatchObject({ state: "queued", revision: revision + 1 });
    expect((await bench.runQueued(id)).state).toBe("done");
    expect(KEYS.map(requests)).toEqual([2, 1, 1]);
    const { phases } = await store.read(readRun, { reference: id });
    expect(phases.map(({ attempt }) => attempt)).toEqual([1, 1, 1, 1]);
  });
});
