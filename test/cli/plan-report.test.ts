import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import type { RunDetail } from "../../src/core/schemas/plan-run-schemas.ts";
import { callProgram } from "../helpers/call-program.ts";
import { startModelServer } from "../helpers/model-server.ts";
import { phase, phaseIn } from "../helpers/plan-bench.ts";
import { temporaryFolder } from "../helpers/temp.ts";

it("[PLANRUN-45] [PLANRUN-47] [PLANRUN-123] reports what each phase used and changed, over all its attempts, and what was undone", async () => {
  let fails = true;
  const server = await startModelServer({
    answer: (messages) => {
      const usage = { prompt_tokens: 100, completion_tokens: 10 };
      if (phaseIn(messages) === "build" && messages.at(-1)?.role === "user") {
        const args = { path: fails ? "made/first.txt" : "second.txt", content: "made" };
        const call = { id: "call_1", name: "write_file", arguments: JSON.stringify(args) };
        return { toolCalls: [call], usage };
      }
      return fails && phaseIn(messages) === "build"
        ? { error: { message: "no" }, status: 400 }
        : { content: "a result", usage };
    },
  });
  const cwd = temporaryFolder();
  const phases = [phase("design", [], "reviewer"), phase("build", ["design"])];
  const runId = crypto.randomUUID();
  writeFileSync(join(cwd, "plan.json"), JSON.stringify({ runId, phaseKey: "planning", phases }));
  const env = {
    HOME: temporaryFolder(),
    ...server.env("openai"),
    REPRISE_MODEL: "openai:gpt-test",
  };
  const call = (...args: string[]) => callProgram(args, { script: "reprise", cwd, env });
  const report = async (): Promise<RunDetail> => {
    const { stdout } = await call("plan", "report", runId, "--json");
    return JSON.parse(stdout) as RunDetail;
  };
  expect((await call("plan", "run", "plan.json", "--permission", "all")).code).toBe(1);
  const failed = await report();
  expect(failed.phases).toMatchObject([
    { key: "design", model: "openai:gpt-test", files: [], usage: { calls: 1, output_tokens: 10 } },
    {
      key: "build",
      usage: { calls: 1, input_tokens: 100 },
      files: [{ path: "made/first.txt", undone: false }],
      files_changed: 1,
      error: { code: "model_failed" },
    },
  ]);
  fails = false;
  expect((await call("plan", "retry", runId)).code).toBe(0);
  const done = await report();
  expect(done.phases[1]).toMatchObject({
    attempt: 2,
    usage: { calls: 3, input_tokens: 300 },
    files_changed: 2,
  });
  const { stdout: markdown } = await call("plan", "report", runId);
  expect(markdown).toContain(
    "| `build` | `Title of build` | `assistant` | `openai:gpt-test` | done | 2 | 300 | 30 | unknown |  | 2 |",
  );
  expect(markdown).toContain("\n- 400 tokens in, 40 tokens out, cost unknown\n");
  expect(markdown).toMatch(/- done, from \S+Z, until \S+Z, \d+\.\d s\n/);
  expect(markdown).toContain("  - `made/first.txt`\n  - `second.txt`\n");
  expect((await call("sessions", "undo", done.session_id, "--exchange", "1")).code).toBe(0);
  expect((await report()).phases[1]?.files).toEqual([
    { path: "made/first.txt", undone: true },
    { path: "second.txt", undone: false },
  ]);
  expect((await call("plan", "report", runId)).stdout).toContain("  - `made/first.txt`, undone\n");
  expect((await call("plan", "status", runId, "--json")).stdout).toBe(
    (await call("plan", "report", runId, "--json")).stdout,
  );
});
