import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import type { RunDetail } from "../../src/core/schemas/plan-run-schemas.ts";
import { type ModelAnswer, type SentMessage, startModelServer } from "../helpers/model-server.ts";
import { phase, phaseIn } from "../helpers/plan-bench.ts";
import { homeOfNodes, startNode } from "../helpers/service-node.ts";

const PHASES = [phase("first"), phase("second", ["first"]), phase("third", ["second"])];

/** A home with a plan, and what starts nodes for it. */
async function homeWithPlan(answer: (messages: readonly SentMessage[]) => ModelAnswer) {
  const server = await startModelServer({ answer, latencyMs: 5, chunkSize: 4 });
  const home = homeOfNodes({ ...server.env("openai"), REPRISE_MODEL: "openai:gpt-test" });
  const plan = { runId: crypto.randomUUID(), phaseKey: "planning", phases: PHASES };
  writeFileSync(join(home.project, "plan.json"), JSON.stringify(plan));
  const status = async (): Promise<RunDetail> =>
    JSON.parse((await home.call(["plan", "status", plan.runId, "--json"])).stdout) as RunDetail;
  const node = () => startNode(home, ["--repos", home.project]);
  return { server, home, runId: plan.runId, status, node };
}

it("[PLANRUN-38] [PLANRUN-39] a service runs a detached plan, another one continues it after a kill -9, and a command that watches shows it", async () => {
  const second = Promise.withResolvers<void>();
  let calls = 0;
  const { server, home, runId, status, node } = await homeWithPlan((messages) => {
    if (phaseIn(messages) === "second") {
      second.resolve();
      calls += 1;
    }
    // of which a process that is killed gets only the beginning
    return { content: calls === 1 ? "word ".repeat(2000) : `what ${phaseIn(messages)} has left` };
  });
  const detached = await home.call(["plan", "run", "plan.json", "--detach", "--approve", "third"]);
  expect(detached).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Queued: run /) });
  expect(detached.stderr).toContain("No running service takes it.");
  expect((await home.call(["plan", "run", "plan.json", "--detach"])).code).toBe(6);
  const refused = await home.call(["plan", "resume", runId, "--detach"]);
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringContaining("[nothing_to_continue]"),
  ]);
  const allowed = ["plan", "resume", runId, "--detach", "--allow", "run_command(ls)"];
  expect((await home.call(allowed)).code).toBe(2);
  const watching = home.start(["plan", "status", runId, "--watch"]);
  const first = await node();
  await second.promise;
  await first.service.stop("SIGKILL");
  const other = await node();
  const watched = await watching.finished;
  expect(watched.code).toBe(7);
  expect(watched.stdout).toContain("first: done");
  expect(watched.stdout).toContain("Begin phase third?");
  const { session_id } = await status();
  // what waits for an answer cannot be continued without one
  expect((await home.call(["plan", "resume", runId, "--detach"])).code).toBe(7);
  const again = home.start(["plan", "status", runId, "--watch", "--json"]);
  expect(await again.finished).toMatchObject({ code: 7 });
  await home.call(["sessions", "answer", session_id, "approve"]);
  expect(await other.ended(session_id)).toBe("done");
  expect((await home.call(["plan", "status", runId, "--watch"])).code).toBe(0);
  expect(server.requests().map(phaseIn)).toEqual(["first", "second", "second", "third"]);
  expect((await home.call(["sessions", "verify"])).code).toBe(0);
});

it("[CLI-202] [PLANRUN-120] lists show a run by the titles of its phases and mark it with [plan], beside its model", async () => {
  const { home } = await homeWithPlan(() => ({ content: "nothing" }));
  expect((await home.call(["plan", "run", "plan.json", "--detach"])).code).toBe(0);
  const { stdout } = await home.call(["sessions", "list"]);
  expect(stdout).toMatch(
    /openai:gpt-test +Title of first; Title of second(?:; Title of third)? {2}\[plan\]$/m,
  );
  const table = await home.call(["sessions", "list"], { terminal: true, columns: 160 });
  expect(table.stdout).toMatch(/Title of first; .*\[plan\].*openai:gpt-test/);
});
