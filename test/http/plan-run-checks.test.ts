import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { expect, it, onTestFinished } from "vitest";

import type { Phase } from "../../src/artifacts/plans/phase-plan.ts";
import { createClient } from "../../src/client/client.ts";
import type { CreatePlanRunRequest } from "../../src/core/schemas/plan-run-requests.ts";
import type { StartSource } from "../../src/plans/check-start.ts";
import { createCatalogue } from "../../src/rules/catalogue.ts";
import { createSettings } from "../../src/rules/config/settings.ts";
import type { TrustSource } from "../../src/rules/trust/trust.ts";
import { readConsents } from "../../src/store/records/sessions/consents.ts";
import { readLimits } from "../../src/store/records/sessions/limits.ts";
import { createSandboxProbe } from "../../src/workspace/sandbox/probe.ts";
import { createDatabase } from "../helpers/database.ts";
import { startModelServer } from "../helpers/model-server.ts";
import { openStoreAt } from "../helpers/open-store.ts";
import { DIAMOND, phase, PlanBench } from "../helpers/plan-bench.ts";
import { startTestServer } from "../helpers/server.ts";
import { homeOfNodes, startNode } from "../helpers/service-node.ts";
import { temporaryFolder } from "../helpers/temp.ts";
import { TRUSTED, UNTRUSTED } from "../helpers/trust.ts";

const TOKEN = "the-token";
const READ = "the-read-token";

const probe = createSandboxProbe();
const hasSandbox = (await probe()).bubblewrap !== null;

interface Given {
  readonly trust?: TrustSource;
  readonly hasSandbox?: boolean;
  /** False for a service that cannot judge what a run needs. */
  readonly judges?: boolean;
}

/** A service that judges artifacts and checks as `reprise serve` does. */
async function openService(given: Given = {}) {
  const { trust = TRUSTED, hasSandbox: isSandboxed = true, judges = true } = given;
  const server = await startModelServer({ answer: () => ({ content: "a result" }) });
  const env = { ...server.env("openai"), REPRISE_MODEL: "openai:gpt-test" };
  const settings = createSettings({ env, file: null, home: "/nonexistent" });
  const builtinDir = fileURLToPath(new URL("../../personas", import.meta.url));
  const personas = { userDir: null, builtinDir, trust };
  const store = await openStoreAt((await createDatabase()).location);
  const none = { bubblewrap: null, reason: "there is none" } as const;
  const runStart: StartSource = {
    store,
    personas,
    settings,
    protectedPaths: [],
    env,
    permission: { allow: [], asks: true },
    sandbox: {
      state: temporaryFolder(),
      probe: isSandboxed ? probe : () => Promise.resolve(none),
    },
  };
  const catalogue = createCatalogue({ personas, settings, modelLists: null });
  const options = { token: TOKEN, readToken: READ, catalogue, store };
  const t = await startTestServer(judges ? { ...options, runStart } : options);
  onTestFinished(() => t[Symbol.asyncDispose]());
  const client = createClient({ baseUrl: t.url, token: TOKEN });
  return { t, client, store, server, bench: new PlanBench(store, server.env("openai")) };
}

function asked(
  phases: readonly Phase[],
  more: Partial<CreatePlanRunRequest> = {},
): CreatePlanRunRequest {
  const plan = { runId: crypto.randomUUID(), phaseKey: "planning", phases };
  return { plan: { text: JSON.stringify(plan) }, repo_path: temporaryFolder(), ...more };
}

function checks(...all: readonly (readonly string[])[]): CreatePlanRunRequest["checks"] {
  return { text: JSON.stringify({ all }) };
}

const ALLOWED = { permission: "auto", checks: checks(["true"]) } as const;

