import { join } from "node:path";
import { rmSync, writeFileSync } from "node:fs";

import { expect, it } from "vitest";

import type { Phase } from "../../src/artifacts/plans/phase-plan.ts";
import type { RunDetail } from "../../src/core/schemas/plan-run-schemas.ts";
import { createSandboxProbe } from "../../src/workspace/sandbox/probe.ts";
import { callProgram } from "../helpers/call-program.ts";
import { startModelServer } from "../helpers/model-server.ts";
import { DIAMOND, phase } from "../helpers/plan-bench.ts";
import { temporaryFolder } from "../helpers/temp.ts";

const hasSandbox = (await createSandboxProbe()()).bubblewrap !== null;

/** A folder with a plan in `plan.json`, and the command line in it, with the demo as the model. */
function folderOf(phases: readonly Phase[]) {
  const cwd = temporaryFolder();
  const plan = { runId: crypto.randomUUID(), phaseKey: "planning", phases };
  writeFileSync(join(cwd, "plan.json"), JSON.stringify(plan));
  const env: Record<string, string> = { HOME: temporaryFolder(), REPRISE_MODEL: "demo" };
  return {
    cwd,
    env,
    plan: (...args: string[]) => callProgram(["plan", ...args], { script: "reprise", cwd, env }),
  };
}

function folderWith(phases: readonly Phase[]) {
  return folderOf(phases).plan;
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

it("[PLANRUN-24] [PLANRUN-25] shows the checks beside a plan, asks for consent, and refuses them if nobody can be asked", async () => {
  const { plan, cwd } = folderOf(DIAMOND);
  const file = join(cwd, "plan.checks.yaml");
  writeFileSync(file, "phases:\n  desing: { checks: [[npm, test]] }\n");
  const invalid = await plan("validate", "plan.json");
  expect(invalid.code).toBe(1);
  expect(invalid.stdout).toMatch(
    /plan\.checks\.yaml:2:11 error .*did you mean "design"\? \[unknown_phase\]/,
  );
  expect((await plan("run", "plan.json")).stderr).toContain("[plan_invalid]");
  writeFileSync(file, "phases:\n  design: { checks: [[npm, test]], network: true }\n");
  expect((await plan("validate", "plan.checks.yaml")).stdout).toContain("[unknown_property]");
  writeFileSync(file, "phases:\n  design: { checks: [[npm, test]] }\n");
  expect((await plan("validate", "plan.json", "plan.checks.yaml")).stdout).toBe(
    "plan.json: valid, 4 phases\nplan.checks.yaml: valid\n",
  );
  if (hasSandbox) {
    const dry = await plan("run", "plan.json", "--dry-run");
    expect(dry.stdout).toContain("check npm test: needs your consent");
    const refused = await plan("run", "plan.json");
    expect(refused).toMatchObject({ code: 2 });
    expect(refused.stderr).toContain("--allow 'run_command(npm test)'");
    writeFileSync(file, "phases:\n  design: { checks: [[/bin/sh, -c, 'exit 0']] }\n");
    const allowed = await plan("run", "plan.json", "--permission", "auto");
    expect(allowed).toMatchObject({ code: 0 });
  }
});

it.skipIf(!hasSandbox)(
  "[PLANRUN-20] runs the checks that a run began with, whatever becomes of their file",
  async () => {
    const { plan, cwd, env } = folderOf([phase("build")]);
    const file = join(cwd, "plan.checks.yaml");
    writeFileSync(file, "all: [[test, -f, right]]\n");
    const server = await startModelServer({
      answer: () => {
        writeFileSync(file, "all: [['true']]\n");
        return { content: "I changed the checks." };
      },
    });
    const model = ["--model", "openai:gpt-test"];
    Object.assign(env, server.env("openai"));
    const ran = await plan("run", "plan.json", "--permission", "auto", ...model, "--json");
    expect(ran.code).toBe(1);
    expect(server.requests()).toHaveLength(3);
    const { session_id, phases } = JSON.parse(ran.stdout) as RunDetail;
    expect(phases[0]?.error).toMatchObject({ code: "check_failed" });
    rmSync(file);
    expect(await plan("retry", session_id)).toMatchObject({ code: 1 });
    expect(server.requests()).toHaveLength(6);
  },
);

it("[PLANRUN-26] refuses artifacts that could not be written, and schemas that nobody knows", async () => {
  const writing = (...paths: readonly string[]) =>
    folderOf(
      paths.map((path, at) => ({
        ...phase(`p${at}`),
        expected_artifact: { path, schema: "dev/spec@1" },
      })),
    ).plan("run", "plan.json");
  for (const paths of [[".git/x"], ["../x"], [".vscode/tasks.json"], ["a.json", "A.json"]]) {
    expect((await writing(...paths)).stderr).toContain("[plan_invalid]");
  }
  const unknown = { ...phase("a"), expected_artifact: { path: "a.json", schema: "team/x@1" } };
  const { plan } = folderOf([unknown]);
  expect((await plan("run", "plan.json", "--dry-run")).stderr).toContain("[schema_unknown]");
  expect((await plan("runs")).stdout).toBe("");
});
