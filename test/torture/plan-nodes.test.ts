import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { expect } from "vitest";

import type { Phase } from "../../src/artifacts/plans/phase-plan.ts";
import { MAX_ATTEMPTS } from "../../src/core/exchanges.ts";
import type { PlanChecks } from "../../src/core/plan-runs.ts";
import { tokenHolder } from "../../src/core/principal.ts";
import { queueAndRead } from "../../src/store/records/exchanges/queue-and-read.ts";
import { readCurrentExchange } from "../../src/store/records/exchanges/current.ts";
import { readRun } from "../../src/store/records/plans/read-runs.ts";
import type { Store } from "../../src/store/store.ts";
import { createSandboxProbe } from "../../src/workspace/sandbox/probe.ts";
import { describeEngines, oneEngineEach } from "../helpers/engines.ts";
import { testLevel } from "../helpers/size.ts";
import { type ModelAnswer, type SentMessage, startModelServer } from "../helpers/model-server.ts";
import {
  handingIn,
  phase,
  phaseIn,
  reportFolder,
  reporting,
  storeRun,
} from "../helpers/plan-bench.ts";
import { promptsOf, treeOf } from "../helpers/plans/prompts.ts";
import { runFaults } from "../helpers/plans/run-faults.ts";
import type { Running } from "../helpers/process.ts";
import { exportsOf } from "../helpers/sessions/stored.ts";
import { startProgram } from "../helpers/start-program.ts";
import { temporaryFolder } from "../helpers/temp.ts";
import { expectVerified } from "../helpers/verified.ts";
import { freezeAtRest } from "./exchanges/frozen.ts";
import { until } from "./exchanges/until.ts";

/** A lease that runs out while a node is frozen, and is renewed in time by one that is not. */
const LEASE_MS = 3000;
const LONG = "word ".repeat(2000);

const { bubblewrap } = await createSandboxProbe()();

/** Processes of a run that die: more than an exchange that makes no progress may have. */
const DEATHS = testLevel() === "long" ? 10 : MAX_ATTEMPTS + 1;

const onOneEngine = oneEngineEach("plan-nodes");

