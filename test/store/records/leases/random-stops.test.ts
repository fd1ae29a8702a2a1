import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { expect, it, onTestFinished } from "vitest";

import { readLease } from "../../../../src/store/records/leases/lease.ts";
import { createSession } from "../../../../src/store/records/sessions/create.ts";
import { openSqliteStore } from "../../../../src/store/engines/sqlite/open.ts";
import { expectNoDrift } from "../../../helpers/compare.ts";
import { startModelServer } from "../../../helpers/model-server.ts";
import { seededRandom } from "../../../helpers/random.ts";
import { testSize } from "../../../helpers/size.ts";
import { temporaryFolder } from "../../../helpers/temp.ts";
import { contentOf } from "../../../helpers/content.ts";
import {
  go,
  outcomeOf,
  startExchange,
  stopBetweenWrites,
} from "../../../helpers/lease-processes.ts";

it("[LEASE-1] a process stopped at any time writes 0 rows once another took its session", async () => {
  const random = seededRandom("random-stops");
  const database = join(temporaryFolder(), "reprise.db");
  const store = await openSqliteStore({ path: database });
  onTestFinished(() => store.close());
  const { id } = await store.write(createSession, {});
  const server = await startModelServer({
    latencyMs: 5,
    chunkSize: 20,
    answer: (messages) => ({ content: `to ${messages.at(-1)?.content}: `.repeat(40) }),
  });
  const outcomes: string[] = [];

  for (let round = 0; round < testSize("stopped"); round += 1) {
    const force = random() < 0.5;
    const [first, second] = await Promise.all([
      startExchange({
        server,
        database,
        id,
        options: { text: `first ${round}`, leaseMs: force ? 60_000 : 400 },
      }),
      startExchange({
        server,
        database,
        id,
        options: { text: `second ${round}`, whenBusy: force ? "take_over" : "refuse" },
      }),
    ]);
    go(first);
    await sleep(random() * 350);
    await stopBetweenWrites(first, database);
    while (!force && (await store.read(readLease, { session_id: id })) !== null) {
      await sleep(20);
    }
    go(second);
    expect(outcomeOf(await second.finished)).toMatchObject({ kind: "done" });
    const before = contentOf(database);
    const hadBegun = first.stdout().includes('"type":"started"');

    first.child.kill("SIGCONT");
    const outcome = outcomeOf(await first.finished);

    outcomes.push(outcome.code ?? outcome.kind);
    // one that was stopped before it took the lease runs its exchange now, as it should
    if (hadBegun || outcome.kind === "refused") {
      expect(contentOf(database)).toEqual(before);
      expect(outcome.code ?? "lease_lost").toBe("lease_lost");
    }
    await expectNoDrift(database, id);
  }
  console.log(`random-stops: ${outcomes.join(", ")}`);
});