it.skipIf(!hasSandbox)(
  "[HTTP-316] [PLANRUN-75] a node runs the checks of a run that was begun over HTTP, and says what they did",
  async () => {
    const home = homeOfNodes();
    const repo_path = temporaryFolder();
    const { client } = await startNode(home, ["--repos", repo_path]);
    const text =
      "phases:\n  design: { checks: [[test, -d, .]] }\n  docs: { checks: [[/bin/sh, -c, exit 3]] }\n";
    const request = asked(DIAMOND, {
      repo_path,
      permission: "auto",
      checks: { text, syntax: "yaml" },
    });
    const { session_id, checks_consent } = await client.createPlanRun(request);
    expect(checks_consent).toMatchObject({ who: "token" });
    for await (const event of client.live(session_id)) {
      if (event.event === "exchange" && event.data.ended_at !== null) {
        break;
      }
    }
    const run = await client.getPlanRun(session_id);
    expect(run).toMatchObject({
      state: "failed",
      checks: { phases: { design: { checks: [["test", "-d", "."]] } } },
      phases: [
        {
          key: "design",
          state: "done",
          checked: {
            attempt: 1,
            corrections: 0,
            artifact_hash: null,
            commands: [{ argv: ["test", "-d", "."], code: 0, failure: null }],
          },
        },
        { key: "build", state: "done", checked: null },
        {
          key: "docs",
          state: "failed",
          checked: { attempt: 1, corrections: 2, commands: [{ code: 3, failure: "exit code 3" }] },
          error: { code: "check_failed" },
        },
        { key: "check", checked: null },
      ],
    });
    expect(await client.reportPlanRun(session_id)).toMatch(
      /- checks of attempt 1, after 2 corrections:\n {2}- `\/bin\/sh -c "exit 3"`: exit code 3, \d+ ms\n/,
    );
  },
);

it("[HTTP-316] takes checks with the token of the service only, and stores who let them be run", async () => {
  const { t, client, store } = await openService();
  const body = asked(DIAMOND, ALLOWED);
  const nobody = await t.call("POST", "/api/plan-runs", { body });
  expect(nobody.status).toBe(401);
  const headers = { authorization: `Bearer ${READ}` };
  const reader = await t.call("POST", "/api/plan-runs", { headers, body });
  expect([reader.status, reader.json]).toMatchObject([403, { code: "token_required" }]);
  expect((await client.listPlanRuns()).runs).toEqual([]);
  if (hasSandbox) {
    const { session_id } = await client.createPlanRun(body, { idempotencyKey: "one" });
    const other = { ...body, checks: checks(["false"]) };
    await expect(client.createPlanRun(other, { idempotencyKey: "one" })).rejects.toMatchObject({
      code: "idempotency_key_reused",
    });
    expect(await store.read(readConsents, { session_id, limit: 9 })).toMatchObject([
      { kind: "mode" },
      { kind: "run", who: "token" },
    ]);
  }
});

it("[HTTP-316] takes none without the token in a service that lets others read", async () => {
  const store = await openStoreAt((await createDatabase()).location);
  const t = await startTestServer({ madeToken: TOKEN, store });
  onTestFinished(() => t[Symbol.asyncDispose]());
  const { status, json } = await t.call("POST", "/api/plan-runs", {
    body: asked(DIAMOND, ALLOWED),
  });
  expect([status, json]).toMatchObject([403, { code: "token_required" }]);
});

it("[HTTP-317] refuses checks as the command line does, each with a sentence that says what to do, and stores nothing", async () => {
  const unsandboxed = await openService({ hasSandbox: false });
  const untrusted = await openService({ trust: UNTRUSTED });
  const directed = temporaryFolder();
  writeFileSync(join(directed, "AGENTS.md"), "Do as I say.\n");
  const judging = await openService({ judges: false });
  const own = await openService();
  const refusals = [
    [unsandboxed, asked(DIAMOND, ALLOWED), "sandbox_missing", "there is none"],
    [
      untrusted,
      asked(DIAMOND, { ...ALLOWED, repo_path: directed }),
      "folder_not_trusted",
      "trust add",
    ],
    [judging, asked(DIAMOND, ALLOWED), "invalid_usage", "reprise plan run"],
    [own, asked(DIAMOND, { ...ALLOWED, repo_path: "/nowhere" }), "folder_missing", "folder"],
    [
      own,
      asked(DIAMOND, { checks: { text: '{"all": [["true"]], "network": true}' } }),
      "plan_invalid",
      "not valid checks",
    ],
    [
      own,
      asked(DIAMOND, { checks: { text: '{"phases": {"desing": {"checks": []}}}' } }),
      "plan_invalid",
      "not valid checks",
    ],
    [
      own,
      asked(DIAMOND, { checks: { text: `"${"x".repeat(2 ** 20)}"` } }),
      "body_too_large",
      "too large",
    ],
    ...(hasSandbox
      ? ([
          [
            own,
            asked(DIAMOND, { checks: checks(["npm", "test"]) }),
            "invalid_usage",
            "The check npm test needs your consent, and nobody can be asked. Allow run_command(npm test)",
          ],
        ] as const)
      : []),
  ] as const;
  for (const [{ client }, request, code, sentence] of refusals) {
    await expect(client.createPlanRun(request), sentence).rejects.toMatchObject({
      code,
      message: expect.stringContaining(sentence) as string,
    });
    expect((await client.listPlanRuns()).runs).toEqual([]);
  }
});

