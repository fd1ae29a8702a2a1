import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import type { Phase } from "../../src/artifacts/plans/phase-plan.ts";
import type { RunDetail } from "../../src/core/schemas/plan-run-schemas.ts";
import { createSandboxProbe } from "../../src/workspace/sandbox/probe.ts";
import { callProgram } from "../helpers/call-program.ts";
import { type ModelAnswer, type SentMessage, startModelServer } from "../helpers/model-server.ts";
import { DIAMOND, phase, phaseIn } from "../helpers/plan-bench.ts";
import { temporaryFolder } from "../helpers/temp.ts";

const { bubblewrap } = await createSandboxProbe()();

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

it.skipIf(bubblewrap === null)(
  "[PLANRUN-75] [PLANRUN-76] keeps what the checks of a failed phase did through another attempt, and reports it",
  async () => {
    const folder = await folderWith([phase("build")]);
    const file = join(folder.cwd, "plan.checks.yaml");
    writeFileSync(file, "all: [[/usr/bin/test, -d, .], [/bin/sh, -c, 'kill -9 $$']]\n");
    const ran = await folder.plan("run", "plan.json", "--permission", "auto", "--retries", "1");
    expect(ran.code).toBe(1);
    const run = await folder.status();
    expect(run).toMatchObject({
      checks: {
        all: [
          ["/usr/bin/test", "-d", "."],
          ["/bin/sh", "-c", "kill -9 $$"],
        ],
      },
      checks_consent: { who: expect.stringMatching(/@/) as string },
    });
    expect(run.phases[0]).toMatchObject({
      attempt: 2,
      checked: {
        attempt: 2,
        corrections: 2,
        commands: [
          {
            argv: ["/usr/bin/test", "-d", "."],
            code: 0,
            ms: expect.any(Number) as number,
            failure: null,
          },
          { code: 137, failure: "exit code 137" },
        ],
      },
    });
    expect((await folder.plan("retry", folder.runId)).code).toBe(1);
    expect((await folder.status()).phases[0]).toMatchObject({
      attempt: 3,
      checked: { attempt: 3 },
    });
    const { stdout } = await folder.plan("report", folder.runId);
    expect(stdout).toMatch(/\| unknown \| failed \| 0 \|\n/);
    expect(stdout).toMatch(/- checks let run by `\S+@\S+`, 20/);
    expect(stdout).toContain("- checks of attempt 3, after 2 corrections:\n");
    expect(stdout).toMatch(/ {2}- `\/usr\/bin\/test -d \.`: exit code 0, \d+ ms\n/);
  },
);

it("[PLANRUN-77] says who approved a phase", async () => {
  const { plan, call, status } = await folderWith([phase("build")]);
  expect((await plan("run", "plan.json", "--approve", "all")).code).toBe(7);
  const { session_id } = await status();
  await call("sessions", "answer", session_id, "approve");
  await plan("resume", session_id);
  const who = expect.stringMatching(/^\S+@\S+$/) as string;
  expect((await status()).phases[0]?.approvals).toMatchObject([{ answer: "approve", who }]);
  expect((await plan("report", session_id)).stdout).toMatch(
    /- attempt 1 approved by `\S+@\S+` from a (terminal|command), 20/,
  );
});

