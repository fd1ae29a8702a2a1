import { fileURLToPath } from "node:url";

import { expect, it, onTestFinished } from "vitest";

import type { Phase } from "../../src/artifacts/plans/phase-plan.ts";
import { createClient } from "../../src/client/client.ts";
import type { ListRunsOptions, PlanRunPage } from "../../src/client/plan-runs.ts";
import type { CreatePlanRunRequest } from "../../src/core/schemas/plan-run-requests.ts";
import type { RunSummary } from "../../src/core/schemas/plan-run-schemas.ts";
import { createCatalogue } from "../../src/rules/catalogue.ts";
import { createSettings } from "../../src/rules/config/settings.ts";
import type { Operation } from "../../src/store/store.ts";
import { type ModelAnswer, startModelServer } from "../helpers/model-server.ts";
import { DIAMOND, phase, phaseIn, PlanBench } from "../helpers/plan-bench.ts";
import { startProvider } from "../helpers/providers/start.ts";
import { text } from "../helpers/providers/steps.ts";
import { startTestServer } from "../helpers/server.ts";
import { homeOfNodes, startNode } from "../helpers/service-node.ts";
import { temporaryFolder } from "../helpers/temp.ts";
import { TRUSTED } from "../helpers/trust.ts";

const TOKEN = "the-token";
const READ = "the-read-token";
const OWN = { authorization: `Bearer ${TOKEN}` };

function textOf(phases: readonly Phase[], runId = crypto.randomUUID()): string {
  return JSON.stringify({ runId, phaseKey: "planning", phases });
}

function asked(
  phases: readonly Phase[],
  more: Partial<CreatePlanRunRequest> = {},
): CreatePlanRunRequest {
  return { plan: { text: textOf(phases) }, repo_path: temporaryFolder(), ...more };
}

/** A service with the built-in personas, its client, and what runs its runs with a model server. */
async function openService(answer: Parameters<typeof startModelServer>[0]["answer"] = FINISHING) {
  const server = await startModelServer({ answer });
  const env = { ...server.env("openai"), REPRISE_MODEL: "openai:gpt-test" };
  const settings = createSettings({ env, file: null, home: "/nonexistent" });
  const personas = {
    userDir: null,
    builtinDir: fileURLToPath(new URL("../../personas", import.meta.url)),
    trust: TRUSTED,
  };
  const catalogue = createCatalogue({ personas, settings, modelLists: null });
  const t = await startTestServer({ token: TOKEN, readToken: READ, catalogue });
  onTestFinished(() => t[Symbol.asyncDispose]());
  const client = createClient({ baseUrl: t.url, token: TOKEN });
  return { t, client, bench: new PlanBench(t.store, server.env("openai")) };
}

const readColumns: Operation<string, unknown> = (tx, id) =>
  tx.db
    .selectFrom("sessions")
    .select(["permission_mode", "tree_limit"])
    .where("id", "=", id)
    .executeTakeFirstOrThrow();

const FINISHING = (): ModelAnswer => ({ content: "a result" });

it("[HTTP-310] stores a run for the next free node, once for each key, and answers with its detail", async () => {
  const { t, client, bench } = await openService();
  const request = asked(DIAMOND, {
    parallel: 2,
    retries: 1,
    approve: ["check"],
    permission: "edits",
    token_limits: { tree: 50_000 },
  });
  const run = await client.createPlanRun(request, { idempotencyKey: "one" });
  expect(run).toMatchObject({
    state: "queued",
    number: 1,
    phases_done: 0,
    phases_total: 4,
    options: { parallel: 2, retries: 1, approve: ["check"] },
    phases: [
      { key: "design", state: "waiting", shown: "ready", model: null, files: [] },
      {},
      {},
      {},
    ],
    exchange: { state: "queued", n: 1, asked_by: "http" },
  });
  expect(await client.getSession(run.session_id)).toMatchObject({ repo_path: request.repo_path });
  const columns = await t.store.read(readColumns, run.session_id);
  expect(columns).toEqual({ permission_mode: "edits", tree_limit: 50_000 });
  expect(await client.createPlanRun(request, { idempotencyKey: "one" })).toEqual(run);
  const other = { ...request, parallel: 3 };
  await expect(client.createPlanRun(other, { idempotencyKey: "one" })).rejects.toMatchObject({
    code: "idempotency_key_reused",
  });
  expect((await client.listPlanRuns()).runs).toHaveLength(1);
  expect((await bench.runQueued(run.session_id)).state).toBe("waiting");
  expect(await client.getPlanRun(run.run_id)).toMatchObject({
    session_id: run.session_id,
    state: "waiting",
    asking: ["check"],
  });
  const { headers } = await t.call("POST", "/api/plan-runs", {
    headers: OWN,
    body: asked([phase("one")], { repo_path: "/nowhere" }),
  });
  expect(headers.get("location")).toMatch(/^\/api\/plan-runs\/[0-9a-f-]{36}$/);
  expect(headers.get("reprise-warning")).toBe("folder_not_served");
});