describeEngines("three nodes of which one that runs a plan is frozen for two leases", (engine) => {
  const it = onOneEngine(engine);

  it("[PLANRUN-112] write nothing twice if it was calling the model", async () => {
    const world = await openWorld([phase("first"), phase("second", ["first"])], {
      answer: (_, index) => ({ content: index === 0 ? LONG : "a result" }),
    });
    const first = await world.start();
    await until("a request", () => world.server.requests().length === 1);
    await sleep(100);
    await world.freeze(first);
    expect(await world.finish(first)).toEqual({ "phase:first:1": 1, "phase:second:1": 1 });
    expect(world.server.requests().map(phaseIn)).toEqual(["first", "first", "second"]);
  });

  it("[PLANRUN-112] run no unsafe tool again if it was running one", async () => {
    const world = await openWorld([phase("first"), phase("second", ["first"])], {
      answer: (messages) =>
        phaseIn(messages) === "first" && messages.at(-1)?.role === "user"
          ? { toolCalls: [{ name: "pay", arguments: '{"what":"it"}' }] }
          : { content: "a result" },
    });
    const first = await world.start({ toolMs: 1_000_000_000 });
    await first.waitFor(/running pay/);
    await sleep(100);
    await world.freeze(first);
    expect(await world.finish(first)).toEqual({ "phase:first:1": 1, "phase:second:1": 1 });
    expect(world.effects()).toBe("");
    expect(world.server.requests().map(phaseIn)).toEqual(["first", "first", "second"]);
  });

  it("[PLANRUN-112] store one artifact if it was between the file and its hash", async () => {
    const world = await openWorld([reporting("first", "a.json"), phase("second", ["first"])], {
      answer: (messages) =>
        phaseIn(messages) === "first" &&
        !messages.some(({ role, content }) => role === "tool" && content.includes("stored"))
          ? handingIn('{"title":"a report"}')
          : { content: "a result" },
    });
    const first = await world.start({ stopsAtHash: true });
    await first.waitFor(/at hash/);
    await Promise.all([sleep(2 * LEASE_MS), world.start(), world.start()]);
    await world.finish(first);
    const { phases } = await world.store.read(readRun, { reference: world.id });
    expect(phases[0]?.artifact_hash).not.toBeNull();
    expect(readFileSync(join(world.repo, "a.json"), "utf8")).toBe('{"title":"a report"}');
  });

  it(
    "[PLANRUN-112] run a check again if it was in one, and keep the end of that one",
    async () => {
      const line = "echo begun >> begun; test $(wc -l < begun) -gt 1 || sleep 1000";
      const world = await openWorld([phase("first"), phase("second", ["first"])], {
        answer: (messages) =>
          phaseIn(messages) === "second" && messages.at(-1)?.role === "user"
            ? { toolCalls: [{ name: "write_file", arguments: '{"path":"b","content":"b"}' }] }
            : { content: "a result" },
        checks: { phases: { first: { checks: [["/bin/sh", "-c", line]] } } },
      });
      const first = await world.start();
      const begun = join(world.repo, "begun");
      await until("a check", () => readFileSync(begun, { encoding: "utf8", flag: "a+" }) !== "");
      await world.freeze(first);
      expect(await world.finish(first)).toEqual({ "phase:first:1": 1, "phase:second:1": 1 });
      expect(readFileSync(begun, "utf8")).toBe("begun\nbegun\n");
      const { phases } = await world.store.read(readRun, { reference: world.id });
      expect(JSON.parse(phases[0]?.checked ?? "null")).toMatchObject({
        commands: [{ code: 0 }],
      });
    },
    bubblewrap !== null,
  );

  it("[PLANRUN-113] a run is taken over as often as processes die", async () => {
    const keys = Array.from({ length: DEATHS + 2 }, (_, at) => `p${at}`);
    const seen = new Set<string>();
    const world = await openWorld(
      keys.map((key, at) => phase(key, at === 0 ? [] : [`p${at - 1}`])),
      {
        answer: (messages) => {
          const key = phaseIn(messages) ?? "";
          const isFirst = !seen.has(key);
          seen.add(key);
          return { content: isFirst && seen.size <= DEATHS ? LONG : `what ${key} has left` };
        },
      },
    );
    const nodes = [await world.start(), await world.start(), await world.start()];
    for (let takeovers = 1; takeovers <= DEATHS; takeovers += 1) {
      await until(`phase ${takeovers}`, () => seen.size === takeovers);
      const holder = await holderOf(world.store, world.id);
      const at = nodes.findIndex(({ pid }) => pid === holder);
      await nodes[at]?.stop("SIGKILL");
      nodes[at] = await world.start();
    }
    expect(await world.finish()).toEqual(
      Object.fromEntries(keys.map((key) => [`phase:${key}:1`, 1])),
    );
    const { attempts } = await world.store.read(
      ({ db }) =>
        db
          .selectFrom("exchanges")
          .select("attempts")
          .where("session_id", "=", world.id)
          .executeTakeFirstOrThrow(),
      null,
    );
    expect(attempts).toBe(DEATHS);
  });

  interface Given {
    readonly answer: (messages: readonly SentMessage[], index: number) => ModelAnswer;
    readonly checks?: PlanChecks;
  }

  async function openWorld(phases: readonly Phase[], { answer, checks }: Given) {
    const { location, open } = await engine.create();
    const store = await open();
    const repo = reportFolder();
    const [state, effects] = [temporaryFolder(), join(temporaryFolder(), "effects")];
    writeFileSync(effects, "");
    const server = await startModelServer({ latencyMs: 20, chunkSize: 8, answer });
    const { id } = await storeRun({ store, repo, phases, checks: checks ?? null });
    await store.write(queueAndRead, {
      reference: id,
      content: null,
      asked_by: "http",
      principal: tokenHolder("owner"),
    });
    const start = async (more: object = {}): Promise<Running> => {
      const options = { state, effects, leaseMs: LEASE_MS, ...more };
      const env = { ...server.env("openai"), REPRISE_MODEL: "openai:gpt-test" };
      const node = startProgram("plan-node.ts", [location, JSON.stringify(options)], { env });
      await node.waitFor(/^ready$/m);
      return node;
    };
    return {
      store,
      repo,
      id,
      server,
      start,
      effects: () => readFileSync(effects, "utf8"),
      /** Two others take its run meanwhile. */
      freeze: async (node: Running) => {
        await freezeAtRest(store, location, node);
        await Promise.all([sleep(2 * LEASE_MS), start(), start()]);
      },
      /** Lets the frozen node continue after the end of the run. Returns the messages that each attempt has got. */
      finish: async (frozen?: Running) => {
        await until("the end of the run", async () => {
          const record = await store.read(readCurrentExchange, { session_id: id });
          return record?.ended_at !== null;
        });
        const record = await store.read(readCurrentExchange, { session_id: id });
        expect(record).toMatchObject({ state: "done" });
        if (frozen !== undefined) {
          const before = await exportsOf(store);
          frozen.child.kill("SIGCONT");
          await sleep(LEASE_MS);
          expect(await exportsOf(store)).toEqual(before);
          expect((await frozen.stop()).stderr).toBe("");
        }
        expect(await store.read(runFaults, { session_id: id })).toEqual([]);
        for (const each of await store.read(treeOf, { id })) {
          await expectVerified(location, each);
        }
        return store.read(promptsOf, { session_id: id });
      },
    };
  }
});

async function holderOf(store: Store, id: string): Promise<number | undefined> {
  const row = await store.read(
    ({ db }) =>
      db.selectFrom("sessions").select("lease_owner").where("id", "=", id).executeTakeFirst(),
    null,
  );
  return (JSON.parse(row?.lease_owner ?? "{}") as { pid?: number }).pid;
}