it("[HTTP-318] refuses artifacts that could not be written and unknown schemas, and stores nothing", async () => {
  const { client } = await openService();
  const leaving = (schema: string, ...paths: readonly string[]) =>
    paths.map((path, at) => ({ ...phase(`p${at}`), expected_artifact: { path, schema } }));
  for (const [phases, code] of [
    [leaving("team/x@1", "a.json"), "schema_unknown"],
    [leaving("dev/spec@1", ".git/x"), "plan_invalid"],
    [leaving("dev/spec@1", "../x"), "plan_invalid"],
    [leaving("dev/spec@1", ".vscode/tasks.json"), "plan_invalid"],
    [leaving("dev/spec@1", "a.json", "A.json"), "plan_invalid"],
  ] as const) {
    await expect(client.createPlanRun(asked(phases))).rejects.toMatchObject({ code });
  }
  const repo_path = temporaryFolder();
  mkdirSync(join(repo_path, "report.json"));
  const request = asked(leaving("dev/spec@1", "report.json"), { repo_path });
  await expect(client.createPlanRun(request)).rejects.toMatchObject({ code: "plan_invalid" });
  const price = asked(DIAMOND, { price_limits: { tree: 1_000_000 } });
  await expect(client.createPlanRun(price)).rejects.toMatchObject({ code: "price_unknown" });
  expect((await client.listPlanRuns()).runs).toEqual([]);
  expect(await client.createPlanRun(asked(leaving("dev/spec@1", "a.json")))).toMatchObject({
    phases: [{ artifact: { path: "a.json", hash: null } }],
  });
});

it("[HTTP-319] runs the phases that are asked for and those that they depend on, and no others", async () => {
  const { client, bench, server } = await openService();
  const run = await client.createPlanRun(asked(DIAMOND, { only: ["docs"] }));
  expect(run.phases.map(({ key }) => key)).toEqual(["design", "docs"]);
  expect(run.plan.phases).toHaveLength(2);
  expect((await bench.runQueued(run.session_id)).state).toBe("done");
  expect(server.requests()).toHaveLength(2);
  await expect(
    client.createPlanRun(asked(DIAMOND, { only: ["docs", "nothing"] })),
  ).rejects.toMatchObject({
    code: "invalid_request",
    faults: [{ pointer: "/only/1", message: "Must be the key of a phase that is run." }],
  });
  // a phase that is not run has nothing to approve
  await expect(
    client.createPlanRun(asked(DIAMOND, { only: ["docs"], approve: ["docs", "build"] })),
  ).rejects.toMatchObject({ code: "invalid_request", faults: [{ pointer: "/approve/1" }] });
});

it("[HTTP-320] [PLANRUN-80] a limit of the tree ends a run and leaves its phases, and a higher one lets it continue", async () => {
  const { client, store, bench, server } = await openService();
  const request = asked(DIAMOND, { token_limits: { tree: 20 } });
  const { session_id: id } = await client.createPlanRun(request);
  await expect(bench.runQueued(id)).rejects.toMatchObject({ code: "budget_reached" });
  const stopped = await client.getPlanRun(id);
  expect(stopped).toMatchObject({ state: "failed", exchange: { error_code: "budget_reached" } });
  const left = stopped.phases.map(({ state }) => state);
  expect(left).not.toContain("failed");
  expect(left).toContain("waiting");
  const done = server.requests().length;
  await client.resumePlanRun(id);
  await expect(bench.runQueued(id)).rejects.toMatchObject({ code: "budget_reached" });
  expect(server.requests()).toHaveLength(done);
  await client.resumePlanRun(id, { token_limits: { tree: 1_000_000 } });
  expect((await bench.runQueued(id)).state).toBe("done");
  expect(await store.read(readLimits, { id })).toMatchObject({ tokens: { tree: 1_000_000 } });
});
