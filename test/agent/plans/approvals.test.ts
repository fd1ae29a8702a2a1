import { expect, it } from "vitest";

import { PLAN_AGENT } from "../../../src/core/plan-runs.ts";
import type { QuestionRecord } from "../../../src/core/sessions.ts";
import { exportText } from "../../../src/store/portable/export-text.ts";
import { importTree, withNewIds } from "../../../src/store/portable/import-tree.ts";
import { parseExport } from "../../../src/store/portable/parse.ts";
import { copySession } from "../../../src/store/portable/copy-session.ts";
import { readSessionTree } from "../../../src/store/portable/read-tree.ts";
import { readCurrentExchange } from "../../../src/store/records/exchanges/current.ts";
import { findDueQuestions } from "../../../src/store/records/questions/due.ts";
import { retryPhases } from "../../../src/store/records/plans/retry.ts";
import { readRun } from "../../../src/store/records/plans/read-runs.ts";
import { listOpenQuestions } from "../../../src/store/records/questions/read.ts";
import { stopExchange } from "../../../src/store/records/exchanges/change.ts";
import type { Store } from "../../../src/store/store.ts";
import { verifySession } from "../../../src/store/verify/verify-session.ts";
import { describeEngine } from "../../helpers/engines.ts";
import { type ModelServer, startModelServer } from "../../helpers/model-server.ts";
import {
  answerRun,
  DIAMOND,
  phase,
  PlanBench,
  phaseIn,
  storeRun,
} from "../../helpers/plan-bench.ts";

function workingServer(): Promise<ModelServer> {
  return startModelServer({
    answer: (messages) => ({ content: `what ${phaseIn(messages)} has left` }),
  });
}

async function asked(store: Store, id: string): Promise<readonly QuestionRecord[]> {
  return store.read(listOpenQuestions, { reference: id });
}

