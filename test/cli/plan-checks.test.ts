import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import type { RunDetail } from "../../src/core/schemas/plan-run-schemas.ts";
import { createSandboxProbe } from "../../src/workspace/sandbox/probe.ts";
import { callProgram } from "../helpers/call-program.ts";
import { phase } from "../helpers/plan-bench.ts";
import { freshHome } from "../helpers/reprise.ts";
import { temporaryFolder } from "../helpers/temp.ts";
import { openTerminal } from "../helpers/terminal.ts";

const hasSandbox = (await createSandboxProbe()()).bubblewrap !== null;

/** A folder with a plan of one phase in `plan.json`, and the command line in it, with the demo as the model. */
function folderOfPlan() {
  const cwd = temporaryFolder();
  const plan = { runId: crypto.randomUUID(), phaseKey: "planning", phases: [phase("build")] };
  writeFileSync(join(cwd, "plan.json"), JSON.stringify(plan));
  const env: Record<string, string> = { HOME: temporaryFolder(), REPRISE_MODEL: "demo" };
  const call = (...args: string[]) => callProgram(args, { script: "reprise", cwd, env });
  return { cwd, call, plan: (...args: string[]) => call("plan", ...args) };
}

it.skipIf(!hasSandbox)(
  "[PLANRUN-24] names a rule that permits the check, also one whose words need quotes",
  async () => {
    const { cwd, plan } = folderOfPlan();
    writeFileSync(join(cwd, "plan.checks.yaml"), "all: [[/bin/sh, -c, \"echo 'x y' | read x\"]]\n");
    const refused = await plan("run", "plan.json");
    expect(refused).toMatchObject({ code: 2 });
    const advised = /--allow ('.*') for each/.exec(refused.stderr)?.[1] ?? "";
    // what a shell makes of the word
    const rule = advised.slice(1, -1).replaceAll("'\\''", "'");
    expect(await plan("run", "plan.json", "--allow", rule)).toMatchObject({ code: 0 });
  },
);

it.skipIf(!hasSandbox)("[PLANRUN-24] advises no rule if none can name the check", async () => {
  const { cwd, plan } = folderOfPlan();
  writeFileSync(join(cwd, "plan.checks.yaml"), "all: [[A=1]]\n");
  const { code, stderr } = await plan("run", "plan.json");
  expect(code).toBe(2);
  expect(stderr).toContain("No rule can name it, so use --permission auto. [invalid_usage]");
});

it.skipIf(!hasSandbox)(
  "[PLANRUN-23] [PLANRUN-14] a run in a folder that is not trusted continues with --trust, and says why without",
  async () => {
    const { cwd, plan } = folderOfPlan();
    writeFileSync(join(cwd, "AGENTS.md"), "Be kind.\n");
    writeFileSync(join(cwd, "plan.checks.yaml"), "all: [[/bin/sh, -c, 'exit 3']]\n");
    const ran = await plan("run", "plan.json", "--permission", "auto", "--trust", "--json");
    expect(ran).toMatchObject({ code: 1 });
    const { session_id } = JSON.parse(ran.stdout) as RunDetail;
    expect(ran.stderr).toContain(
      `Try its failed phases again with: reprise plan retry ${session_id}`,
    );
    expect(ran.stderr).not.toContain("plan resume");
    expect((await plan("retry", session_id)).stderr).toContain("[folder_not_trusted]");
    const resumed = await plan("resume", session_id, "--trust", "--json");
    const { phases } = JSON.parse(resumed.stdout) as RunDetail;
    expect(phases[0]).toMatchObject({ attempt: 2, error: { code: "check_failed" } });
    expect(await plan("retry", session_id, "--trust")).toMatchObject({ code: 1 });
  },
);

it.skipIf(!hasSandbox)(
  "[PLANRUN-14] [PLANRUN-24] ends with 1 and runs nothing if the person does not let the checks be run",
  async () => {
    const home = freshHome({ REPRISE_MODEL: "demo" });
    const plan = { runId: crypto.randomUUID(), phaseKey: "planning", phases: [phase("build")] };
    writeFileSync(join(home.project, "plan.json"), JSON.stringify(plan));
    writeFileSync(join(home.project, "plan.checks.yaml"), "all: [[npm, test]]\n");
    const terminal = openTerminal(home, "reprise plan run plan.json");
    await terminal.shows(/without a network\? \[y\/N\]/);
    terminal.type("n\r");
    const { code, screen } = await terminal.finished;
    expect(code).toBe(1);
    expect(screen).toContain("Nothing was run: you did not let its checks be run.");
    expect((await home.call(["plan", "runs"])).stdout).toBe("");
  },
);

it.skipIf(!hasSandbox)("[PLANRUN-24] advises for a copied run what plan resume takes", async () => {
  const { cwd, call, plan } = folderOfPlan();
  writeFileSync(join(cwd, "plan.checks.yaml"), "all: [[/bin/sh, -c, 'exit 3']]\n");
  const ran = await plan("run", "plan.json", "--permission", "auto", "--json");
  const { session_id } = JSON.parse(ran.stdout) as RunDetail;
  const copy = ["--database", join(temporaryFolder(), "copy.db")];
  expect(await call("copy", "--to", copy[1] ?? "")).toMatchObject({ code: 0 });
  const { code, stderr } = await plan("resume", session_id, ...copy);
  expect(code).toBe(2);
  expect(stderr).toContain("or continue the run in a terminal, which asks.");
  expect(stderr).not.toContain("--permission");
});

it("[PLANRUN-25] does not leave out checks that are a link to nothing", async () => {
  const { cwd, plan } = folderOfPlan();
  symlinkSync("missing.yaml", join(cwd, "plan.checks.yaml"));
  expect((await plan("run", "plan.json", "--dry-run")).stderr).toContain("[file_unreadable]");
  expect(await plan("validate", "plan.json")).toMatchObject({ code: 1 });
});
