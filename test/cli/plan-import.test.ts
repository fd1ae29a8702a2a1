import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import type { PhasePlan } from "../../src/artifacts/plans/phase-plan.ts";
import { planOf, REAL_PLANS, textOf } from "../helpers/artifacts/real-plans.ts";
import { callProgram } from "../helpers/call-program.ts";
import { temporaryFolder } from "../helpers/temp.ts";

function folderWith(files: Readonly<Record<string, string>>) {
  const cwd = temporaryFolder();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(cwd, name, ".."), { recursive: true });
    writeFileSync(join(cwd, name), text);
  }
  const env = { HOME: temporaryFolder(), REPRISE_MODEL: "demo" };
  const call = (args: readonly string[], input = "") =>
    callProgram(["plan", ...args], { script: "reprise", cwd, env, input });
  return { cwd, call };
}

const TASKS = "- [x] T001 Done\n- [ ] T002 Build it\n- [ ] T003 [P] Test it\n";

it("[PLANRUN-60] prints a plan with a fresh runId that names the specification, and says what it left out", async () => {
  const { call } = folderWith({ "specs/001/tasks.md": TASKS, "specs/001/spec.md": "what" });
  const printed = await call(["import", "--from", "spec-kit", "specs/001/tasks.md"]);
  expect(printed).toMatchObject({ code: 0, stderr: "note: left out, done: T001\n" });
  const plan = JSON.parse(printed.stdout) as PhasePlan;
  expect(plan.phases.map(({ key, role }) => [key, role])).toEqual([
    ["t002", "assistant"],
    ["t003", "assistant"],
  ]);
  expect(plan.phases[0]?.instructions).toContain("Read first: specs/001/spec.md");
  const again = await call(["import", "--from", "spec-kit", "-"], TASKS);
  expect((JSON.parse(again.stdout) as PhasePlan).runId).not.toBe(plan.runId);
  expect(await call(["validate", "-"], printed.stdout)).toMatchObject({ code: 0 });
});

it("[PLANRUN-60] writes a new file as a whole, and replaces none", async () => {
  const { cwd, call } = folderWith({ "tasks.md": TASKS, "there.json": "mine" });
  const args = ["import", "--from", "spec-kit", "tasks.md", "--out"];
  expect((await call([...args, "plan.json"])).stderr).toContain(
    "plan.json has 2 phases; `reprise plan run` runs it",
  );
  expect(await call(["show", "plan.json"])).toMatchObject({ code: 0 });
  const refused = await call([...args, "there.json"]);
  expect(refused).toMatchObject({ code: 2, stdout: "" });
  expect(refused.stderr).toContain("there.json is there already; name another file.");
  expect(readFileSync(join(cwd, "there.json"), "utf8")).toBe("mine");
  expect((await call([...args, "none/plan.json"])).stderr).toContain("[file_unwritable]");
  expect(readdirSync(cwd).toSorted()).toEqual(["plan.json", "tasks.md", "there.json"]);
});

it("[PLANRUN-60] names a role that is not a persona, with what to do", async () => {
  const { call } = folderWith({ "tasks.md": TASKS, ".reprise/personas/writer.md": "You write.\n" });
  const args = ["import", "--from", "spec-kit", "tasks.md", "--role"];
  const unknown = await call([...args, "painter"]);
  expect(unknown.code).toBe(0);
  expect(unknown.stderr).toContain(
    'note: no persona is named "painter"; make .reprise/personas/painter.md before you run the plan, or import it with --role assistant',
  );
  expect((await call([...args, "writer"])).stderr).not.toContain("no persona");
});

it("[PLANRUN-64] refuses a file with each problem on its line, and writes nothing", async () => {
  const { cwd, call } = folderWith({
    "tasks.json": '{"tasks": [\n {"id": 1, "title": "a", "dependencies": [2]},\n {"id": 2}\n]}',
    "empty.md": "",
    "latin.md": "- [ ] 1. ok\n",
  });
  writeFileSync(join(cwd, "latin.md"), Buffer.from("- [ ] 1. caf\xe9\n", "latin1"));
  const refused = await call(["import", "--from", "taskmaster", "tasks.json", "--out", "p.json"]);
  expect(refused).toMatchObject({ code: 1, stdout: "" });
  expect(refused.stderr).toBe(
    "reprise: No plan can be made of this file: [plan_invalid]\n  tasks.json:3: 2 has no text; write what is to be done, or remove it\n",
  );
  expect(readdirSync(cwd)).not.toContain("p.json");
  expect((await call(["import", "--from", "kiro", "empty.md"])).stderr).toContain(
    "empty.md:1: the file is empty",
  );
  expect((await call(["import", "--from", "kiro", "latin.md"])).stderr).toContain(
    "latin.md:1: the bytes here are not UTF-8",
  );
  expect((await call(["import", "--from", "kiro", "none.md"])).stderr).toContain(
    "[file_unreadable]",
  );
  expect((await call(["import", "--from", "jira", "tasks.json"])).code).toBe(2);
  expect((await call(["import", "tasks.json"])).stderr).toContain("--from");
});

it.each(REAL_PLANS)("[PLANRUN-60] imports $file, shows it and draws it", async (real) => {
  const { call } = folderWith({ [real.file]: textOf(real) });
  await call(["import", "--from", real.format, real.file, "--out", "plan.json"]);
  const { phases } = planOf(real);
  const shown = await call(["show", "plan.json"]);
  expect(shown).toMatchObject({ code: 0, stderr: "" });
  expect(shown.stdout).toMatch(new RegExp(`^${phases.length} phases? in `));
  const drawn = await call(["graph", "plan.json"]);
  expect(phases.filter(({ key }) => !drawn.stdout.includes(key))).toEqual([]);
});