describeEngine("a phase that needs approval", (engine) => {
  it("[PLANRUN-30] [PLANRUN-31] begins only after a person has approved the attempt, while others run, and each answer wakes the run", async () => {
    const server = await workingServer();
    const bench = await PlanBench.open(await engine.create(), server);
    const { store } = bench;
    const options = { approve: ["build", "docs"] };
    const { id } = await storeRun({ store, phases: [...DIAMOND, phase("other")], options });
    expect((await bench.run(id)).state).toBe("waiting");
    expect(await bench.states(id)).toEqual({
      design: "done",
      build: "approval",
      docs: "approval",
      check: "waiting",
      other: "done",
    });
    const questions = await asked(store, id);
    expect(
      questions.map(({ kind, call_id, default_answer }) => [kind, call_id, default_answer]),
    ).toEqual([
      ["approval", "approval:build:1", null],
      ["approval", "approval:docs:1", null],
    ]);
    expect(questions[0]?.text).toContain(
      "Begin phase build?\nTitle: Title of build\nRole: assistant",
    );
    expect(await store.read(findDueQuestions, { top: id })).toEqual([]);
    await answerRun(store, questions[1]!, { choice: "approve" });
    expect((await store.read(readCurrentExchange, { session_id: id }))?.state).toBe("queued");
    expect((await bench.run(id)).state).toBe("waiting");
    expect(await bench.states(id)).toMatchObject({ build: "approval", docs: "done" });
    await answerRun(store, questions[0]!, { choice: "approve" });
    expect((await bench.run(id)).state).toBe("done");
    expect(server.requests().map(phaseIn)).toEqual(["design", "other", "docs", "build", "check"]);
    expect((await verifySession(store, id)).findings).toEqual([]);
  });

  it("[PLANRUN-32] is not begun after a refusal, keeps the note, blocks only what depends on it, and can be tried again", async () => {
    const server = await workingServer();
    const bench = await PlanBench.open(await engine.create(), server);
    const { store } = bench;
    const { id } = await storeRun({ store, phases: DIAMOND, options: { approve: ["build"] } });
    expect((await bench.run(id)).state).toBe("waiting");
    const [question] = await asked(store, id);
    await answerRun(store, question!, { choice: "refuse", note: "use the old one" });
    await expect(bench.run(id)).rejects.toMatchObject({
      code: "phase_failed",
      message: expect.stringContaining("use the old one. "),
    });
    const { phases } = await store.read(readRun, { reference: id });
    expect(phases.map(({ state }) => state)).toEqual(["done", "refused", "done", "waiting"]);
    expect(phases[1]).toMatchObject({ error_code: "refused", child: null });
    expect((await verifySession(store, id)).findings).toEqual([]);
    expect(await store.write(retryPhases, { session_id: id, keys: [] })).toEqual(["build"]);
    expect((await bench.run(id)).state).toBe("waiting");
    const [again] = await asked(store, id);
    expect(again?.call_id).toBe("approval:build:2");
    expect(again?.text).toContain("use the old one");
    await answerRun(store, again!, { choice: "approve" });
    expect((await bench.run(id)).state).toBe("done");
  });

  it("[PLANRUN-33] asks again about each attempt, and what a stop withdrew", async () => {
    const server = await startModelServer({
      answer: (messages) =>
        phaseIn(messages) === "build" && server.requests().length < 3
          ? { error: { message: "no" }, status: 400 }
          : { content: "a result" },
    });
    const bench = await PlanBench.open(await engine.create(), server);
    const { store } = bench;
    const options = { approve: ["build"], retries: 1 };
    const { id } = await storeRun({ store, phases: DIAMOND.slice(0, 2), options });
    expect((await bench.run(id)).state).toBe("waiting");
    await store.write(stopExchange, { reference: id, n: 1 });
    expect(await asked(store, id)).toEqual([]);
    expect((await bench.run(id)).state).toBe("waiting");
    const [second] = await asked(store, id);
    expect([second?.call_id, second?.number]).toEqual(["approval:build:1", 2]);
    await answerRun(store, second!, { choice: "approve" });
    expect((await bench.run(id)).state).toBe("waiting");
    const [third] = await asked(store, id);
    expect(third?.call_id).toBe("approval:build:2");
    await answerRun(store, third!, { choice: "approve" });
    expect((await bench.run(id)).state).toBe("done");
  });

  it("[PLANRUN-34] takes no approval from an import or a copy, not even for what had begun", async () => {
    let fails = true;
    const server = await startModelServer({
      // the provider ends the run while the phase runs
      answer: (messages) =>
        fails && phaseIn(messages) === "build"
          ? { error: { message: "no" }, status: 401 }
          : { content: `what ${phaseIn(messages)} has left` },
    });
    const bench = await PlanBench.open(await engine.create(), server);
    const { store } = bench;
    const { id } = await storeRun({
      store,
      phases: DIAMOND,
      options: { approve: ["build", "docs"] },
    });
    expect((await bench.run(id)).state).toBe("waiting");
    const [build] = await asked(store, id);
    await answerRun(store, build!, { choice: "approve" });
    await expect(bench.run(id)).rejects.toMatchObject({ code: "model_unauthorized" });
    fails = false;
    const tree = await store.read(readSessionTree, { id });
    const text = [...exportText(tree, "2026-01-01T00:00:00.000Z")].join("");
    for (const way of ["import", "copy"] as const) {
      const other = await PlanBench.open(await engine.create(), server);
      if (way === "import") {
        await importTree(other.store, withNewIds(parseExport(text)));
      } else {
        await copySession({ source: store, target: other.store, id });
      }
      const moved = (await other.store.read(readRun, { reference: tree.session.run!.run_id }))
        .session_id;
      expect(await other.states(moved)).toMatchObject({ build: "running", docs: "approval" });
      expect((await other.run(moved)).state).toBe("waiting");
      expect(await other.states(moved)).toMatchObject({ build: "approval", docs: "approval" });
      const before = server.requests().length;
      for (const question of await asked(other.store, moved)) {
        await answerRun(other.store, question, { choice: "approve" });
      }
      expect((await other.run(moved)).state).toBe("done");
      const { phases, session } = await other.store.read(readRun, { reference: moved });
      expect(session.agent).toBe(PLAN_AGENT);
      // the phase that had begun is continued by the sub-agent that it had
      expect(phases[1]?.attempt).toBe(1);
      expect(server.requests().length - before).toBe(3);
      expect((await verifySession(other.store, moved)).findings).toEqual([]);
    }
  });
});
