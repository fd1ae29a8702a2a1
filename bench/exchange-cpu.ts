import { type Bench, median } from "./measurement.ts";
import { memoryThread } from "./memory-thread.ts";
import { processorTime, withSessions } from "./session-course.ts";
import { questionOf } from "./texts.ts";

/** Exchanges of each contender before the first one that is measured: the code is compiled then. */
const WARM = 300;
/** First exchanges of a fresh session, whose median is a run. */
const SAMPLE = 20;
const RUNS = 5;

/** An exchange without tools against the same on langchain's agent, which stores nothing. */
export const bench: Bench = {
  about: "our processor time for a plain exchange, held against langchain's agent in memory",
  run: ({ scale }) =>
    withSessions(async (begin) => {
      const begins = { ours: begin, floor: () => Promise.resolve(memoryThread()) };
      const warm = Math.max(SAMPLE, Math.round(WARM * scale));
      await timesOf(await begins.ours(), warm);
      await timesOf(await begins.floor(), warm);
      const runs = { ours: [] as number[], floor: [] as number[] };
      for (let run = 0; run < Math.max(1, Math.round(RUNS * scale)); run += 1) {
        for (const name of ["ours", "floor"] as const) {
          runs[name].push(median(await timesOf(await begins[name](), SAMPLE)));
        }
      }
      return [
        {
          what: `processor time of the first ${SAMPLE} exchanges of a session, held against createAgent on MemorySaver`,
          unit: "ms",
          ours: median(runs.ours),
          floor: median(runs.floor),
          reach: { at_most: 4 },
        },
      ];
    }),
};

async function timesOf(
  ask: (text: string) => Promise<unknown>,
  exchanges: number,
): Promise<number[]> {
  const times: number[] = [];
  for (let index = 0; index < exchanges; index += 1) {
    times.push(await processorTime(() => ask(questionOf(index))));
  }
  return times;
}
