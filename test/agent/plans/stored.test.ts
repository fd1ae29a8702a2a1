import { expect, it } from "vitest";

import { PLAN_AGENT } from "../../../src/core/plan-runs.ts";
import { beginThread } from "../../../src/exchange/start-thread.ts";
import { exportText } from "../../../src/store/portable/export-text.ts";
import { importTree, withNewIds } from "../../../src/store/portable/import-tree.ts";
import { parseExport } from "../../../src/store/portable/parse.ts";
import { copySession } from "../../../src/store/portable/copy-session.ts";
import { readSessionTree } from "../../../src/store/portable/read-tree.ts";
import { readRunDetail } from "../../../src/plans/run-detail.ts";
import { queueExchange } from "../../../src/store/records/exchanges/queue.ts";
import { appendUserMessage } from "../../../src/store/records/messages/append.ts";
import { readRun, type StoredRun } from "../../../src/store/records/plans/read-runs.ts";
import { retryPhases } from "../../../src/store/records/plans/retry.ts";
import { deleteSessionTree } from "../../../src/store/records/sessions/delete-tree.ts";
import type { Store } from "../../../src/store/store.ts";
import { describeEngine } from "../../helpers/engines.ts";
import { startModelServer } from "../../helpers/model-server.ts";
import { DIAMOND, phase, phaseIn, PlanBench, storeRun } from "../../helpers/plan-bench.ts";
import { localPrincipal } from "../../../src/core/principal.ts";

const TIME = "2026-01-01T00:00:00.000Z";

/** A run of which one phase has failed. */
async function failedRun(database: Parameters<typeof PlanBench.open>[0]) {
  let fails = true;
  const server = await startModelServer({
    answer: (messages) =>
      fails && phaseIn(messages) === "docs"
        ? { error: { message: "no" }, status: 400 }
        : { content: "a result" },
  });
  const bench = await PlanBench.open(database, server);
  const runId = crypto.randomUUID();
  const { id } = await storeRun({ store: bench.store, phases: DIAMOND, runId });
  await expect(bench.run(id)).rejects.toMatchObject({ code: "phase_failed" });
  return { bench, server, id, runId, recover: () => (fails = false) };
}

async function moved(
  store: Store,
  id: string,
): Promise<Omit<StoredRun, "session" | "exchange" | "checks_accepted">> {
  const {
    session: _,
    exchange: _e,
    checks_accepted: _c,
    ...run
  } = await store.read(readRun, { reference: id });
  return run;
}

