import { rmSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";

import { createCheckpointSaver } from "../src/langgraph/saver.ts";
import { openSqliteStore } from "../src/store/engines/sqlite/open.ts";
import type { Store } from "../src/store/store.ts";
import { CopyingSaver, foreignThread, KeepingSaver } from "./foreign-thread.ts";
import { type Bench, type Measurement, median } from "./measurement.ts";
import { processorTime } from "./session-course.ts";

/** Exchanges that a thread has before those that are measured. */
const SIZES = [100, 300, 1000, 2000, 5000];
const SHORT = 300;
/** Exchanges in each thread before the first one that is measured: the code is compiled then. */
const WARM = 100;
/** Exchanges whose mean is a run: how often memory is freed differs from one to the next. */
const SAMPLE = 40;
const RUNS = 3;
/** Of the last size, held against the short one. */
const LIMIT = { at_most: 2 };

/** What an exchange costs in a graph that knows nothing of Reprise and may change what it reads. */
export const bench: Bench = {
  about: "processor time of an exchange in a foreign graph, in short and in long threads",
  run: async ({ scale }) => {
    const folder = mkdtempSync(join(tmpdir(), "reprise-bench-"));
    const store = await openSqliteStore({ path: join(folder, "bench.db") });
    try {
      const lines: Measurement[] = [];
      const short = new Map<string, number>();
      for (const size of SIZES) {
        const { floor, copies, ...ours } = await timesOf(store, size, scale);
        for (const [name, time] of Object.entries(ours)) {
          const what = `processor time after ${size} exchanges, ${name}`;
          const whole = { what, unit: "ms", ours: time };
          const alone = `${what}, held against LangGraph alone`;
          lines.push({ ...whole, what: alone, floor, reach: null });
          // LangGraph itself takes longer in a long thread: what is left is the saver's part
          const saver = { ...whole, what: `${what}, without LangGraph's part`, ours: time - floor };
          for (const line of [whole, saver]) {
            const key = `${name} ${line === saver}`;
            if (size === SHORT) {
              short.set(key, line.ours);
            }
            if (size === SIZES.at(-1)) {
              const against = { what: `${line.what}, held against ${SHORT}` };
              lines.push({ ...line, ...against, floor: short.get(key) ?? null, reach: LIMIT });
            }
          }
        }
        const part = { unit: "ms", ours: copies - floor, reach: null };
        const what = `of it, copying ${2 * size} messages for a read`;
        lines.push({ ...part, what, floor: ours["separate messages"] - floor });
      }
      return lines;
    } finally {
      await store.close();
      rmSync(folder, { recursive: true });
    }
  },
};

/** The contenders take turns, so that other work on the machine affects each. */
async function timesOf(store: Store, size: number, scale: number) {
  const fill = (saver: BaseCheckpointSaver) => foreignThread(saver, Math.round(size * scale));
  const exchanges = {
    "separate messages": await fill(createCheckpointSaver({ store })),
    "frozen messages": await fill(createCheckpointSaver({ store, frozen: true })),
    copies: await fill(new CopyingSaver()),
    floor: await fill(new KeepingSaver()),
  };
  const runs: Runs = { "separate messages": [], "frozen messages": [], copies: [], floor: [] };
  for (let run = 0; run <= RUNS; run += 1) {
    for (const name of NAMES) {
      const time = await meanOf(exchanges[name], (run === 0 ? WARM : SAMPLE) * scale);
      runs[name].push(...(run === 0 ? [] : [time]));
    }
  }
  return {
    "separate messages": median(runs["separate messages"]),
    "frozen messages": median(runs["frozen messages"]),
    copies: median(runs.copies),
    floor: median(runs.floor),
  };
}

const NAMES = ["separate messages", "frozen messages", "copies", "floor"] as const;
type Runs = Record<(typeof NAMES)[number], number[]>;

/** Milliseconds of processor time of one exchange. */
async function meanOf(exchange: () => Promise<unknown>, count: number): Promise<number> {
  const exchanges = Math.max(1, Math.round(count));
  const time = await processorTime(async () => {
    for (let index = 0; index < exchanges; index += 1) {
      await exchange();
    }
  });
  return time / exchanges;
}
