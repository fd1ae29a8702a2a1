import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import { createCommandSandbox } from "../../../src/agent/sandbox/command-sandbox.ts";
import type { CheckResult, PlanChecks } from "../../../src/core/plan-runs.ts";
import { undoExchange } from "../../../src/exchange/undo/undo-exchange.ts";
import { exportText } from "../../../src/store/portable/export-text.ts";
import { importTree } from "../../../src/store/portable/import-tree.ts";
import { parseExport } from "../../../src/store/portable/parse.ts";
import { readSessionTree } from "../../../src/store/portable/read-tree.ts";
import { readFileChanges } from "../../../src/store/records/file-changes/read.ts";
import { acceptChecks } from "../../../src/store/records/plans/create-run.ts";
import { readRun } from "../../../src/store/records/plans/read-runs.ts";
import { localPrincipal } from "../../../src/core/principal.ts";
import { createSandboxProbe } from "../../../src/workspace/sandbox/probe.ts";
import { createKeptBytes } from "../../../src/workspace/undo/kept-bytes.ts";
import { describeEngine, type TestDatabase } from "../../helpers/engines.ts";
import { type ModelAnswer, startModelServer } from "../../helpers/model-server.ts";
import { phase, PlanBench, phaseIn, storeRun } from "../../helpers/plan-bench.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

const { bubblewrap } = await createSandboxProbe()();

interface CheckedRun {
  readonly checks: PlanChecks;
  /** Called with the number of the answer of the model, from 0. */
  readonly answer?: (turn: number, repo: string) => ModelAnswer;
  readonly hasSandbox?: boolean;
}

/** A run of one phase, `build`, with checks; the model writes files in the meantime. */
async function checkedRun(database: TestDatabase, given: CheckedRun) {
  const { checks, answer = () => ({ content: "built" }), hasSandbox = true } = given;
  const outside = temporaryFolder();
  const [repo, state] = [join(outside, "repo"), join(outside, "state")];
  mkdirSync(repo);
  mkdirSync(state);
  const server = await startModelServer({
    answer: (messages) => answer(messages.filter(({ role }) => role === "assistant").length, repo),
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
      ...(hasSandbox ? { sandbox } : {}),
    },
  });
  const { id } = await storeRun({ store: bench.store, phases: [phase("build")], repo, checks });
  const row = async () => (await bench.store.read(readRun, { reference: id })).phases[0];
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
      const results = JSON.parse((await run.row())?.checked ?? "null") as readonly CheckResult[];
      expect(results.map(({ argv, code }) => [argv[0], code])).toEqual([
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
      const results = JSON.parse((await never.row())?.checked ?? "null") as readonly CheckResult[];
      expect(results).toMatchObject([{ code: 7 }]);
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
