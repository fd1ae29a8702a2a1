import { join } from "node:path";
import { writeFileSync } from "node:fs";

import { expect, it } from "vitest";

import type { Phase } from "../../src/artifacts/plans/phase-plan.ts";
import type { RunDetail } from "../../src/core/schemas/plan-run-schemas.ts";
import { callProgram } from "../helpers/call-program.ts";
import { DIAMOND, phase } from "../helpers/plan-bench.ts";
import { temporaryFolder } from "../helpers/temp.ts";

/** A folder with a plan in `plan.json`, and the command line in it, with the demo as the model. */
function folderWith(phases: readonly Phase[]) {
  const cwd = temporaryFolder();
  const plan = { runId: crypto.randomUUID(), phaseKey: "planning", phases };
  writeFileSync(join(cwd, "plan.json"), JSON.stringify(plan));
  const env = { HOME: temporaryFolder(), REPRISE_MODEL: "demo" };
  return (...args: string[]) => callProgram(["plan", ...args], { script: "reprise", cwd, env });
}

it("[PLANRUN-14] runs a plan in the foreground, a line for each change of a phase, and shows it afterwards", async () => {
  const plan = folderWith(DIAMOND);
  const ran = await plan("run", "plan.json");
  expect(ran).toMatchObject({ code: 0, stderr: "" });
  expect(ran.stdout).toContain("design: running, Title of design (assistant)\n");
  expect(ran.stdout).toContain("done, 4 of 4 phases done");
  expect(await plan("run", "plan.json")).toMatchObject({ code: 6 });
  const again = await plan("run", "plan.json", "--again", "--json");
  const run = JSON.parse(again.stdout) as RunDetail;
  expect(run).toMatchObject({
    number: 2,
    state: "done",
    phases_done: 4,
    exchange: { state: "done" },
  });
  const status = await plan("status", run.session_id, "--json");
  expect(JSON.parse(status.stdout)).toEqual(run);
  expect((await plan("status", run.session_id.slice(0, 8))).stdout).toMatch(/docs +done/);
  expect((await plan("runs")).stdout.split("\n")).toHaveLength(3);
  expect(await plan("resume", run.session_id)).toMatchObject({ code: 1 });
});

it("[PLANRUN-15] refuses a run before anything is stored, and stores nothing in a dry run", async () => {
  const unknown = folderWith([phase("design", [], "nobody")]);
  const refused = await unknown("run", "plan.json");
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain("[role_unknown]");
  expect((await unknown("runs")).stdout).toBe("");
  const plan = folderWith(DIAMOND);
  expect((await plan("run", "plan.json", "--model", "openai:gpt-test")).stderr).toContain(
    "[model_key_missing]",
  );
  const dry = await plan("run", "plan.json", "--dry-run");
  expect(dry.stdout).toMatch(/wave 2 +build +Title of build +assistant +demo/);
  expect((await plan("runs")).stdout).toBe("");
});
