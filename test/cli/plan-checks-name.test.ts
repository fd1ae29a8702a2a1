import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import { callProgram } from "../helpers/call-program.ts";
import { phase } from "../helpers/plan-bench.ts";
import { temporaryFolder } from "../helpers/temp.ts";

it("[PLANRUN-119] refuses a file beside the plan that may be meant as its checks and is not read, before anything begins", async () => {
  const cwd = temporaryFolder();
  const plan = { runId: crypto.randomUUID(), phaseKey: "planning", phases: [phase("build")] };
  writeFileSync(join(cwd, "plan.json"), JSON.stringify(plan));
  const env = { HOME: temporaryFolder(), REPRISE_MODEL: "demo" };
  const call = (...args: string[]) =>
    callProgram(["plan", ...args], { script: "reprise", cwd, env });
  let last = "plan.checks.yml";
  writeFileSync(join(cwd, last), 'all: [["false"]]\n');
  for (const name of [
    last,
    "plan.checks.json",
    "Plan.Checks.yaml",
    "plan.json.checks.yaml",
    "plan.checks",
    "plan.check.yaml",
  ]) {
    renameSync(join(cwd, last), join(cwd, name));
    last = name;
    const ran = await call("run", "plan.json");
    expect([name, ran.code]).toEqual([name, 1]);
    expect(ran.stderr).toContain('are read from "plan.checks.yaml"');
    expect(ran.stderr).toContain(`those in "${name}"`);
    const validated = await call("validate", "plan.json");
    expect(validated.code).toBe(1);
    expect(validated.stdout).toContain(`${name}:1:1 error this file is not read: `);
  }
  expect((await call("runs")).stdout).not.toContain(plan.runId);
  // checks of another plan, and a copy that nobody takes for checks
  renameSync(join(cwd, last), join(cwd, "Plan.checks.yaml"));
  writeFileSync(join(cwd, "Plan.json"), JSON.stringify(plan));
  writeFileSync(join(cwd, "plan.checks.yaml.bak"), "");
  expect((await call("run", "plan.json")).code).toBe(0);
});
