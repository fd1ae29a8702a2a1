import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { expect, it } from "vitest";

import type { Phase } from "../../src/artifacts/plans/phase-plan.ts";
import { attemptOfCall } from "../../src/core/plan-runs.ts";
import { tokenHolder } from "../../src/core/principal.ts";
import { isRepriseError } from "../../src/core/errors.ts";
import { queueAndRead } from "../../src/store/records/exchanges/queue-and-read.ts";
import { readCurrentExchange } from "../../src/store/records/exchanges/current.ts";
import { readDetail } from "../../src/store/records/messages/read.ts";
import { readRun } from "../../src/store/records/plans/read-runs.ts";
import { listOpenQuestions } from "../../src/store/records/questions/read.ts";
import { listSessions } from "../../src/store/records/sessions/list.ts";
import type { Store } from "../../src/store/store.ts";
import { verifySession } from "../../src/store/verify/verify-session.ts";
import { describeEngines } from "../helpers/engines.ts";
import { type ModelAnswer, type SentMessage, startModelServer } from "../helpers/model-server.ts";
import {
  answerRun,
  handingIn,
  phase,
  phaseIn,
  reportFolder,
  reporting,
  storeRun,
} from "../helpers/plan-bench.ts";
import { promptsOf, treeOf } from "../helpers/plans/prompts.ts";
import { runFaults } from "../helpers/plans/run-faults.ts";
import { randomOf, seedOf } from "../helpers/random.ts";
import { testLevel, testSize } from "../helpers/size.ts";
import { startProgram } from "../helpers/start-program.ts";
import { temporaryFolder } from "../helpers/temp.ts";

const KILLS = testSize("plan-kills");
/** Runs at once; a statement costs ten times as much on PostgreSQL. */
const RUNS = testLevel() === "long" ? { sqlite: 12, postgres: 12 } : { sqlite: 2, postgres: 1 };
/** Phases that a person approves. */
const APPROVE = ["l1-p2", "l3-p0", "l5-p1"];

/** 23 phases in six layers: each depends on two of the layer before it. */
const PHASES: readonly Phase[] = [4, 4, 4, 4, 4, 3].flatMap((width, layer) =>
  Array.from({ length: width }, (_, at) => {
    const key = `l${layer}-p${at}`;
    const before = layer === 0 ? [] : [`l${layer - 1}-p${at}`, `l${layer - 1}-p${(at + 1) % 4}`];
    return at === 3
      ? reporting(key, `${key}.json`, before)
      : phase(key, before, at === 0 ? "assistant" : "asker");
  }),
);

/** Writers write a file, the third phase of a layer asks, and every second artifact is wrong or forgotten at first. */
function answerOf(messages: readonly SentMessage[]): ModelAnswer {
  const key = phaseIn(messages) ?? "";
  const [, layer = "", at = ""] = /^l(\d)-p(\d)$/.exec(key) ?? [];
  const usage = { prompt_tokens: 10 * messages.length, completion_tokens: 7 };
  const hasCalled = (name: string) =>
    messages.some(({ tool_calls }) => JSON.stringify(tool_calls ?? "").includes(name));
  const users = messages.filter(({ role }) => role === "user").length;
  if (at === "0" && !hasCalled("write_file")) {
    const written = JSON.stringify({ path: `${key}.txt`, content: key });
    return { toolCalls: [{ name: "write_file", arguments: written }], usage };
  }
  if (at === "2" && !hasCalled("ask_user")) {
    const asked = JSON.stringify({ question: "Which one?" });
    return { toolCalls: [{ name: "ask_user", arguments: asked }], usage };
  }
  if (at === "3" && (users > 1 || layer !== "2") && !hasCalled('"title')) {
    const isWrong = layer === "1" && !hasCalled("hand_in");
    return { ...handingIn(isWrong ? "{}" : '{\n"title":"a report"}'), usage };
  }
  return { content: `what ${key} has left `.repeat(3), usage };
}

/** Messages that each phase gets: one, and one more for the artifact that is forgotten. */
const PROMPTS = Object.fromEntries(
  PHASES.map(({ key }) => [`phase:${key}:1`, key === "l2-p3" ? 2 : 1]),
);

