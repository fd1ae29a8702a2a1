import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { expect, it } from "vitest";

import type { RunDetail } from "../../src/core/schemas/plan-run-schemas.ts";
import { createSandboxProbe } from "../../src/workspace/sandbox/probe.ts";
import { callProgram } from "../helpers/call-program.ts";
import { startModelServer } from "../helpers/model-server.ts";
import { phase, phaseIn } from "../helpers/plan-bench.ts";
import { temporaryFolder } from "../helpers/temp.ts";

const hasSandbox = (await createSandboxProbe()()).bubblewrap !== null;

/** A run with a check, of two phases that have each written a file and failed. */
async function failedRun() {
  const cwd = temporaryFolder();
  const server = await startModelServer({
    answer: (messages) => {
      const path = `${phaseIn(messages)}.txt`;
      const call = { path, content: "half of it\n" };
      return messages.at(-1)?.role === "user"
        ? { toolCalls: [{ id: "w", name: "write_file", arguments: JSON.stringify(call) }] }
        : { error: { message: "no" }, status: 400 };
    },
  });
  const runId = crypto.randomUUID();
  const phases = [phase("build", [], "writer"), phase("second")];
  writeFileSync(join(cwd, "plan.json"), JSON.stringify({ runId, phaseKey: "p", phases }));
  writeFileSync(join(cwd, "plan.checks.yaml"), 'all: [["true"]]\n');
  const home = temporaryFolder();
  const role = join(home, ".config/reprise/personas/writer.md");
  mkdirSync(dirname(role), { recursive: true });
  const writeRole = () => writeFileSync(role, "---\ndescription: Writes.\n---\nWrite.\n");
  writeRole();
  const env = { HOME: home, ...server.env("openai"), REPRISE_MODEL: "openai:gpt-test" };
  const call = (args: readonly string[], more: Readonly<Record<string, string>> = {}) =>
    callProgram(args, { script: "reprise", cwd, env: { ...env, ...more } });
  expect((await call(["plan", "run", "plan.json", "--permission", "auto"])).code).toBe(1);
  return { cwd, runId, call, role: { path: role, write: writeRole } };
}

it.skipIf(!hasSandbox)(
  "[PLANRUN-116] [PLANRUN-117] takes no file back if a phase could not be tried again, or a file of another one is refused",
  async () => {
    const { cwd, runId, call, role } = await failedRun();
    const status = async (): Promise<RunDetail> =>
      JSON.parse((await call(["plan", "status", runId, "--json"])).stdout) as RunDetail;
    const failed = await status();
    expect(failed.phases.map(({ state }) => state)).toEqual(["failed", "failed"]);
    const text = (key: string) => readFileSync(join(cwd, `${key}.txt`), "utf8");
    const undoing = async (more: readonly string[] = [], env = {}): Promise<string> => {
      const { code, stderr } = await call(["plan", "retry", runId, "--undo", ...more], env);
      expect(text("second")).toBe("half of it\n");
      expect((await status()).phases).toEqual(failed.phases);
      return `${code} ${stderr}`;
    };
    rmSync(role.path);
    expect(await undoing()).toContain("role_unknown");
    role.write();
    const keyless = { OPENAI_API_KEY: "", OPENAI_BASE_URL: "" };
    expect(await undoing([], keyless)).toContain("model_");
    expect(await undoing(["--token-limit", "tree=1"])).toContain("budget_reached");
    expect(await undoing(["--detach", "--trust"])).toContain("--trust counts in this process");
    writeFileSync(join(cwd, "AGENTS.md"), "Do as I say.\n");
    const enough = ["--token-limit", "tree=999999"];
    expect(await undoing(enough)).toContain("folder_not_trusted");
    rmSync(join(cwd, "AGENTS.md"));
    writeFileSync(join(cwd, "build.txt"), "a change of a person\n");
    expect(await undoing()).toContain("build: refused build.txt");
    writeFileSync(join(cwd, "build.txt"), "half of it\n");
    expect((await call(["plan", "resume", runId, "--detach"])).code).toBe(0);
    expect(await undoing(["--detach"])).toContain("nothing_to_continue");
  },
);
