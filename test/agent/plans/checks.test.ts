import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";

import { expect, it, onTestFinished, vi } from "vitest";

import { createCommandSandbox } from "../../../src/agent/sandbox/command-sandbox.ts";
import type { Phase } from "../../../src/artifacts/plans/phase-plan.ts";
import type { PhaseChecked, PlanChecks } from "../../../src/core/plan-runs.ts";
import { undoExchange } from "../../../src/exchange/undo/undo-exchange.ts";
import { markdownReport } from "../../../src/plans/markdown-report.ts";
import { readRunDetail } from "../../../src/plans/run-detail.ts";
import { exportText } from "../../../src/store/portable/export-text.ts";
import { importTree } from "../../../src/store/portable/import-tree.ts";
import { parseExport } from "../../../src/store/portable/parse.ts";
import { readSessionTree } from "../../../src/store/portable/read-tree.ts";
import { readFileChanges } from "../../../src/store/records/file-changes/read.ts";
import { acceptChecks } from "../../../src/store/records/plans/create-run.ts";
import { readRun } from "../../../src/store/records/plans/read-runs.ts";
import type { Operation } from "../../../src/store/store.ts";
import { localPrincipal } from "../../../src/core/principal.ts";
import { createSandboxProbe } from "../../../src/workspace/sandbox/probe.ts";
import { createKeptBytes } from "../../../src/workspace/undo/kept-bytes.ts";
import { describeEngine, type TestDatabase } from "../../helpers/engines.ts";
import { type ModelAnswer, startModelServer } from "../../helpers/model-server.ts";
import {
  handingIn,
  phase,
  PlanBench,
  phaseIn,
  reportFolder,
  reporting,
  storeRun,
} from "../../helpers/plan-bench.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

const { bubblewrap } = await createSandboxProbe()();

interface CheckedRun {
  readonly checks: PlanChecks;
  /** Called with the number of the answer of the model, from 0. */
  readonly answer?: (turn: number, repo: string) => ModelAnswer;
  /** As `answer`, for several phases. */
  readonly answerOf?: (key: string, turn: number) => ModelAnswer;
  readonly phases?: readonly Phase[];
  readonly repo?: string;
  readonly hasSandbox?: boolean;
  readonly checkTimeoutMs?: number;
  /** True for a phase that has to leave a text. */
  readonly leaves?: boolean;
}

/** A run of one phase, `build`, with checks; the model writes files in the meantime. */
async function checkedRun(database: TestDatabase, given: CheckedRun) {
  const { checks, answer = () => ({ content: "built" }), hasSandbox = true } = given;
  const expected_artifact = { path: "report.txt", schema: "common/final-report@1" };
  const build = given.leaves === true ? { ...phase("build"), expected_artifact } : phase("build");
  const { answerOf = (_, turn) => answer(turn, repo), phases = [build] } = given;
  const outside = temporaryFolder();
  const { repo = join(outside, "repo") } = given;
  const state = join(outside, "state");
  mkdirSync(repo, { recursive: true });
  mkdirSync(state);
  const server = await startModelServer({
    answer: (messages) => {
      const turn = messages.filter(({ role }) => role === "assistant").length;
      return answerOf(phaseIn(messages) ?? "", turn);
    },
  });
  const kept = createKeptBytes(join(outside, "undo"));
  const env = { PATH: process.env["PATH"] };
  const sandbox = createCommandSandbox(
    { state, probe: createSandboxProbe() },
    { env, protectedPaths: [] },
  );
  const bench = await PlanBench.open(database, server, {
    kept,
    commands: {
      env,
      outputFolder: join(outside, "commands"),
      maxOutputBytes: 1_000_000,
      ...(given.checkTimeoutMs === undefined ? {} : { checkTimeoutMs: given.checkTimeoutMs }),
      ...(hasSandbox ? { sandbox } : {}),
    },
  });
  const { id } = await storeRun({ store: bench.store, phases, repo, checks });
  const row = async () => (await bench.store.read(readRun, { reference: id })).phases.at(-1);
  const prompts = () =>
    (server.requests().findLast((messages) => phaseIn(messages) === "build") ?? []).flatMap(
      ({ role, content }) => (role === "user" ? [content] : []),
    );
  return { bench, server, id, repo, kept, row, prompts };
}

