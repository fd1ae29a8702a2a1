import { join } from "node:path";

import { expect, it } from "vitest";

import { undoExchange } from "../../../src/exchange/undo/undo-exchange.ts";
import { copySession } from "../../../src/store/portable/copy-session.ts";
import { exportText } from "../../../src/store/portable/export-text.ts";
import { importTree, withNewIds } from "../../../src/store/portable/import-tree.ts";
import { parseExport } from "../../../src/store/portable/parse.ts";
import { readSessionTree } from "../../../src/store/portable/read-tree.ts";
import { readRun } from "../../../src/store/records/plans/read-runs.ts";
import { retryPhases } from "../../../src/store/records/plans/retry.ts";
import { listOpenQuestions } from "../../../src/store/records/questions/read.ts";
import { listSessions } from "../../../src/store/records/sessions/list.ts";
import type { Store } from "../../../src/store/store.ts";
import { repairSession } from "../../../src/store/verify/repair.ts";
import { verifySession } from "../../../src/store/verify/verify-session.ts";
import { createKeptBytes } from "../../../src/workspace/undo/kept-bytes.ts";
import { statementsOf } from "../../helpers/count-statements.ts";
import {
  describeEngine,
  type Engine,
  execute,
  newSession,
  owner,
  type TestDatabase,
} from "../../helpers/engines.ts";
import {
  type ModelAnswer,
  type SentMessage,
  startModelServer,
} from "../../helpers/model-server.ts";
import {
  answerRun,
  handingIn,
  phase,
  PlanBench,
  phaseIn,
  reportFolder,
  reporting,
  storeRun,
} from "../../helpers/plan-bench.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

const PHASES = [
  reporting("design", "design.json"),
  phase("build", ["design"]),
  phase("docs", ["design"], "reviewer"),
  phase("tests"),
];

function writing(path: string): ModelAnswer {
  return {
    toolCalls: [{ name: "write_file", arguments: JSON.stringify({ path, content: "x" }) }],
  };
}

/** Design hands in its artifact, build and tests write a file, docs fails until somebody lets it work. */
function worker() {
  const state = { docs: 400 };
  const answer = (messages: readonly SentMessage[]): ModelAnswer => {
    const key = phaseIn(messages) ?? "";
    if (key === "docs" && state.docs !== 0) {
      return { error: { message: "no" }, status: state.docs };
    }
    if (messages.some(({ role }) => role === "assistant")) {
      return { content: "done" };
    }
    return key === "design"
      ? handingIn('{"title":"x"}')
      : key === "docs"
        ? { content: "done" }
        : writing(key);
  };
  return { state, answer };
}

interface World {
  readonly bench: PlanBench;
  readonly store: Store;
  readonly id: string;
  readonly undo: () => Promise<unknown>;
  /** Lets docs work, or fail with a status of its provider. */
  readonly docs: (status: number) => void;
}

async function openWorld(database: TestDatabase): Promise<World> {
  const { state, answer } = worker();
  const server = await startModelServer({ answer });
  const kept = createKeptBytes(join(temporaryFolder(), "undo"));
  const bench = await PlanBench.open(database, server, { kept });
  const { store } = bench;
  const options = { approve: ["build"], retries: 1 };
  const { id } = await storeRun({ store, phases: PHASES, repo: reportFolder(), options });
  return {
    bench,
    store,
    id,
    undo: () =>
      undoExchange({ store, kept, command: "test" }, { reference: id, direction: "undo" }),
    docs: (status) => (state.docs = status),
  };
}

/** Answers the first open question, by default as its first choice. */
async function decide(
  { store, id }: Pick<World, "store" | "id">,
  choice?: "approve" | "refuse",
): Promise<void> {
  const [question] = await store.read(listOpenQuestions, { reference: id });
  await answerRun(store, question!, { choice: choice ?? question!.choices![0]!.id });
}

/** A run that is done: build was approved, and docs done with its second attempt. */
async function doneRun(database: TestDatabase): Promise<World> {
  const world = await openWorld(database);
  const { bench, id } = world;
  expect((await bench.run(id)).state).toBe("waiting");
  await decide(world, "approve");
  await expect(bench.run(id)).rejects.toMatchObject({ code: "phase_failed" });
  world.docs(0);
  await world.store.write(retryPhases, { session_id: id, keys: [] });
  expect((await bench.run(id)).state).toBe("done");
  return world;
}

async function sentences(store: Store, id: string): Promise<readonly string[]> {
  const { findings } = await verifySession(store, id);
  return findings.map(({ kind, sentence }) => (kind === "run" ? sentence : kind));
}

