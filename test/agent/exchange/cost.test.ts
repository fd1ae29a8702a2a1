import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, it, onTestFinished } from "vitest";

import { fill } from "../../../bench/fill-thread.ts";
import { median } from "../../../bench/measurement.ts";
import { exchangerOn, processorTime } from "../../../bench/session-course.ts";
import { fileOf, fileText, questionOf, TOOL_ROUNDS } from "../../../bench/texts.ts";
import { openSqliteStore } from "../../../src/store/engines/sqlite/open.ts";
import { createSession } from "../../../src/store/sessions/create.ts";
import { statementsOf } from "../../helpers/count-statements.ts";

const live = { listener: () => undefined, signal: new AbortController().signal };

/** What an exchange of a session is known to cost. Raise a figure only with a reason for it. */
const KEPT = {
  statements: { plain: 46, tools: 119 },
  /** Of what is stored of a thread, for each exchange. */
  bytes: { plain: 1230, tools: 15_650 },
};

/** A figure may be this much higher. */
const MORE = 1.05;

/** A session on SQLite after some exchanges; its model answers at once. */
async function openSession(filled: number, rounds: number) {
  const folder = mkdtempSync(join(tmpdir(), "reprise-cost-"));
  const path = join(folder, "cost.db");
  const repo = join(folder, "repo");
  mkdirSync(repo);
  const store = await openSqliteStore({ path });
  onTestFinished(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });
  const { id: session_id } = await store.write(createSession, { repo_path: repo });
  await fill(store, { session_id, exchanges: filled, rounds });
  const exchanger = exchangerOn(store, rounds);
  let index = filled;
  const ask = async (): Promise<void> => {
    for (let round = 0; round < rounds; round += 1) {
      writeFileSync(join(repo, fileOf(round)), fileText(`exchange ${index}, round ${round}`));
    }
    index += 1;
    await exchanger.exchange({ session_id, text: questionOf(index) }, live);
  };
  return { ask, store };
}

it.each([
  ["plain", 0],
  ["tools", TOOL_ROUNDS],
] as const)(
  "an exchange (%s) takes as many statements and bytes as is known",
  async (kind, rounds) => {
    const { ask, store } = await openSession(0, rounds);
    await ask();
    const { statements } = await statementsOf(ask);
    expect(statements.length, statements.join("\n")).toBeLessThanOrEqual(
      KEPT.statements[kind] * MORE,
    );
    const stored = async (): Promise<number> => {
      const rows = await store.read(
        (tx) => tx.db.selectFrom("checkpoint_bodies").select("body").execute(),
        null,
      );
      return rows.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0);
    };
    const before = await stored();
    for (let count = 0; count < 20; count += 1) {
      await ask();
    }
    expect((await stored()) - before).toBeLessThanOrEqual(20 * KEPT.bytes[kind] * MORE);
  },
);

it("[SAVER-54] an exchange takes no more processor time after 3,000 others than at the beginning", async () => {
  const warm = await openSession(0, TOOL_ROUNDS);
  const long = await openSession(3000, TOOL_ROUNDS);
  for (let count = 0; count < 20; count += 1) {
    await warm.ask();
    await long.ask();
  }
  const short = await openSession(0, TOOL_ROUNDS);
  const times = { short: [] as number[], long: [] as number[] };
  // in turn, so that what else the machine does affects both
  for (let count = 0; count < 20; count += 1) {
    times.short.push(await processorTime(short.ask));
    times.long.push(await processorTime(long.ask));
  }
  // it was 2 to 3 when each message of the thread was visited
  expect(median(times.long) / median(times.short)).toBeLessThan(1.6);
});
