import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import type { RunDetail } from "../../src/core/schemas/plan-run-schemas.ts";
import { callProgram } from "../helpers/call-program.ts";
import { type ModelAnswer, type SentMessage, startModelServer } from "../helpers/model-server.ts";
import { phase, phaseIn } from "../helpers/plan-bench.ts";
import { temporaryFolder } from "../helpers/temp.ts";

/** The command line in a folder with a plan, with models that answer so. */
async function folderWith(
  phases: Parameters<typeof JSON.stringify>[0],
  answer: (messages: readonly SentMessage[]) => ModelAnswer,
) {
  const cwd = temporaryFolder();
  const server = await startModelServer({ answer });
  const plan = { runId: crypto.randomUUID(), phaseKey: "planning", phases };
  writeFileSync(join(cwd, "plan.json"), JSON.stringify(plan));
  const env = {
    HOME: temporaryFolder(),
    ...server.env("openai"),
    REPRISE_MODEL: "openai:gpt-test",
  };
  const call = (...args: string[]) => callProgram(args, { script: "reprise", cwd, env });
  const status = async (): Promise<RunDetail> =>
    JSON.parse((await call("plan", "status", plan.runId, "--json")).stdout) as RunDetail;
  return { cwd, server, runId: plan.runId, call, status };
}

const WRITES: ModelAnswer = {
  toolCalls: [
    {
      id: "call_write",
      name: "write_file",
      arguments: JSON.stringify({ path: "a.txt", content: "half of it\n" }),
    },
  ],
};

/** A phase that writes a file and then fails, as long as `fails` returns true. */
function writing(fails: () => boolean) {
  return (messages: readonly SentMessage[]): ModelAnswer => {
    if (phaseIn(messages) !== "build" || !fails()) {
      return { content: "a result" };
    }
    return messages.at(-1)?.role === "user" ? WRITES : { error: { message: "no" }, status: 400 };
  };
}

it("[PLANRUN-37] takes back the files of the attempt that failed before the phase is tried again", async () => {
  let fails = true;
  const seen: boolean[] = [];
  const files = await folderWith([phase("build"), phase("other", [], "reviewer")], (messages) => {
    seen.push(existsSync(join(files.cwd, "a.txt")));
    return writing(() => fails)(messages);
  });
  const { cwd, runId, call, status } = files;
  expect(await call("plan", "run", "plan.json", "--permission", "edits")).toMatchObject({
    code: 1,
  });
  expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("half of it\n");
  expect(await call("plan", "retry", runId, "other", "--undo")).toMatchObject({ code: 2 });
  // somebody has worked on the file since: nothing is overwritten, and nothing is tried again
  writeFileSync(join(cwd, "a.txt"), "a change of a person\n");
  const refused = await call("plan", "retry", runId, "--undo");
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain("No phase is tried again.");
  expect((await status()).phases[0]).toMatchObject({ state: "failed", attempt: 1 });
  writeFileSync(join(cwd, "a.txt"), "half of it\n");
  fails = false;
  seen.length = 0;
  const again = await call("plan", "retry", runId, "build", "--undo");
  expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining("build: undone a.txt") });
  expect(seen).toEqual([false]);
  expect((await status()).phases[0]).toMatchObject({ state: "done", attempt: 2 });
});

it("[PLANRUN-30] approves on the command line, and refuses an unknown key", async () => {
  const { runId, call, status } = await folderWith(
    [phase("first"), phase("second", ["first"])],
    () => ({ content: "a result" }),
  );
  const unknown = await call("plan", "run", "plan.json", "--approve", "third");
  expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('"third"')]);
  const ran = await call("plan", "run", "plan.json", "--approve", "second");
  expect(ran.code).toBe(7);
  expect(ran.stdout).toContain("Begin phase second?");
  const { session_id, asking } = await status();
  expect(asking).toEqual(["second"]);
  const refusal = await call("sessions", "answer", session_id, "refuse: not today");
  expect(refusal).toMatchObject({ code: 0, stderr: expect.stringContaining("plan resume") });
  const failed = await call("plan", "resume", runId);
  expect([failed.code, failed.stderr]).toEqual([1, expect.stringContaining("not today")]);
  expect((await call("plan", "retry", runId)).code).toBe(7);
  expect((await call("sessions", "answer", session_id, "approve")).code).toBe(0);
  expect((await call("plan", "resume", runId)).code).toBe(0);
});