/** Verifies a run with each of its sub-agents. */
async function expectClean(store: Store, id: string): Promise<void> {
  const { sessions } = await store.read(listSessions, { limit: 20, parent_session_id: id });
  for (const each of [id, ...sessions.map((child) => child.id)]) {
    expect(await sentences(store, each)).toEqual([]);
  }
}

/** A falsified row: the statement, the one that puts it back, and what verify reports. */
interface Falsified {
  readonly name: string;
  readonly change: string;
  readonly back: string;
  readonly says: readonly string[];
}

const BUILD = "UPDATE plan_phases SET";
const OF_BUILD = "WHERE key = 'build'";
const CHECKS = '{"phases":{"build":{"checks":[["true"]]}}}';
const RAN = { argv: ["true"], code: 0, ms: 1, failure: null };
const PASSED = { attempt: 1, corrections: 0, artifact_hash: null, commands: [RAN] };
const LEASE = JSON.stringify(owner);

/** Statements have `$column` for the value that a column of `build` had. */
const FALSIFIED: readonly Falsified[] = [
  {
    name: "PLANRUN-91 a done phase whose sub-agent works on another attempt",
    change:
      "UPDATE sessions SET parent_call_id = 'phase:build:9' WHERE parent_call_id = 'phase:build:1'",
    back: "UPDATE sessions SET parent_call_id = 'phase:build:1' WHERE parent_call_id = 'phase:build:9'",
    says: [
      "A sub-agent of the run works on no attempt of a phase.",
      "Phase build is done, and attempt 1 has no sub-agent.",
    ],
  },
  {
    name: "PLANRUN-91 a sub-agent of an attempt that did not begin",
    change:
      "UPDATE sessions SET parent_call_id = 'phase:docs:9' WHERE parent_call_id = 'phase:docs:1'",
    back: "UPDATE sessions SET parent_call_id = 'phase:docs:1' WHERE parent_call_id = 'phase:docs:9'",
    says: ["A sub-agent of the run works on no attempt of a phase."],
  },
  {
    name: "PLANRUN-92 a phase that began before another one was done",
    change: `${BUILD} begun_at = '2000-01-01T00:00:00.000Z' ${OF_BUILD}`,
    back: `${BUILD} begun_at = '$begun_at' ${OF_BUILD}`,
    says: [
      "Phase build began before phase design, on which it depends, was done.",
      "Phases build and tests ran at the same time, and both change files.",
    ],
  },
  {
    name: "PLANRUN-92 a done phase without an end",
    change: `${BUILD} ended_at = NULL ${OF_BUILD}`,
    back: `${BUILD} ended_at = '$ended_at' ${OF_BUILD}`,
    says: ["The times of phase build do not fit its state done."],
  },
  {
    name: "PLANRUN-93 a done phase whose sub-agent failed",
    change: "UPDATE exchanges SET state = 'failed' WHERE session_id = '$child'",
    back: "UPDATE exchanges SET state = 'done' WHERE session_id = '$child'",
    says: ["Phase build is done, and the exchange of its sub-agent is not."],
  },
  {
    name: "PLANRUN-93 a done phase without its artifact",
    change: "UPDATE plan_phases SET artifact_hash = NULL WHERE key = 'design'",
    back: "UPDATE plan_phases SET artifact_hash = '$artifact_hash' WHERE key = 'design'",
    says: ["Phase design is done without its artifact."],
  },
  {
    name: "PLANRUN-93 an artifact that is not planned",
    change: `${BUILD} artifact_hash = '00' ${OF_BUILD}`,
    back: `${BUILD} artifact_hash = NULL ${OF_BUILD}`,
    says: ["Phase build has an artifact that is not in its plan."],
  },
  {
    name: "PLANRUN-93 a check that was not run",
    change: `UPDATE plan_runs SET checks = '${CHECKS}'`,
    back: "UPDATE plan_runs SET checks = NULL",
    says: ["Phase build is done, and its checks have not all passed for its artifact."],
  },
  {
    name: "PLANRUN-94 two phases that change files at the same time",
    change: "UPDATE plan_phases SET ended_at = '2999-01-01T00:00:00.000Z' WHERE key = 'tests'",
    back: "UPDATE plan_phases SET ended_at = '$tests_ended' WHERE key = 'tests'",
    says: ["Phases tests and build ran at the same time, and both change files."],
  },
  {
    name: "PLANRUN-94 more phases than slots",
    change: `UPDATE sessions SET lease_owner = '${LEASE}', lease_expires_at = '2999-01-01T00:00:00.000Z'`,
    back: "UPDATE sessions SET lease_owner = NULL, lease_expires_at = NULL",
    says: ["More phases run at once than 1, as the run's options permit."],
  },
  {
    name: "PLANRUN-95 a run that is done with a phase that is not",
    change: `${BUILD} state = 'failed' ${OF_BUILD}`,
    back: `${BUILD} state = 'done' ${OF_BUILD}`,
    says: ["The run is done, and phase build is not."],
  },
  {
    name: "PLANRUN-95 a last message that is not the report",
    change: "UPDATE messages SET content = 'x' WHERE session_id = '$run' AND role = 'assistant'",
    back: "UPDATE messages SET content = '$report' WHERE session_id = '$run' AND role = 'assistant'",
    says: ["different", "The last message of the run is not the report of its phases."],
  },
  {
    name: "PLANRUN-95 a run that failed although its phases are done",
    change:
      "UPDATE exchanges SET state = 'failed', error_code = 'phase_failed', error_sentence = 'x' WHERE session_id = '$run' AND n = 2",
    back: "UPDATE exchanges SET state = 'done', error_code = NULL, error_sentence = NULL WHERE session_id = '$run' AND n = 2",
    says: ["Every phase of the run is done, and its exchange ended with one that is not."],
  },
  {
    name: "PLANRUN-96 an approval of another database",
    change: "UPDATE questions SET answered_here = 0",
    back: "UPDATE questions SET answered_here = 1",
    says: ["Phase build began attempt 1 without the approval of a person here."],
  },
  {
    name: "PLANRUN-96 a refusal",
    change: "UPDATE questions SET answer = 'refuse'",
    back: "UPDATE questions SET answer = 'approve'",
    says: ["Phase build began attempt 1 without the approval of a person here."],
  },
  {
    name: "PLANRUN-96 another approved attempt",
    change: `${BUILD} approved = 0 ${OF_BUILD}`,
    back: `${BUILD} approved = 1 ${OF_BUILD}`,
    says: ["Phase build began attempt 1 without the approval of a person here."],
  },
  {
    name: "PLANRUN-97 another plan",
    change: "UPDATE plan_runs SET plan_hash = '00'",
    back: "UPDATE plan_runs SET plan_hash = '$plan_hash'",
    says: ["The plan of the run is not the one that it began with."],
  },
  {
    name: "PLANRUN-97 a phase that the plan has not",
    change: "UPDATE plan_phases SET key = 'other' WHERE key = 'tests'",
    back: "UPDATE plan_phases SET key = 'tests' WHERE key = 'other'",
    says: ["The phases of the run are not those of its plan, in its order."],
  },
  {
    name: "PLANRUN-97 another order",
    change: `${BUILD} position = 7 ${OF_BUILD}`,
    back: `${BUILD} position = 1 ${OF_BUILD}`,
    says: ["The phases of the run are not those of its plan, in its order."],
  },
  {
    name: "PLANRUN-97 another agent",
    change: "UPDATE sessions SET agent = NULL WHERE id = '$run'",
    back: "UPDATE sessions SET agent = 'plan' WHERE id = '$run'",
    says: ["The session has the rows of a run, and another agent."],
  },
];

