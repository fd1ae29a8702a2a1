import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, it, onTestFinished } from "vitest";

import { fill } from "../../../bench/fill-thread.ts";
import { median } from "../../../bench/measurement.ts";
import { exchangerOn, processorTime } from "../../../bench/session-course.ts";
import { fileOf, fileText, questionOf, TOOL_ROUNDS } from "../../../bench/texts.ts";
import { openSqliteStore } from "../../../src/store/engines/sqlite/open.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { statementsOf } from "../../helpers/count-statements.ts";
import { repeatsNpmTest, testLevel, testSize } from "../../helpers/size.ts";

const live = { listener: () => undefined, signal: new AbortController().signal };

/** Exchanges that a session has before those that are measured. */
const SHORT = 20;
const LONG = 400;

/** The known cost of an exchange; bytes by how many others its session has. Raise a figure only with a reason for it. */
const KEPT = {
  // the prefix of the thread is stored once, with the first answer of those that are measured
  // each request is a row, and is added to the sums of its session
  plain: { rounds: 0, statements: 48, fileBytes: { [SHORT]: 3950, [LONG]: 3900 } },
  tools: { rounds: TOOL_ROUNDS, statements: 126, fileBytes: { [SHORT]: 35_700, [LONG]: 36_400 } },
};

/** A figure may be this much higher. */
const MORE = 1.05;

/** Exchanges among which the bytes are divided: the file grows by whole pages, of which those with tools take many. */
const SAMPLE = { plain: 50, tools: testSize("tool-exchanges") };

interface Kind {
  /** Exchanges that the session has already. */
  readonly filled: number;
  /** Calls of `read_file` in each exchange. */
  readonly rounds: number;
  readonly contextTokens?: number;
}

/** A session on SQLite whose model answers at once. */
async function openSession({ filled, rounds, contextTokens }: Kind) {
  const folder = mkdtempSync(join(tmpdir(), "reprise-cost-"));
  const path = join(folder, "cost.db");
  const repo = join(folder, "repo");
  mkdirSync(repo);
  let store = await openSqliteStore({ path });
  onTestFinished(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });
  const { id: session_id } = await store.write(createSession, { repo_path: repo });
  await fill(store, { session_id, exchanges: filled, rounds });
  const options = { rounds, ...(contextTokens === undefined ? {} : { contextTokens }) };
  let exchanger = exchangerOn(store, options);
  let index = filled;
  const ask = async (): Promise<void> => {
    for (let round = 0; round < rounds; round += 1) {
      writeFileSync(join(repo, fileOf(round)), fileText(`exchange ${index}, round ${round}`));
    }
    index += 1;
    await exchanger.exchange({ session_id, text: questionOf(index) }, live);
  };
  /** Bytes of the file while nothing has it open. */
  const fileBytes = async (): Promise<number> => {
    await store.close();
    const { size } = statSync(path);
    store = await openSqliteStore({ path });
    exchanger = exchangerOn(store, options);
    return size;
  };
  return { ask, fileBytes };
}

const SESSIONS = (["plain", "tools"] as const).flatMap((kind) =>
  ([SHORT, LONG] as const).map((filled) => ({
    ...KEPT[kind],
    kind,
    filled,
    fileBytes: KEPT[kind].fileBytes[filled],
  })),
);

it.skipIf(repeatsNpmTest()).each(SESSIONS)(
  "an exchange ($kind) takes as many statements and bytes of the file as is known, after $filled others",
  async ({ kind, filled, rounds, ...kept }) => {
    const { ask, fileBytes } = await openSession({ filled, rounds });
    // the first one may summarise the others
    await ask();
    await ask();
    const { statements } = await statementsOf(ask);
    expect(statements.length, statements.join("\n")).toBeLessThanOrEqual(kept.statements * MORE);
    const before = await fileBytes();
    for (let count = 0; count < SAMPLE[kind]; count += 1) {
      await ask();
    }
    const bytes = ((await fileBytes()) - before) / SAMPLE[kind];
    expect(bytes).toBeLessThanOrEqual(kept.fileBytes * MORE);
  },
);

/**
 * Many calls, so that the long session has 8,800 messages, and a model that reads only a few exchanges, so that it is
 * shown as much in both.
 */
const MANY = { rounds: 10, contextTokens: 64_000 };
const GROWTH = 1.2;

it.skipIf(testLevel() === "test")(
  "[SAVER-54] an exchange takes no more processor time after 400 others than after 20",
  async () => {
    const short = await openSession({ filled: SHORT, ...MANY });
    const long = await openSession({ filled: LONG, ...MANY });
    const growths: number[] = [];
    const least = (): number => Math.min(...growths.slice(1));
    // the first round is left out: code is compiled in it, and what was before is summarised
    for (let round = 0; round <= 3 && least() >= GROWTH; round += 1) {
      const times = { short: [] as number[], long: [] as number[] };
      // in turn, so that what else the machine does affects both
      for (let count = 0; count < 10; count += 1) {
        times.short.push(await processorTime(short.ask));
        times.long.push(await processorTime(long.ask));
      }
      growths.push(median(times.long) / median(times.short));
    }
    expect(least(), growths.join(" ")).toBeLessThan(GROWTH);
  },
);
