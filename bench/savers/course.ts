import { freemem } from "node:os";

import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";

import { processorTime } from "../session-course.ts";
import { median } from "../measurement.ts";
import { bytesOf, type Contender, CONTENDERS, isContender } from "./contenders.ts";
import { isWorkload, type Workload, WORKLOADS } from "./workloads.ts";

/** What a contender cost when its thread had so many exchanges. */
export interface Point {
  readonly exchanges: number;
  /** Of the database, without what an empty one takes. */
  readonly bytes: number;
  /** Milliseconds of processor time of one exchange: the median of three means. */
  readonly cpu_ms: number;
}

export interface Course {
  readonly points: readonly Point[];
  /** Why it went no further, and after how many exchanges; null if it reached the last size. */
  readonly stopped: {
    readonly exchanges: number;
    readonly bytes: number;
    readonly reason: string;
  } | null;
}

export interface CourseOrder {
  readonly contender: string;
  readonly workload: string;
  readonly location: string;
  /** Another empty database, for the exchanges before the first one that counts. */
  readonly warm: string;
  /** Numbers of exchanges at which to measure, ascending. */
  readonly sizes: readonly number[];
}

/** Exchanges before the first one that counts: the code is compiled then. */
const WARM = 60;
/** Exchanges of which the mean is taken, `RUNS` times before each size. */
const SAMPLE = 20;
const RUNS = 3;
/** Exchanges between two checks of what a contender takes. */
const CHECK_EVERY = 10;
/** A contender stops before the machine has less memory than this. */
const MIN_FREE_BYTES = 3 * 2 ** 30;

/**
 * `node bench/savers/course.ts <order as JSON>` prints a Course, and before it, one line each, the Courses that it
 * would be if the process had no more memory from then on.
 */
async function main(): Promise<void> {
  const order: CourseOrder = JSON.parse(process.argv[2] ?? "{}");
  const { contender, workload } = order;
  if (!isContender(contender) || !isWorkload(workload)) {
    throw new Error("there is no contender or workload of this name");
  }
  const course = await runCourse(order, CONTENDERS[contender], WORKLOADS[workload]);
  print(course);
}

function print(course: Course): void {
  process.stdout.write(`${JSON.stringify(course)}\n`);
}

async function runCourse(
  { location, warm, sizes }: CourseOrder,
  contender: Contender,
  workload: Workload,
): Promise<Course> {
  const last = sizes.at(-1) ?? 0;
  await using warming = await openThread(contender, workload, warm);
  for (let count = 1; count <= Math.min(WARM, last); count += 1) {
    await warming.exchange(count);
  }
  const first = await contender.open(location);
  // the tables are made by the first call
  await first.saver.getTuple({ configurable: { thread_id: "none" } });
  await first.close();
  const empty = await bytesOf(contender, { location, saver: null });
  const points: Point[] = [];
  const recent: number[] = [];
  let thread = await openThread(contender, workload, location);
  for (let count = 1; count <= last; count += 1) {
    recent.push(await processorTime(() => thread.exchange(count)));
    recent.splice(0, recent.length - RUNS * SAMPLE);
    const isSize = sizes.includes(count);
    if (isSize && (contender.on === "file" || contender.on === "postgres")) {
      // what a log or a buffer holds is in the database then
      await thread[Symbol.asyncDispose]();
      thread = await openThread(contender, workload, location);
    }
    if (isSize || count % CHECK_EVERY === 0) {
      const bytes = (await bytesOf(contender, { location, saver: thread.saver })) - empty;
      points.push(...(isSize ? [{ exchanges: count, bytes, cpu_ms: medianOfMeans(recent) }] : []));
      const reason = stopReason(contender, { count, bytes });
      if (reason !== null && count < last) {
        return { points, stopped: { exchanges: count, bytes, reason } };
      }
      const ended = { exchanges: count, bytes, reason: "its process has no more memory" };
      print({ points, stopped: ended });
    }
  }
  await thread[Symbol.asyncDispose]();
  return { points, stopped: null };
}

interface OpenThread extends AsyncDisposable {
  readonly saver: BaseCheckpointSaver;
  readonly exchange: (index: number) => Promise<unknown>;
}

async function openThread(
  contender: Contender,
  workload: Workload,
  location: string,
): Promise<OpenThread> {
  const { saver, close } = await contender.open(location);
  const exchange = workload.start(saver);
  return {
    saver,
    exchange: (index) => exchange("thread", index),
    [Symbol.asyncDispose]: close,
  };
}

function stopReason(
  { limit }: Contender,
  { count, bytes }: { readonly count: number; readonly bytes: number },
): string | null {
  if (limit !== null && count >= limit.exchanges) {
    return `it is measured to ${limit.exchanges} exchanges`;
  }
  if (limit !== null && bytes > limit.bytes) {
    return "more than 4 GB";
  }
  return freemem() < MIN_FREE_BYTES ? "the machine has no more memory" : null;
}

function medianOfMeans(times: readonly number[]): number {
  const size = Math.ceil(times.length / RUNS);
  const means: number[] = [];
  for (let start = 0; start < times.length; start += size) {
    const group = times.slice(start, start + size);
    means.push(group.reduce((sum, time) => sum + time, 0) / group.length);
  }
  return median(means);
}

await main();