it("[HTTP-311] refuses a plan that is invalid, a role that nobody knows and a second run, and stores nothing", async () => {
  const { t, client } = await openService();
  const yaml = { text: "runId: 1\nphases: []\n", syntax: "yaml" } as const;
  const repo_path = temporaryFolder();
  await expect(client.createPlanRun({ plan: yaml, repo_path })).rejects.toMatchObject({
    code: "plan_invalid",
    status: 422,
    faults: expect.arrayContaining([
      { pointer: "/runId", message: expect.stringMatching(/^Line 1, column 8: /) as string },
    ]) as object,
  });
  for (const [request, code] of [
    [asked([phase("one", [], "nobody")]), "role_unknown"],
    [asked(DIAMOND, { approve: ["all", "nothing"] }), "invalid_request"],
    [asked(DIAMOND, { model: "nobody:model" }), "model_unknown"],
    [asked(DIAMOND, { permission: "plan" as "ask" }), "invalid_request"],
    [asked(DIAMOND, { repo_path: "below" }), "invalid_request"],
    [asked(DIAMOND, { plan: { text: " ".repeat(2 ** 20 + 1) } }), "body_too_large"],
  ] as const) {
    await expect(client.createPlanRun(request)).rejects.toMatchObject({ code });
  }
  expect((await client.listPlanRuns()).runs).toEqual([]);
  const request = asked(DIAMOND);
  const { session_id } = await client.createPlanRun(request);
  await expect(client.createPlanRun(request)).rejects.toMatchObject({
    code: "run_exists",
    status: 409,
    message: expect.stringContaining(session_id) as string,
  });
  await expect(client.getPlanRun(await t.newSession())).rejects.toMatchObject({
    code: "run_missing",
    status: 404,
  });
});

it("[HTTP-312] lists runs by pages, the newest first, and by the state of their last exchange", async () => {
  const { client, bench } = await openService();
  const ids: string[] = [];
  for (let at = 0; at < 5; at += 1) {
    const { session_id } = await client.createPlanRun(asked([phase("one")]));
    ids.unshift(session_id);
    if (at % 2 === 0) {
      await bench.runQueued(session_id);
    }
  }
  const all = async (options: ListRunsOptions): Promise<RunSummary[]> => {
    const found: RunSummary[] = [];
    let cursor: string | null = null;
    do {
      const page: PlanRunPage = await client.listPlanRuns({
        ...options,
        ...(cursor === null ? {} : { cursor }),
      });
      expect(page.runs.length).toBeLessThanOrEqual(options.limit ?? 50);
      found.push(...page.runs);
      cursor = page.next;
    } while (cursor !== null);
    return found;
  };
  for (const limit of [1, 2, 4, 5, 50]) {
    expect((await all({ limit })).map(({ session_id }) => session_id)).toEqual(ids);
    const done = await all({ limit, state: "done" });
    expect(done.map(({ session_id }) => session_id)).toEqual([ids[0], ids[2], ids[4]]);
    expect(await all({ limit, state: "queued" })).toHaveLength(2);
    expect(await all({ limit, state: "failed" })).toEqual([]);
  }
  expect((await all({}))[0]).toEqual({
    session_id: ids[0],
    run_id: expect.any(String) as string,
    number: 1,
    state: "done",
    phases_done: 1,
    phases_total: 1,
    asking: [],
  });
});