describeEngines("runs of a plan of 23 phases whose processes are killed", (engine) => {
  it("[PLANRUN-111] keep their invariants, send each message once and count what is stored, while another process answers", async () => {
    const random = randomOf(seedOf("plan-kills"));
    const runs = engine.name === "postgres" ? RUNS.postgres : RUNS.sqlite;
    const { location, open } = await engine.create();
    const store = await open();
    let served = 0;
    const server = await startModelServer({
      latencyMs: 15,
      chunkSize: 6,
      answer: (messages) => {
        served += 1;
        return answerOf(messages);
      },
    });
    const [state, effects] = [temporaryFolder(), join(temporaryFolder(), "effects")];
    writeFileSync(effects, "");
    const begin = async (): Promise<string> => {
      const options = { parallel: 4, approve: APPROVE };
      const { id } = await storeRun({ store, repo: reportFolder(), phases: PHASES, options });
      await resume(store, id);
      return id;
    };
    const ids = await Promise.all(Array.from({ length: runs }, begin));
    const start = async () => {
      const env = { ...server.env("openai"), REPRISE_MODEL: "openai:gpt-test" };
      const options = JSON.stringify({ state, effects, leaseMs: 6000, jobs: 2 });
      const node = startProgram("plan-node.ts", [location, options], { env });
      await node.waitFor(/^ready$/m);
      return node;
    };
    let isOver = false;
    let answers = 0;
    const answering = (async () => {
      while (!isOver) {
        await sleep(random() * 200);
        answers += await answerOne(store, ids, random);
      }
    })();
    let [kills, resumed] = [0, 0];
    while (true) {
      const node = await start();
      const before = served;
      const requests = 1 + Math.floor(random() * 12);
      while (served < before + requests && (await openRuns(store, ids)).length > 0) {
        await sleep(5);
      }
      await sleep(random() * 150);
      if (kills >= KILLS) {
        await untilEnded(store, ids);
        expect((await node.stop("SIGTERM")).stderr).toBe("");
        break;
      }
      const { stderr } = await node.stop("SIGKILL");
      expect(stderr).toBe("");
      kills += 1;
      for (const id of await openRuns(store, ids)) {
        expect([id, await store.read(runFaults, { session_id: id })]).toEqual([id, []]);
      }
      for (const id of ids) {
        const record = await store.read(readCurrentExchange, { session_id: id });
        if (record?.state === "failed") {
          // it took more processes with it than it may
          expect(record.error_code).toBe("attempts_used_up");
          await resume(store, id);
          resumed += 1;
        }
      }
      if (kills < KILLS && (await openRuns(store, ids)).length === 0) {
        ids.push(await begin());
      }
    }
    isOver = true;
    await answering;
    let stored = 0;
    for (const id of ids) {
      stored += await expectWhole(store, id);
    }
    expect(server.refused()).toEqual([]);
    console.log(
      `plan-kills (${engine.name}): ${kills} kills, ${ids.length} runs, ${answers} answers, ${served} requests for ${stored} stored answers, ${resumed} resumed`,
    );
  });
});

async function resume(store: Store, id: string): Promise<void> {
  const principal = tokenHolder("owner");
  await store.write(queueAndRead, { reference: id, content: null, asked_by: "http", principal });
}

async function openRuns(store: Store, ids: readonly string[]): Promise<readonly string[]> {
  const records = await Promise.all(
    ids.map((session_id) => store.read(readCurrentExchange, { session_id })),
  );
  return ids.filter((_, at) => records[at]?.ended_at === null);
}

async function untilEnded(store: Store, ids: readonly string[]): Promise<void> {
  while ((await openRuns(store, ids)).length > 0) {
    await sleep(20);
  }
}

/** Returns how many questions it has answered. */
async function answerOne(
  store: Store,
  ids: readonly string[],
  random: () => number,
): Promise<number> {
  const id = ids[Math.floor(random() * ids.length)]!;
  const questions = await store.read(listOpenQuestions, { reference: id });
  const question = questions[Math.floor(random() * questions.length)];
  if (question === undefined) {
    return 0;
  }
  const given = question.kind === "approval" ? { choice: "approve" } : { text: "this one" };
  return answerRun(store, question, given).then(
    () => 1,
    (error: unknown) => {
      if (isRepriseError(error, "question_withdrawn")) {
        return 0;
      }
      throw error;
    },
  );
}

/** Returns the number of answers of models that are stored. */
async function expectWhole(store: Store, id: string): Promise<number> {
  const { exchange, phases } = await store.read(readRun, { reference: id });
  expect(exchange).toMatchObject({ state: "done" });
  expect(phases.map(({ attempt }) => attempt)).toEqual(phases.map(() => 1));
  expect(await store.read(runFaults, { session_id: id })).toEqual([]);
  expect(await store.read(promptsOf, { session_id: id })).toEqual(PROMPTS);
  for (const each of await store.read(treeOf, { id })) {
    expect([each, (await verifySession(store, each)).findings]).toEqual([each, []]);
  }
  let stored = 0;
  const page = await store.read(listSessions, { limit: 100, parent_session_id: id });
  for (const child of page.sessions) {
    const { messages } = await store.read(readDetail, { reference: child.id, all: true });
    const answers = messages.filter(({ role }) => role === "assistant").length;
    const call = attemptOfCall(child.parent_call_id)?.key;
    expect([call, child.total_output_tokens]).toEqual([call, 7 * answers]);
    stored += answers;
  }
  return stored;
}