async function valuesOf({ store, id }: World): Promise<Readonly<Record<string, string>>> {
  const { phases, plan_hash } = await store.read(readRun, { reference: id });
  const [design, build, , tests] = phases;
  const messages = await store.read(
    ({ db }) =>
      db
        .selectFrom("messages")
        .select("content")
        .where("session_id", "=", id)
        .where("role", "=", "assistant")
        .execute(),
    null,
  );
  return {
    begun_at: build?.begun_at ?? "",
    ended_at: build?.ended_at ?? "",
    tests_ended: tests?.ended_at ?? "",
    child: build?.child ?? "",
    artifact_hash: design?.artifact_hash ?? "",
    report: messages.at(-1)?.content ?? "",
    run: id,
    plan_hash,
  };
}

describeEngine("verifying a run", (engine: Engine) => {
  it("[PLANRUN-90] [PLANRUN-91] [PLANRUN-92] [PLANRUN-93] [PLANRUN-94] [PLANRUN-95] [PLANRUN-96] [PLANRUN-97] names each falsified value, and leaves it", async () => {
    const world = await doneRun(await engine.create());
    const { store, id } = world;
    await expectClean(store, id);
    const values = await valuesOf(world);
    const filled = (statement: string) =>
      statement.replaceAll(/\$(\w+)/g, (_, name: string) => values[name] ?? "");
    for (const { name, change, back, says } of FALSIFIED) {
      expect(await execute(store, filled(change)), name).toBeGreaterThan(0);
      expect([name, await sentences(store, id)]).toEqual([name, says]);
      await execute(store, filled(back));
    }
    const hold = () => Promise.reject(new Error("nothing is to be repaired"));
    await execute(store, "UPDATE plan_runs SET plan_hash = '00'");
    const { left } = await repairSession({ store, session_id: id, hold });
    expect(left.map(({ kind }) => kind)).toEqual(["run"]);
    await execute(store, "DELETE FROM plan_runs");
    expect(await sentences(store, id)).toEqual([
      "The session runs a plan, and the rows of its run are missing.",
    ]);
  });

  it("[PLANRUN-93] finds a done phase whose checks passed for something else", async () => {
    const { store, id } = await doneRun(await engine.create());
    const storeChecked = (checked: unknown) =>
      execute(store, `${BUILD} checked = '${JSON.stringify(checked)}' ${OF_BUILD}`);
    await execute(store, `UPDATE plan_runs SET checks = '${CHECKS}'`);
    await storeChecked(PASSED);
    expect(await sentences(store, id)).toEqual([]);
    for (const checked of [
      { ...PASSED, artifact_hash: "00" },
      { ...PASSED, attempt: 2 },
      { ...PASSED, commands: [{ ...RAN, code: 1, failure: "exit code 1" }] },
      { ...PASSED, commands: [{ ...RAN, argv: ["false"] }] },
      { ...PASSED, commands: [null] },
      { ...PASSED, commands: 5 },
      5,
      null,
    ]) {
      await storeChecked(checked);
      expect([checked, await sentences(store, id)]).toEqual([
        checked,
        ["Phase build is done, and its checks have not all passed for its artifact."],
      ]);
    }
  });

  it("[PLANRUN-98] finds nothing in a run at any time of its life, here, imported and copied", async () => {
    const world = await openWorld(await engine.create());
    const { bench, store, id } = world;
    const clean = () => expectClean(store, id);
    const moved: MovedRun[] = [];
    const move = async () => moved.push(...(await movedRuns(engine, world)));
    await clean();
    // a provider ends the run in the middle of a phase
    world.docs(401);
    await expect(bench.run(id)).rejects.toMatchObject({ code: "model_unauthorized" });
    expect(await bench.states(id)).toMatchObject({ docs: "running", build: "approval" });
    await clean();
    await move();
    world.docs(400);
    expect((await bench.run(id)).state).toBe("waiting");
    await clean();
    await decide(world, "refuse");
    await clean();
    await expect(bench.run(id)).rejects.toMatchObject({ code: "phase_failed" });
    expect(await bench.states(id)).toMatchObject({ docs: "failed", build: "refused" });
    await clean();
    world.docs(0);
    await store.write(retryPhases, { session_id: id, keys: [] });
    await clean();
    expect((await bench.run(id)).state).toBe("waiting");
    await decide(world, "approve");
    await move();
    expect((await bench.run(id)).state).toBe("done");
    await clean();
    const [done] = await movedRuns(engine, world);
    await expectClean(done!.bench.store, done!.id);
    await world.undo();
    await clean();
    for (const other of moved) {
      await expectClean(other.bench.store, other.id);
      // no approval of another database counts, and the mode of permissions is of one
      expect((await other.bench.run(other.id)).state).toBe("waiting");
      do {
        await expectClean(other.bench.store, other.id);
        await decide({ store: other.bench.store, id: other.id });
      } while ((await other.bench.run(other.id)).state === "waiting");
      await expectClean(other.bench.store, other.id);
    }
  });

  it("[PLANRUN-99] costs no statement more for a session that runs no plan", async () => {
    const store = await (await engine.create()).open();
    const { id } = await newSession(store);
    const { statements } = await statementsOf(() => verifySession(store, id));
    expect(statements.filter((sql) => /plan_[rp]|file_changes/.test(sql))).toEqual([
      expect.stringMatching(/^select .*"repo_path".*exists \(.*plan_runs.* from "sessions"/s),
    ]);
  });
});

interface MovedRun {
  readonly bench: PlanBench;
  readonly id: string;
}

/** The run in two other databases: an import with new ids, and a copy. */
async function movedRuns(
  engine: Engine,
  { store, id, bench }: World,
): Promise<readonly MovedRun[]> {
  const text = [
    ...exportText(await store.read(readSessionTree, { id }), "2026-01-01T00:00:00.000Z"),
  ].join("");
  const imported = await (await engine.create()).open();
  const [copy = ""] = await importTree(imported, withNewIds(parseExport(text)));
  const copied = await (await engine.create()).open();
  await copySession({ source: store, target: copied, id });
  return [
    { bench: bench.at(imported), id: copy },
    { bench: bench.at(copied), id },
  ];
}
