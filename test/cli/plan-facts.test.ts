import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import type { Phase } from "../../src/artifacts/plans/phase-plan.ts";
import type { RunDetail } from "../../src/core/schemas/plan-run-schemas.ts";
import { callProgram } from "../helpers/call-program.ts";
import { type ModelAnswer, type SentMessage, startModelServer } from "../helpers/model-server.ts";
import { DIAMOND, phase, phaseIn } from "../helpers/plan-bench.ts";
import { temporaryFolder } from "../helpers/temp.ts";

type Answer = (messages: readonly SentMessage[]) => ModelAnswer;

/** The command line in a folder with a plan, with a model that answers so. */
async function folderWith(phases: readonly Phase[], answer: Answer = FINISHING) {
  const cwd = temporaryFolder();
  const server = await startModelServer({ answer });
  const runId = crypto.randomUUID();
  writeFileSync(join(cwd, "plan.json"), JSON.stringify({ runId, phaseKey: "planning", phases }));
  const env = {
    HOME: temporaryFolder(),
    ...server.env("openai"),
    REPRISE_MODEL: "openai:gpt-test",
  };
  const call = (...args: string[]) => callProgram(args, { script: "reprise", cwd, env });
  const plan = (...args: string[]) => call("plan", ...args);
  const status = async (): Promise<RunDetail> =>
    JSON.parse((await plan("status", runId, "--json")).stdout) as RunDetail;
  return { cwd, server, runId, call, plan, status };
}

const FINISHING: Answer = () => ({
  content: "a result",
  usage: { prompt_tokens: 1000, completion_tokens: 234 },
});

it("[PLANRUN-79] runs some phases with those that they depend on, from a copy of the plan that has no others", async () => {
  const { plan, server, status } = await folderWith(DIAMOND);
  const dry = await plan("run", "plan.json", "--only", "docs", "--dry-run");
  expect(dry.stdout).toMatch(/^wave 1 +design .*\nwave 2 +docs .*\nNothing was stored/);
  const unknown = await plan("run", "plan.json", "--only", "dcos");
  expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('"dcos"')]);
  const approving = await plan("run", "plan.json", "--only", "docs", "--approve", "build");
  expect(approving.code).toBe(2);
  expect((await plan("run", "plan.json", "--only", "docs", "--only", "design")).code).toBe(0);
  expect(server.requests().map(phaseIn)).toEqual(["design", "docs"]);
  const run = await status();
  expect(run).toMatchObject({ state: "done", phases_total: 2 });
  expect(run.plan.phases.map(({ key }) => key)).toEqual(["design", "docs"]);
  expect((await plan("run", "plan.json")).code).toBe(6);
  expect((await plan("run", "plan.json", "--again")).code).toBe(0);
});

it("[PLANRUN-81] refuses a price limit with a model whose price nobody knows, and a key that is too long, before anything is stored", async () => {
  const priced = await folderWith(DIAMOND);
  const refused = await priced.plan("run", "plan.json", "--price-limit", "tree=1");
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("[price_unknown]")]);
  const long = await folderWith([phase("x".repeat(201))]);
  const named = await long.plan("run", "plan.json");
  expect([named.code, named.stderr]).toEqual([2, expect.stringContaining("201 characters")]);
  expect((await priced.plan("runs")).stdout + (await long.plan("runs")).stdout).toBe("");
  const longest = await folderWith([phase("x".repeat(200))]);
  expect((await longest.plan("run", "plan.json", "--approve", "all")).code).toBe(7);
  const { session_id } = await longest.status();
  await longest.call("sessions", "answer", session_id, "approve");
  expect((await longest.plan("resume", session_id)).code).toBe(0);
});

it("[PLANRUN-82] runs the exchange that a detached run has queued, and leaves none", async () => {
  const { plan, call, server, status } = await folderWith([phase("build")]);
  expect((await plan("run", "plan.json", "--detach")).code).toBe(0);
  const { session_id } = await status();
  expect((await plan("resume", session_id)).code).toBe(0);
  expect(await status()).toMatchObject({ state: "done", exchange: { n: 1, state: "done" } });
  expect(server.requests()).toHaveLength(1);
  expect((await call("sessions", "verify", session_id)).code).toBe(0);
});

it("[PLANRUN-83] the sessions of phases have the titles of their phases", async () => {
  const { plan, call } = await folderWith([{ ...phase("report"), title: "Report what was found" }]);
  await plan("run", "plan.json");
  const { stdout } = await call("sessions", "list", "--all");
  expect(stdout).toMatch(/ Report what was found Do the work of report\./);
});
