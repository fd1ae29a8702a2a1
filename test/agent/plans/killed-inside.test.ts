import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import type { PhaseChecked, PlanChecks } from "../../../src/core/plan-runs.ts";
import { undoExchange } from "../../../src/exchange/undo/undo-exchange.ts";
import { readDetail } from "../../../src/store/records/messages/read.ts";
import { readRun } from "../../../src/store/records/plans/read-runs.ts";
import { verifySession } from "../../../src/store/verify/verify-session.ts";
import { createKeptBytes } from "../../../src/workspace/undo/kept-bytes.ts";
import { describeEngine, type TestDatabase } from "../../helpers/engines.ts";
import { startModelServer } from "../../helpers/model-server.ts";
import { phase, storeRun } from "../../helpers/plan-bench.ts";
import { hasSandbox, startLives } from "../../helpers/plan-lives.ts";
import type { Running } from "../../helpers/process.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

/** A run of one phase, and its processes. */
async function runOf(database: TestDatabase, checks: PlanChecks | null, onCall = () => {}) {
  const store = await database.open();
  const server = await startModelServer({
    answer: () => {
      onCall();
      return { content: "built", usage: { prompt_tokens: 5, completion_tokens: 7 } };
    },
  });
  const [repo, folder] = [temporaryFolder(), temporaryFolder()];
  const { id } = await storeRun({ store, phases: [phase("build")], repo, checks });
  return {
    store,
    server,
    id,
    repo,
    undo: () => {
      const kept = createKeptBytes(join(folder, "undo"));
      return undoExchange({ store, kept, command: "test" }, { reference: id, direction: "undo" });
    },
    row: async () => (await store.read(readRun, { reference: id })).phases[0]!,
    /** Starts a process that continues the run. */
    live: async (): Promise<Running> => {
      const running = await startLives(server, [database.location, id, folder]);
      running.child.stdin?.end(`${JSON.stringify({ dies: null })}\n`);
      return running;
    },
  };
}

type Run = Awaited<ReturnType<typeof runOf>>;

/** Lets the next process end the run: its sub-agent has got one message, and nothing differs. */
async function expectDone({ live, row, store, id }: Run): Promise<void> {
  expect(await (await live()).finished).toMatchObject({ code: 0, stdout: "ready\nended done\n" });
  const { state, attempt, child } = await row();
  expect([state, attempt]).toEqual(["done", 1]);
  const { messages, session } = await store.read(readDetail, { reference: child!, all: true });
  expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
  expect(session.total_output_tokens).toBe(7);
  expect((await verifySession(store, id)).findings).toEqual([]);
  expect((await verifySession(store, child!)).findings).toEqual([]);
}

/** Command lines of all processes that this user may see. */
function commandLines(): readonly string[] {
  return readdirSync("/proc")
    .filter((name) => /^[0-9]+$/.test(name))
    .flatMap((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8");
      } catch {
        return [];
      }
    });
}

describeEngine("a process that is killed", (engine) => {
  it("[PLANRUN-8] in a call of a model pays it again, and sends no second message", async () => {
    let running: Running | null = null;
    const run = await runOf(await engine.create(), null, () => {
      running?.child.kill("SIGKILL");
      running = null;
    });
    running = await run.live();
    expect((await running.finished).signal).toBe("SIGKILL");
    expect(await run.row()).toMatchObject({ state: "running" });
    await expectDone(run);
    expect(run.server.requests()).toHaveLength(2);
  });

  it.skipIf(!hasSandbox)(
    "[PLANRUN-21] [PLANRUN-104] in a check leaves none of its processes, and the check runs again",
    async () => {
      // two sleeps with a time that no other process has, one of them in a separate session
      const time = `${10_000 + Math.floor(Math.random() * 10_000)}.25`;
      const sleeps = `setsid sleep ${time} & exec sleep ${time}`;
      const line = `echo begun >> begun; test -f slept && exit 0; touch slept; ${sleeps}`;
      const checks = { all: [["/bin/sh", "-c", line]] };
      const run = await runOf(await engine.create(), checks);
      const sleeping = () => commandLines().filter((each) => each.startsWith(`sleep\0${time}`));
      const running = await run.live();
      await expect.poll(() => sleeping().length, { timeout: 60_000 }).toBe(2);
      await running.stop();
      expect(await run.row()).toMatchObject({ state: "running", checked: null });
      const { child } = await run.row();
      expect((await verifySession(run.store, run.id)).findings).toEqual([]);
      expect((await verifySession(run.store, child!)).findings).toEqual([]);
      await expectDone(run);
      expect(sleeping()).toEqual([]);
      expect(run.server.requests()).toHaveLength(1);
      expect(readFileSync(join(run.repo, "begun"), "utf8")).toBe("begun\nbegun\n");
      const checked = JSON.parse((await run.row()).checked ?? "null") as PhaseChecked;
      expect(checked.commands).toMatchObject([{ code: 0 }]);
      await run.undo();
      expect([existsSync(join(run.repo, "begun")), existsSync(join(run.repo, "slept"))]).toEqual([
        false,
        false,
      ]);
    },
  );
});