it("[PLANRUN-78] shows each phase in 80 columns: state, session, time, tokens and what it did last, without what a terminal would obey", async () => {
  const phases = [
    phase("reading"),
    { ...phase(`long-${"x".repeat(40)}`, ["reading"]), title: "A title ".repeat(20) },
    phase("last", [`long-${"x".repeat(40)}`]),
  ];
  const { plan, status } = await folderWith(phases, (messages) => {
    const key = phaseIn(messages);
    if (key === "last") {
      return { error: { message: "a sentence that is longer ".repeat(9) }, status: 400 };
    }
    const usage = { prompt_tokens: 1000, completion_tokens: 234 };
    return { content: `done\u001b[31m with\n${key ?? ""} ${"word ".repeat(100)}`, usage };
  });
  const ran = await plan("run", "plan.json");
  expect(ran.stdout).toMatch(/reading: done, .* \[\d+ s, 1\.2k tokens\]\n/);
  const { phases: shown, session_id, run_id } = await status();
  expect(shown[0]?.last_action).toMatchObject({
    kind: "message",
    text: expect.stringMatching(/^done␛\[31m with reading word/) as string,
  });
  const { stdout } = await plan("status", session_id);
  const lines = stdout.trimEnd().split("\n");
  expect(lines).toHaveLength(6);
  for (const line of lines.slice(0, 4)) {
    expect(line.length).toBeLessThanOrEqual(80);
  }
  const id = shown[0]?.session_id?.slice(0, 8) ?? "";
  expect(lines[1]).toMatch(
    new RegExp(`^ {2}reading +done +${id} +\\d+ s +1\\.2k tok +done␛\\[31m with .*…$`),
  );
  expect(lines[2]).toMatch(/^ {2}long-x+… /);
  expect(lines[4]?.length).toBeGreaterThan(200);
  expect(lines[5]).toBe(`plan ${run_id}`);
});

it("[PLANRUN-78] shows the beginning of a long title, outside a terminal and in a dry run too", async () => {
  const title = `Begin ${"x".repeat(10_000)}`;
  const { plan } = await folderWith([{ ...phase("build"), title }, phase("test")]);
  for (const args of [["--dry-run"], []]) {
    const { code, stdout } = await plan("run", "plan.json", ...args);
    expect(code).toBe(0);
    expect(stdout).toContain("Begin xxx");
    expect(Math.max(...stdout.split("\n").map((line) => line.length))).toBeLessThan(150);
  }
});

it("[PLANRUN-79] runs some phases with those that they depend on, from a copy of the plan that has no others", async () => {
  const { plan, server, status } = await folderWith(DIAMOND);
  const dry = await plan("run", "plan.json", "--only", "docs", "--dry-run");
  expect(dry.stdout).toMatch(/^wave 1 +design .*\nwave 2 +docs .*\nNothing was stored/);
  const unknown = await plan("run", "plan.json", "--only", "dcos");
  expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('"dcos"')]);
  const approving = await plan("run", "plan.json", "--only", "docs", "--approve", "build");
  expect(approving.code).toBe(2);
  expect((await plan("run", "plan.json", "--only", "docs", "--only", "design")).code).toBe(0);
  expect(server.requests().map(phaseIn)).toEqual(["design", "docs"]);
  const run = await status();
  expect(run).toMatchObject({ state: "done", phases_total: 2 });
  expect(run.plan.phases.map(({ key }) => key)).toEqual(["design", "docs"]);
  expect((await plan("run", "plan.json")).code).toBe(6);
  expect((await plan("run", "plan.json", "--again")).code).toBe(0);
});

it("[PLANRUN-80] a limit of the tree ends a run and leaves its phases, and `plan resume` with a higher one continues it", async () => {
  const { plan, server, status } = await folderWith(DIAMOND);
  const limited = await plan("run", "plan.json", "--token-limit", "tree=1300");
  expect([limited.code, limited.stderr]).toEqual([1, expect.stringContaining("[budget_reached]")]);
  const states = (await status()).phases.map(({ state }) => state);
  expect(states).toContain("done");
  expect(states).not.toContain("failed");
  const calls = server.requests().length;
  const still = await plan("resume", (await status()).session_id);
  expect(still.stderr).toContain("[budget_reached]");
  expect(server.requests()).toHaveLength(calls);
  const { session_id } = await status();
  expect((await plan("resume", session_id, "--token-limit", "tree=100000")).code).toBe(0);
  expect(server.requests().map(phaseIn)).toEqual(["design", "build", "docs", "check"]);
});

it("[PLANRUN-81] refuses a price limit with a model whose price nobody knows, and a key that is too long, before anything is stored", async () => {
  const priced = await folderWith(DIAMOND);
  const refused = await priced.plan("run", "plan.json", "--price-limit", "tree=1");
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("[price_unknown]")]);
  const long = await folderWith([phase("x".repeat(201))]);
  const named = await long.plan("run", "plan.json");
  expect([named.code, named.stderr]).toEqual([2, expect.stringContaining("201 characters")]);
  expect((await priced.plan("runs")).stdout + (await long.plan("runs")).stdout).toBe("");
  const longest = await folderWith([phase("x".repeat(200))]);
  expect((await longest.plan("run", "plan.json", "--approve", "all")).code).toBe(7);
  const { session_id } = await longest.status();
  await longest.call("sessions", "answer", session_id, "approve");
  expect((await longest.plan("resume", session_id)).code).toBe(0);
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