describeEngine("a stored run", (engine) => {
  it("[PLANRUN-9] takes no message from anybody, and keeps one that is stored for it from every model", async () => {
    const { bench, server, id, recover } = await failedRun(await engine.create());
    const { store } = bench;
    const refused = { code: "run_takes_no_message" };
    const principal = localPrincipal("terminal", null);
    const queued = { reference: id, content: "hello", asked_by: "http", principal } as const;
    await expect(store.write(queueExchange, queued)).rejects.toMatchObject(refused);
    await expect(beginThread(store, { id, archive: false })).rejects.toMatchObject(refused);
    await expect(bench.send(id, "hello")).rejects.toMatchObject(refused);
    await store.write(appendUserMessage, { reference: id, content: "a stored message" });
    recover();
    await store.write(retryPhases, { session_id: id, keys: [] });
    expect((await bench.run(id)).state).toBe("done");
    expect(JSON.stringify(server.requests())).not.toContain("a stored message");
  });

  it("[PLANRUN-10] is begun once in a project, unless it has ended and is run again", async () => {
    const server = await startModelServer({ answer: () => ({ content: "a result" }) });
    const bench = await PlanBench.open(await engine.create(), server);
    const { store } = bench;
    const plan = { store, phases: DIAMOND, repo: "/some/folder", runId: crypto.randomUUID() };
    const { id } = await storeRun(plan);
    const refused = { code: "run_exists", message: expect.stringContaining(id) };
    await expect(storeRun(plan)).rejects.toMatchObject(refused);
    await expect(storeRun({ ...plan, again: true })).rejects.toMatchObject(refused);
    await expect(bench.run(id)).rejects.toMatchObject({
      code: "folder_missing",
      message: expect.stringContaining(
        "then continue the run with `reprise plan resume`",
      ) as string,
    });
    expect(server.requests()).toEqual([]);
    expect(await store.read(readRun, { reference: plan.runId })).toMatchObject({ session_id: id });
  });

  it("[PLANRUN-11] is exported, imported and copied with its phases, and deleted with its session", async () => {
    const { bench, id } = await failedRun(await engine.create());
    const { store } = bench;
    const other = await (await engine.create()).open();
    const tree = await store.read(readSessionTree, { id });
    const text = [...exportText(tree, TIME)].join("");
    await importTree(other, parseExport(text));
    expect(await moved(other, id)).toEqual(await moved(store, id));
    const third = await (await engine.create()).open();
    await copySession({ source: store, target: third, id });
    expect(await moved(third, id)).toEqual(await moved(store, id));
    const [copy = ""] = await importTree(other, withNewIds(parseExport(text)));
    expect(await moved(other, copy)).toMatchObject({ number: 2, session_id: copy });
    await other.write(deleteSessionTree, { id });
    await expect(other.read(readRun, { reference: id })).rejects.toMatchObject({
      code: "session_not_found",
    });
    const changed = text.replace('"key":"docs","state"', '"key":"other","state"');
    expect(() => parseExport(changed)).toThrow(expect.objectContaining({ code: "export_invalid" }));
  });

  it("[PLANRUN-11] is stored, exported and imported with thousands of phases", async () => {
    const store = await (await engine.create()).open();
    const phases = Array.from({ length: 6000 }, (_, n) => phase(`phase-${n}`));
    const { id } = await storeRun({ store, phases });
    const text = [...exportText(await store.read(readSessionTree, { id }), TIME)].join("");
    const other = await (await engine.create()).open();
    await importTree(other, parseExport(text));
    expect((await other.read(readRun, { reference: id })).phases).toHaveLength(phases.length);
  });

  it("[PLANRUN-45] is shown whatever number of attempts an import claims", async () => {
    const { bench, id } = await failedRun(await engine.create());
    const attempt = Number.MAX_SAFE_INTEGER;
    await bench.store.write(
      ({ db }) =>
        db
          .updateTable("plan_phases")
          .set({ attempt })
          .where("session_id", "=", id)
          .where("state", "=", "waiting")
          .execute(),
      null,
    );
    const forged = [...exportText(await bench.store.read(readSessionTree, { id }), TIME)].join("");
    const other = await (await engine.create()).open();
    await importTree(other, parseExport(forged));
    const { phases } = await other.read(readRunDetail, { reference: id });
    expect(phases.map((each) => each.attempt)).toEqual([1, 1, 1, attempt]);
  });

  it("[PLANRUN-12] asks no model without the rows of its run", async () => {
    const { bench, server, id } = await failedRun(await engine.create());
    await bench.store.write(async ({ db }) => {
      await db.deleteFrom("plan_runs").where("session_id", "=", id).execute();
    }, null);
    const before = server.requests().length;
    await expect(bench.run(id)).rejects.toMatchObject({ code: "run_missing" });
    expect(server.requests()).toHaveLength(before);
    const { session } = await bench.store.read(readSessionTree, { id });
    expect(session).toMatchObject({ agent: PLAN_AGENT });
  });

  it("[PLANRUN-13] lets phases that failed be tried again, each attempt as another sub-agent", async () => {
    const { bench, id, recover } = await failedRun(await engine.create());
    const { store } = bench;
    const wrong = store.write(retryPhases, { session_id: id, keys: ["build"] });
    await expect(wrong).rejects.toMatchObject({ code: "invalid_usage" });
    const { phases: before } = await store.read(readRun, { reference: id });
    recover();
    expect(await store.write(retryPhases, { session_id: id, keys: ["docs"] })).toEqual(["docs"]);
    expect((await bench.run(id)).state).toBe("done");
    const { phases: after } = await store.read(readRun, { reference: id });
    expect(after[2]).toMatchObject({ key: "docs", state: "done", attempt: 2, error_code: null });
    expect(after[2]?.child).not.toBe(before[2]?.child);
  });
});
