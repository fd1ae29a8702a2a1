import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import type { Phase } from "../../src/artifacts/plans/phase-plan.ts";
import type { RunDetail } from "../../src/core/schemas/plan-run-schemas.ts";
import { callProgram } from "../helpers/call-program.ts";
import { type ModelAnswer, type SentMessage, startModelServer } from "../helpers/model-server.ts";
import { phase } from "../helpers/plan-bench.ts";
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