it("[HTTP-313] gives phases another attempt and queues the run, together or not at all", async () => {
  let fails = true;
  const { client, bench } = await openService((messages) =>
    fails && phaseIn(messages) === "build"
      ? { error: { message: "a secret of the provider" }, status: 400 }
      : FINISHING(),
  );
  const { session_id: id } = await client.createPlanRun(asked(DIAMOND));
  await expect(bench.runQueued(id)).rejects.toMatchObject({ code: "phase_failed" });
  await expect(client.resumePlanRun(id, { retry: ["docs"] })).rejects.toMatchObject({
    code: "invalid_usage",
  });
  expect((await client.getPlanRun(id)).phases[1]).toMatchObject({ state: "failed", attempt: 1 });
  const resumed = await client.resumePlanRun(id, { retry: ["build"] });
  expect(resumed).toMatchObject({
    state: "queued",
    phases: [{}, { key: "build", state: "waiting", attempt: 2 }, {}, {}],
  });
  fails = false;
  expect((await bench.runQueued(id)).state).toBe("done");
  await expect(client.resumePlanRun(id)).rejects.toMatchObject({
    code: "nothing_to_continue",
    message: expect.stringContaining("The run has ended") as string,
  });
});

it("[HTTP-313] says why a run cannot be continued: it is queued, runs, or asks", async () => {
  const running = Promise.withResolvers<void>();
  const refused = Promise.withResolvers<unknown>();
  await using provider = await startProvider("openai", async () => {
    running.resolve();
    await refused.promise;
    return [text("a result")];
  });
  const { t, client } = await openService();
  const bench = new PlanBench(t.store, provider.env);
  const { session_id: id } = await client.createPlanRun(asked([phase("build")]));
  await expect(client.resumePlanRun(id)).rejects.toMatchObject({
    code: "nothing_to_continue",
    message: expect.stringContaining("queued already") as string,
  });
  const run = bench.runQueued(id);
  await running.promise;
  const error: unknown = await client.resumePlanRun(id).catch((caught: unknown) => caught);
  refused.resolve(null);
  expect(error).toMatchObject({ code: "session_busy" });
  expect((await run).state).toBe("done");
  const approved = asked([phase("build")], { approve: ["build"] });
  const { session_id: asking } = await client.createPlanRun(approved);
  expect((await bench.runQueued(asking)).state).toBe("waiting");
  await expect(client.resumePlanRun(asking)).rejects.toMatchObject({
    code: "question_open",
    message: expect.stringContaining("Answer it; then the run continues.") as string,
  });
});

it("[HTTP-314] shows a run to who may read it, without the texts of providers, and reports it as Markdown", async () => {
  const { t, client, bench } = await openService((messages) =>
    phaseIn(messages) === "build"
      ? { error: { message: "a secret of the provider" }, status: 400 }
      : FINISHING(),
  );
  const { session_id: id } = await client.createPlanRun(asked(DIAMOND));
  await expect(bench.runQueued(id)).rejects.toMatchObject({ code: "phase_failed" });
  const reader = createClient({ baseUrl: t.url, token: READ });
  expect(JSON.stringify(await client.getPlanRun(id))).toContain("a secret of the provider");
  expect(JSON.stringify((await reader.getPlanRun(id)).phases)).not.toContain("a secret");
  expect(await client.reportPlanRun(id)).toContain("a secret of the provider");
  const headers = { authorization: `Bearer ${READ}` };
  const report = await fetch(`${t.url}/api/plan-runs/${id}/report`, { headers });
  expect(report.headers.get("content-type")).toBe("text/markdown; charset=utf-8");
  const markdown = await report.text();
  expect(markdown).toMatch(/^# Run of plan `/);
  expect(markdown.slice(markdown.indexOf("| phase |"))).not.toContain("a secret");
  for (const [method, path] of [
    ["POST", ""],
    ["POST", `/${id}/resume`],
  ] as const) {
    const answer = await t.call(method, `/api/plan-runs${path}`, { headers, body: {} });
    expect(answer.json).toMatchObject({ code: "token_required" });
  }
});

it("[HTTP-315] a node runs a run that was stored over HTTP", async () => {
  const home = homeOfNodes();
  const repo_path = temporaryFolder();
  const { client } = await startNode(home, ["--repos", repo_path]);
  const { session_id } = await client.createPlanRun(asked(DIAMOND, { repo_path }));
  for await (const event of client.live(session_id)) {
    if (event.event === "exchange" && event.data.ended_at !== null) {
      break;
    }
  }
  expect(await client.getPlanRun(session_id)).toMatchObject({
    state: "done",
    phases_done: 4,
    exchange: { state: "done" },
  });
});
