import { type Bench, type Measurement, median } from "./measurement.ts";
import { memoryThread } from "./memory-thread.ts";
import { questionOf, RESULT_BYTES, TOOL_ROUNDS } from "./texts.ts";
import { type Course, courseOf, processorTime } from "./session-course.ts";

/** The median of so many exchanges is the figure of a position in the session. */
const SAMPLE = 20;
/** Exchanges after a filled session: the first summarises it, and the code gets used to its size. */
const BEHIND = 60;

/**
 * Whole exchanges of a session, as `createExchanger` runs them: lease, user's row, compaction
 * view, agent, checkpoints with their rows, release and pruning. Only the model costs nothing.
 */
export const bench: Bench = {
  about: "our time for an exchange however long its session is, and its bytes on disk",
  run: async ({ scale }) => {
    const lines: Measurement[] = [];
    for (const rounds of [0, TOOL_ROUNDS]) {
      lines.push(...(await measure(rounds, scale)));
    }
    return [...lines, await measureMemory(scaled(400, scale))];
  },
};

async function measure(rounds: number, scale: number): Promise<Measurement[]> {
  const subject = rounds === 0 ? "exchange" : `exchange, ${rounds} tools of ${RESULT_BYTES} bytes`;
  const whole = await courseOf({ exchanges: scaled(1000, scale), rounds });
  const filled = scaled(5000, scale) - scaled(BEHIND, scale);
  const long = await courseOf({ exchanges: scaled(BEHIND, scale), rounds, filled });
  // measured last, so that a short session does not pay for compiling the code
  const short = await courseOf({ exchanges: SAMPLE, rounds });
  const first = median(short.times);
  const others = filled + long.times.length;
  return [
    growth({ subject, at: whole.times.length, times: whole.times, first, reach: 1.5 }),
    growth({ subject, at: others, times: long.times, first, reach: rounds === 0 ? 1.5 : 1.2 }),
    bytes(subject, whole),
    {
      what: `${subject}: the first after a start, after ${others} others, held against ${SAMPLE}`,
      unit: "ms",
      ours: median(long.afresh),
      floor: median(short.afresh),
      // short exchanges fill the context later: at 5,000 the model is shown most of them
      reach: rounds === 0 ? null : { at_most: 2 },
    },
  ];
}

function scaled(size: number, scale: number): number {
  return Math.max(SAMPLE, Math.round(size * scale));
}

function growth(parts: {
  readonly subject: string;
  readonly at: number;
  readonly times: readonly number[];
  readonly first: number;
  readonly reach: number | null;
}): Measurement {
  const { subject, at, times, first, reach } = parts;
  return {
    what: `${subject}: processor time at ${at}, held against the first ${SAMPLE}`,
    unit: "ms",
    ours: median(times.slice(-SAMPLE)),
    floor: first,
    reach: reach === null ? null : { at_most: reach },
  };
}

function bytes(subject: string, course: Course): Measurement {
  return {
    what: `${subject}: bytes on disk after ${course.times.length}, compared with the texts`,
    unit: "bytes",
    ours: course.bytes,
    floor: course.textBytes,
    reach: { at_most: 4 },
  };
}

/** The same without tools on langchain's agent and LangGraph's own saver, all in memory. */
async function measureMemory(exchanges: number): Promise<Measurement> {
  await memoryTimes(exchanges / 4);
  const times = await memoryTimes(exchanges);
  const first = median(times.slice(0, SAMPLE));
  return growth({ subject: "MemorySaver", at: exchanges, times, first, reach: null });
}

async function memoryTimes(exchanges: number): Promise<number[]> {
  const ask = memoryThread();
  const times: number[] = [];
  for (let index = 0; index < exchanges; index += 1) {
    times.push(await processorTime(() => ask(questionOf(index))));
  }
  return times;
}
