import { rmSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { createCheckpointSaver } from "../src/langgraph/saver.ts";
import { openSqliteStore } from "../src/store/engines/sqlite/open.ts";
import { foreignThread, KeepingSaver } from "./foreign-thread.ts";
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

/** What an exchange costs in a graph that knows nothing of Reprise and changes what it reads. */
export const bench: Bench = {
  about: "processor time of an exchange in a foreign graph, in short and in long threads",
  run: async ({ scale }) => {
    const folder = mkdtempSync(join(tmpdir(), "reprise-bench-"));
    const store = await openSqliteStore({ path: join(folder, "bench.db") });
    try {
      const lines: Measurement[] = [];
      let short = 0;
      for (const size of SIZES) {
        const exchanges = Math.round(size * scale);
        const ours = await foreignThread(createCheckpointSaver({ store }), exchanges);
        const floor = await foreignThread(new KeepingSaver(), exchanges);
        const times = { ours: [] as number[], floor: [] as number[] };
        await meanOf(ours, WARM * scale);
        await meanOf(floor, WARM * scale);
        for (let run = 0; run < RUNS; run += 1) {
          times.ours.push(await meanOf(ours, SAMPLE * scale));
          times.floor.push(await meanOf(floor, SAMPLE * scale));
        }
        const time = median(times.ours);
        short = size === SHORT ? time : short;
        const what = `processor time after ${size} exchanges`;
        const alone = { what: `${what}, held against LangGraph alone`, floor: median(times.floor) };
        lines.push({ ...alone, unit: "ms", ours: time, reach: null });
        if (size === SIZES.at(-1)) {
          const against = { what: `${what}, held against ${SHORT}`, floor: short };
          lines.push({ ...against, unit: "ms", ours: time, reach: { at_most: 2 } });
        }
      }
      return lines;
    } finally {
      await store.close();
      rmSync(folder, { recursive: true });
    }
  },
};

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
