import { hostname } from "node:os";

import { describe, expect, it, onTestFinished } from "vitest";

import { verifySession } from "../../../src/store/verify/verify-session.ts";
import { readMessagesAfter } from "../../../src/store/records/messages/read.ts";
import { openPostgresStore } from "../../../src/store/engines/postgres/open.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { readSession } from "../../../src/store/records/sessions/read.ts";
import type { Store } from "../../../src/store/store.ts";
import { type ModelServer, startModelServer } from "../../helpers/model-server.ts";
import { hasOtherMachine, onOtherMachine, OTHER_HOST } from "../../helpers/other-machine.ts";
import { createPostgres } from "../../helpers/postgres.ts";
import type { Finished, Running } from "../../helpers/process.ts";
import { freshHome, type Home } from "../../helpers/reprise.ts";
import { testSize } from "../../helpers/size.ts";
import { everything, leaseIsOver, stopBetweenWrites } from "../../helpers/postgres/stopped-node.ts";

/** Rounds that wait the lease's 30 s; none: a lease is made to run out in the database. */
const REAL_ROUNDS = testSize("machines");
const LONG = "a long answer that is on its way, ".repeat(3000);

interface Bench {
  readonly home: Home;
  readonly store: Store;
  readonly server: ModelServer;
  readonly id: string;
}

describe.runIf(hasOtherMachine()).each(rounds())(
  "a command line whose machine disappeared during an answer (needs unshare; round %i)",
  () => {
    it("[PG-10] killed, it keeps others out until its lease expires; then another machine continues", async () => {
      const bench = await openBench();
      const first = await startAnswer(bench);
      await first.stop("SIGKILL");

      await expectBusy(bench, first.pid);
      await leaseRunsOut(bench);

      expect(await activityOf(bench)).toBe("interrupted");
      expect(await elsewhere(bench, "second")).toMatchObject({ code: 0, stdout: "short\n" });
      expect(
        bench.server
          .requests()
          .at(-1)
          ?.map(({ content }) => content),
      ).toEqual(["first", "second"]);
      await expectGoneOn(bench);
    });

    it("[PG-10] [LEASE-1] frozen, and woken after another machine took over, it writes nothing", async () => {
      const bench = await openBench();
      const first = await startAnswer(bench);
      await stopBetweenWrites(first, bench.store);

      await leaseRunsOut(bench);
      expect(await elsewhere(bench, "second")).toMatchObject({ code: 0, stdout: "short\n" });
      const before = await everything(bench.store);
      first.child.kill("SIGCONT");

      const woken = await first.finished;
      expect(woken.code).toBe(1);
      expect(woken.stderr).toMatch(/^reprise: [^\n]* \[lease_lost\]\n/);
      expect(await everything(bench.store)).toEqual(before);
      await expectGoneOn(bench);
    });
  },
);

function rounds(): number[] {
  return Array.from({ length: Math.max(1, REAL_ROUNDS) }, (_, index) => index + 1);
}

async function openBench(): Promise<Bench> {
  const database = await createPostgres();
  onTestFinished(() => database[Symbol.asyncDispose]());
  const store = await openPostgresStore({ url: database.url });
  onTestFinished(() => store.close());
  const { id } = await store.write(createSession, {});
  const server = await startModelServer({
    answer: (messages) => ({ content: messages.at(-1)?.content === "first" ? LONG : "short" }),
    latencyMs: 20,
  });
  const home = freshHome({
    ...server.env("openai"),
    REPRISE_MODEL: "openai:gpt-test",
    REPRISE_DATABASE: database.url,
  });
  return { home, store, server, id };
}

async function startAnswer({ home, id }: Bench): Promise<Running> {
  const running = home.start(["--session", id, "-p", "first"]);
  await running.waitFor(/a long answer that/);
  return running;
}

function elsewhere({ home, id }: Bench, text: string): Promise<Finished> {
  const command = onOtherMachine(`reprise --session ${id} -p ${text}`);
  return home.startShell(command, { input: "" }).finished;
}

/** Nothing of the one that is refused is stored, and the model is not asked. */
async function expectBusy(bench: Bench, pid: number): Promise<void> {
  const before = await everything(bench.store);
  const refused = await elsewhere(bench, "refused");
  expect(refused).toMatchObject({ code: 6, stdout: "" });
  expect(refused.stderr).toMatch(
    new RegExp(`process ${pid} on ${hostname()} .*\\[session_busy\\]`),
  );
  expect(await everything(bench.store)).toEqual(before);
  expect(bench.server.requests()).toHaveLength(1);
  expect(hostname()).not.toBe(OTHER_HOST);
}

async function leaseRunsOut({ store, id }: Bench): Promise<void> {
  if (REAL_ROUNDS === 0) {
    await store.write(
      ({ db }) =>
        db
          .updateTable("sessions")
          .set((eb) => ({ lease_expires_at: eb.ref("created_at") }))
          .where("id", "=", id)
          .execute(),
      null,
    );
  }
  await leaseIsOver(store, id);
}

async function activityOf({ store, id }: Bench): Promise<string> {
  return (await store.read(readSession, { id })).activity;
}

async function expectGoneOn(bench: Bench): Promise<void> {
  const { store, id } = bench;
  const rows = await store.read(readMessagesAfter, {
    session_id: id,
    after_seq: 0,
    all: true,
    limit: 10,
  });
  expect(rows.map(({ role, content }) => [role, content])).toEqual([
    ["user", "first"],
    ["user", "second"],
    ["assistant", "short"],
  ]);
  expect((await verifySession(store, id)).findings).toEqual([]);
  expect(await activityOf(bench)).toBe("idle");
}
