import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { describe, expect, it, onTestFinished } from "vitest";

import { readLease } from "../../../../src/store/records/leases/lease.ts";
import { readMessagesAfter } from "../../../../src/store/records/messages/read.ts";
import { startThread } from "../../../../src/store/records/sessions/change.ts";
import { createSession } from "../../../../src/store/records/sessions/create.ts";
import { readSession } from "../../../../src/store/records/sessions/read.ts";
import { openSqliteStore } from "../../../../src/store/engines/sqlite/open.ts";
import type { Store } from "../../../../src/store/store.ts";
import { expectNoDrift } from "../../../helpers/compare.ts";
import { type ModelServer, startModelServer } from "../../../helpers/model-server.ts";
import { startProgram } from "../../../helpers/start-program.ts";
import { temporaryFolder } from "../../../helpers/temp.ts";
import { contentOf } from "../../../helpers/content.ts";
import {
  go,
  outcomeOf,
  startExchange,
  stopBetweenWrites,
} from "../../../helpers/lease-processes.ts";
import { testLevel, testSize } from "../../../helpers/size.ts";

/** Messages of each of the processes that append. */
const EACH = testSize("many-writers");
const PROCESSES = testLevel() === "test" ? 8 : 20;

/** Lines of a process whose answer has begun to come. */
const FEW_PIECES = /(\{"type":"text".*\n){3}/;
const QUICK = "short answer";
const LONG = "a long answer that is on its way when its process is stopped, ".repeat(20);

interface Bench {
  readonly server: ModelServer;
  readonly database: string;
  readonly store: Store;
  readonly id: string;
}

describe("a process that is stopped during an answer", () => {
  it.each([
    { how: "after its lease ran out", leaseMs: 600, whenBusy: "refuse" as const },
    { how: "by force", leaseMs: 60_000, whenBusy: "take_over" as const },
  ])(
    "[LEASE-1] writes 0 rows once another took the session $how",
    async ({ leaseMs, whenBusy }) => {
      const bench = await openBench();
      const first = await startExchange({ ...bench, options: { text: "first", leaseMs } });
      go(first);
      await first.waitFor(FEW_PIECES);
      await stopBetweenWrites(first, bench.database);
      const second = await startExchange({ ...bench, options: { text: "second", whenBusy } });
      if (whenBusy === "refuse") {
        await leaseIsOver(bench);
      }

      go(second);

      expect(outcomeOf(await second.finished)).toMatchObject({ kind: "done", answer: QUICK });
      const before = contentOf(bench.database);
      first.child.kill("SIGCONT");
      expect(outcomeOf(await first.finished)).toMatchObject({
        kind: "refused",
        code: "lease_lost",
        message: expect.stringMatching(/no longer holds the session.*stored nothing more/),
      });
      expect(contentOf(bench.database)).toEqual(before);
      const rows = await expectNoDrift(bench.database, bench.id);
      expect(rows.map(({ role, content }) => [role, content])).toEqual([
        ["user", "first"],
        ["user", "second"],
        ["assistant", QUICK],
      ]);
    },
  );

  it("[LEASE-2] writes 0 rows once another cleared the session after its lease ran out", async () => {
    const bench = await openBench();
    const first = await startExchange({ ...bench, options: { text: "first", leaseMs: 600 } });
    go(first);
    await first.waitFor(FEW_PIECES);
    await stopBetweenWrites(first, bench.database);
    await leaseIsOver(bench);

    await bench.store.write(startThread, { id: bench.id, archive: true });

    const before = contentOf(bench.database);
    first.child.kill("SIGCONT");
    expect(outcomeOf(await first.finished)).toMatchObject({ kind: "refused", code: "lease_lost" });
    expect(contentOf(bench.database)).toEqual(before);
  });

  it("continues if nobody took the session meanwhile", async () => {
    const bench = await openBench();
    const first = await startExchange({ ...bench, options: { text: "first", leaseMs: 600 } });
    go(first);
    await first.waitFor(FEW_PIECES);
    await stopBetweenWrites(first, bench.database);
    await leaseIsOver(bench);

    first.child.kill("SIGCONT");

    expect(outcomeOf(await first.finished)).toMatchObject({ kind: "done", answer: LONG });
    expect(await bench.store.read(readSession, { id: bench.id })).toMatchObject({
      activity: "idle",
      last_seq: 2,
    });
  });
});

describe("two processes that begin an exchange at the same time", () => {
  it("[LEASE-3] one runs; the other gets the pid, the host, the command and the start of it", async () => {
    const bench = await openBench();
    const processes = await Promise.all(
      ["first", "first too"].map((text) => startExchange({ ...bench, options: { text } })),
    );

    processes.forEach(go);

    const outcomes = await Promise.all(
      processes.map(async ({ finished, pid }) => ({ pid, ...outcomeOf(await finished) })),
    );
    const done = outcomes.filter(({ kind }) => kind === "done");
    const refused = outcomes.filter(({ kind }) => kind === "refused");
    expect([done.length, refused.length]).toEqual([1, 1]);
    expect(refused).toMatchObject([{ code: "session_busy" }]);
    expect(refused[0]?.message).toMatch(
      new RegExp(
        String.raw`process ${done[0]?.pid} on \S+ \(store-exchange\), since \d{4}-\d\d-\d\dT[\d:.]+Z;`,
      ),
    );
    const rows = await expectNoDrift(bench.database, bench.id);
    expect(rows.map(({ role }) => role)).toEqual(["user", "assistant"]);
  });
});

describe("many processes that append messages", () => {
  it("[STORE-3] lose nothing, leave no gap and never get an error that the database is busy", async () => {
    const { database, store, id } = await openBench();

    const results = await Promise.all(
      Array.from(
        { length: PROCESSES },
        () => startProgram("store-append.ts", [database, id, `${EACH}`]).finished,
      ),
    );

    expect(results.map(({ code, stderr }) => [code, stderr])).toEqual(results.map(() => [0, ""]));
    const acknowledged = results
      .flatMap(({ stdout }) => stdout.trim().split("\n"))
      .toSorted((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));
    const rows = await store.read(readMessagesAfter, {
      session_id: id,
      after_seq: 0,
      all: true,
      limit: PROCESSES * EACH + 1,
    });
    expect(rows.map(({ seq }) => seq)).toEqual(
      Array.from({ length: PROCESSES * EACH }, (_, i) => i + 1),
    );
    expect(rows.map(({ seq, content }) => `${seq} ${content}`)).toEqual(acknowledged);
    expect(await store.read(readSession, { id })).toMatchObject({ last_seq: PROCESSES * EACH });
  });
});

async function openBench(): Promise<Bench> {
  const database = join(temporaryFolder(), "reprise.db");
  const store = await openSqliteStore({ path: database });
  onTestFinished(() => store.close());
  const { id } = await store.write(createSession, {});
  const server = await startModelServer({
    latencyMs: 10,
    chunkSize: 10,
    answer: (messages) => ({
      content: messages.at(-1)?.content.startsWith("first") ? LONG : QUICK,
    }),
  });
  return { server, database, store, id };
}

async function leaseIsOver({ store, id }: Bench): Promise<void> {
  while ((await store.read(readLease, { session_id: id })) !== null) {
    await sleep(20);
  }
}