async function failed(run: Awaited<ReturnType<typeof checkedRun>>): Promise<string> {
  await expect(run.bench.run(run.id)).rejects.toMatchObject({ code: "phase_failed" });
  const row = await run.row();
  expect(row).toMatchObject({ state: "failed", error_code: "check_failed" });
  return row?.error_sentence ?? "";
}

function shell(line: string): readonly string[] {
  return ["/bin/sh", "-c", line];
}

/** As if the sub-agent had handed in something else. */
const otherArtifact: Operation<string, unknown> = (tx, id) =>
  tx.db
    .updateTable("plan_phases")
    .set({ artifact_hash: "0".repeat(64) })
    .where("session_id", "=", id)
    .execute();

describeEngine("the checks of a phase", (engine) => {
  it.skipIf(bubblewrap === null)(
    "[PLANRUN-18] [PLANRUN-20] run after its sub-agent, and their results are kept",
    async () => {
      const run = await checkedRun(await engine.create(), {
        checks: {
          phases: { build: { setup: [shell("touch ready")], checks: [["test", "-f", "ready"]] } },
          all: [shell("exit 0")],
        },
      });
      expect((await run.bench.run(run.id)).state).toBe("done");
      expect(run.prompts()).toHaveLength(1);
      const checked = JSON.parse((await run.row())?.checked ?? "null") as PhaseChecked;
      expect(checked).toMatchObject({ attempt: 1, corrections: 0, artifact_hash: null });
      expect(checked.commands.map(({ argv, code }) => [argv[0], code])).toEqual([
        ["/bin/sh", 0],
        ["test", 0],
        ["/bin/sh", 0],
      ]);
    },
  );

  it.skipIf(bubblewrap === null)(
    "[PLANRUN-19] [PLANRUN-20] that do not pass go back to the sub-agent with their output, twice",
    async () => {
      const run = await checkedRun(await engine.create(), {
        checks: { phases: { build: { checks: [shell("cat answer; test -f right")] } } },
        answer: (turn, repo) => {
          writeFileSync(join(repo, "answer"), `wrong ${turn}`);
          if (turn === 2) {
            writeFileSync(join(repo, "right"), "");
          }
          return { content: "built" };
        },
      });
      expect((await run.bench.run(run.id)).state).toBe("done");
      const prompts = run.prompts();
      expect(prompts).toHaveLength(3);
      expect(prompts[1]).toMatch(/did not pass \(exit code 1\).*\n\nwrong 0$/s);
      expect(prompts[2]).toContain("wrong 1");
      const never = await checkedRun(await engine.create(), {
        checks: { all: [shell("exit 7")] },
      });
      expect(await failed(never)).toContain("exit code 7");
      expect(never.prompts()).toHaveLength(3);
      expect(JSON.parse((await never.row())?.checked ?? "null")).toMatchObject({
        attempt: 1,
        corrections: 2,
        commands: [{ code: 7, failure: "exit code 7" }],
      });
    },
  );

  it.skipIf(bubblewrap === null)(
    "[PLANRUN-75] are kept with the artifact that they were run for, and with no other one",
    async () => {
      const leaving = (text: string): ModelAnswer => handingIn(text);
      const corrected = await checkedRun(await engine.create(), {
        leaves: true,
        checks: { all: [shell("grep right report.txt")] },
        answer: (turn) =>
          turn % 2 === 1 ? { content: "built" } : leaving(turn === 0 ? "wrong" : "right"),
      });
      expect((await corrected.bench.run(corrected.id)).state).toBe("done");
      const row = await corrected.row();
      const hash = createHash("sha256").update("right").digest("hex");
      expect(row?.artifact_hash).toBe(hash);
      expect(JSON.parse(row?.checked ?? "null")).toMatchObject({
        corrections: 1,
        artifact_hash: hash,
        commands: [{ code: 0, failure: null }],
      });
      const replaced = await checkedRun(await engine.create(), {
        leaves: true,
        checks: { all: [shell("touch begun; until test -f go; do sleep 0.05; done")] },
        answer: (turn) => (turn === 0 ? leaving("first") : { content: "built" }),
      });
      const running = replaced.bench.run(replaced.id);
      await vi.waitUntil(() => existsSync(join(replaced.repo, "begun")), { timeout: 60_000 });
      await replaced.bench.store.write(otherArtifact, replaced.id);
      writeFileSync(join(replaced.repo, "go"), "");
      await expect(running).rejects.toMatchObject({ code: "phase_failed" });
      expect(await replaced.row()).toMatchObject({
        state: "failed",
        error_code: "invalid_request",
        checked: null,
      });
    },
  );

  it.skipIf(bubblewrap === null)(
    "[PLANRUN-21] have no network, and end if they write without end or start too many processes",
    async () => {
      const hostile = [
        shell(
          "node -e \"fetch('http://127.0.0.1:9').catch((e)=>process.exit(e.cause.code==='ECONNREFUSED'?0:3))\"",
        ),
        shell("yes"),
        shell("f() { f | f & }; f; sleep 60"),
      ];
      for (const argv of hostile) {
        const run = await checkedRun(await engine.create(), { checks: { all: [argv] } });
        await failed(run);
      }
    },
  );

  it.skipIf(bubblewrap === null)(
    "[PLANRUN-22] that change files are undone with the run, and a model may change what they run",
    async () => {
      const run = await checkedRun(await engine.create(), {
        checks: { all: [shell("echo changed > by-check; sh ./test.sh")] },
        answer: (turn) =>
          turn === 0
            ? {
                toolCalls: [
                  {
                    name: "write_file",
                    arguments: JSON.stringify({ path: "test.sh", content: "exit 0\n" }),
                  },
                ],
              }
            : { content: "built" },
      });
      expect((await run.bench.run(run.id)).state).toBe("done");
      const { store } = run.bench;
      const changes = await store.read(readFileChanges, { session_id: run.id, n: 1 });
      expect(
        changes.map(({ path, call_id }) => [path, call_id.replace(/^call.*/, "a call")]),
      ).toEqual([
        ["test.sh", expect.any(String)],
        ["by-check", "check:build:1:0"],
      ]);
      expect(readFileSync(join(run.repo, "by-check"), "utf8")).toBe("changed\n");
      const { kept } = run;
      const undoing = { reference: run.id, direction: "undo" } as const;
      await undoExchange({ store, kept, command: "test" }, undoing);
      expect(existsSync(join(run.repo, "by-check"))).toBe(false);
      expect(existsSync(join(run.repo, "test.sh"))).toBe(false);
    },
  );

  it.skipIf(bubblewrap === null)(
    "[PLANRUN-21] reach no program of this machine, and end with their limit of time",
    async () => {
      const heard: string[] = [];
      const listener = createServer((socket) => {
        heard.push(socket.remoteAddress ?? "");
        socket.destroy();
      });
      listener.listen(0, "127.0.0.1");
      await once(listener, "listening");
      onTestFinished(() => void listener.close());
      const address = listener.address();
      const port = typeof address === "object" ? address?.port : 0;
      const connect = `require("node:net").connect(${port}, "127.0.0.1")`;
      const outcome = `${connect}.on("error", () => process.exit(0)).on("connect", () => process.exit(3))`;
      const alone = await checkedRun(await engine.create(), {
        checks: { all: [["node", "-e", outcome]] },
      });
      expect((await alone.bench.run(alone.id)).state).toBe("done");
      expect(heard).toEqual([]);
      const hanging = await checkedRun(await engine.create(), {
        checks: { all: [shell("sleep 1000 & sleep 1000")] },
        checkTimeoutMs: 300,
      });
      expect(await failed(hanging)).toContain("it took longer than 0.005 minutes");
      expect(hanging.prompts()).toHaveLength(3);
    },
  );

  it.skipIf(bubblewrap === null)(
    "[PLANRUN-101] that a model has emptied are in the report as a changed file, with what they changed",
    async () => {
      const empties: ModelAnswer = {
        toolCalls: [
          {
            name: "edit_file",
            arguments: JSON.stringify({ path: "test.sh", old_text: "exit 1", new_text: "exit 0" }),
          },
        ],
      };
      const run = await checkedRun(await engine.create(), {
        checks: { all: [shell("sh ./test.sh && echo passed > result")] },
        answer: (turn) =>
          turn === 0
            ? { toolCalls: [{ name: "read_file", arguments: JSON.stringify({ path: "test.sh" }) }] }
            : turn === 1
              ? empties
              : { content: "built" },
      });
      writeFileSync(join(run.repo, "test.sh"), "exit 1\n");
      expect((await run.bench.run(run.id)).state).toBe("done");
      const detail = await run.bench.store.read(readRunDetail, { reference: run.id });
      expect(detail.phases[0]?.files).toEqual([
        { path: "result", undone: false },
        { path: "test.sh", undone: false },
      ]);
      expect(markdownReport(detail)).toMatch(/`test\.sh`/);
    },
  );

  it.skipIf(bubblewrap === null)(
    "[PLANRUN-102] find an artifact that another phase has changed, and that phase corrects it",
    async () => {
      const good = '{"title":"Good"}';
      const reads: ModelAnswer = {
        toolCalls: [{ name: "read_file", arguments: JSON.stringify({ path: "report.json" }) }],
      };
      const overwrite = (content: string): ModelAnswer => ({
        toolCalls: [
          { name: "write_file", arguments: JSON.stringify({ path: "report.json", content }) },
        ],
      });
      const run = await checkedRun(await engine.create(), {
        repo: reportFolder(),
        phases: [reporting("design", "report.json"), phase("build", ["design"])],
        checks: { phases: { build: { checks: [["grep", "-q", "Good", "report.json"]] } } },
        answerOf: (key, turn) =>
          key === "design"
            ? ([handingIn(good)][turn] ?? { content: "designed" })
            : ([reads, overwrite("bad"), { content: "built" }, overwrite(good)][turn] ?? {
                content: "built",
              }),
      });
      expect((await run.bench.run(run.id)).state).toBe("done");
      expect(run.prompts()[1]).toMatch(/grep -q Good report\.json.*did not pass \(exit code 1\)/s);
      const { store } = run.bench;
      const changes = await store.read(readFileChanges, { session_id: run.id, n: 1 });
      expect(changes.map(({ tool, path }) => [tool, path])).toEqual([
        ["hand_in", "report.json"],
        ["write_file", "report.json"],
        ["write_file", "report.json"],
      ]);
      const undoing = { reference: run.id, direction: "undo" } as const;
      await undoExchange({ store, kept: run.kept, command: "test" }, undoing);
      expect(existsSync(join(run.repo, "report.json"))).toBe(false);
    },
  );

  it("[PLANRUN-23] are refused without a sandbox before a model is asked", async () => {
    const run = await checkedRun(await engine.create(), {
      checks: { all: [["true"]] },
      hasSandbox: false,
    });
    await expect(run.bench.run(run.id)).rejects.toMatchObject({ code: "sandbox_missing" });
    expect(run.server.requests()).toEqual([]);
    expect(await run.row()).toMatchObject({ state: "waiting" });
  });

  it.skipIf(bubblewrap === null)(
    "[PLANRUN-24] of an import are run only after a person of this database has accepted them",
    async () => {
      const run = await checkedRun(await engine.create(), { checks: { all: [["true"]] } });
      const { store } = run.bench;
      const tree = await store.read(readSessionTree, { id: run.id });
      const text = [...exportText(tree, "2026-01-01T00:00:00.000Z")].join("");
      const other = await checkedRun(await engine.create(), { checks: {} });
      await importTree(other.bench.store, parseExport(text));
      await expect(other.bench.run(run.id)).rejects.toMatchObject({ code: "not_confirmed" });
      expect(other.server.requests()).toEqual([]);
      const principal = localPrincipal("terminal", "ada");
      await other.bench.store.write(acceptChecks, { session_id: run.id, principal });
      expect((await other.bench.run(run.id)).state).toBe("done");
    },
  );
});
