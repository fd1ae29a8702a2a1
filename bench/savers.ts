import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import type { Bench, Measurement, SaverPoint } from "./measurement.ts";
import { startPostgres } from "./postgres.ts";
import {
  type ContenderName,
  CONTENDERS,
  contendersOf,
  installOfficial,
} from "./savers/contenders.ts";
import { commitName } from "./report.ts";
import type { Course, CourseOrder, Point } from "./savers/course.ts";
import { finishedCourses } from "./savers/finished-courses.ts";
import { isWorkload, type WorkloadName, WORKLOADS } from "./savers/workloads.ts";
import { temporaryFolder } from "./services.ts";

const SIZES = [1, 100, 300, 1000, 5000];
/** Answers of 1 MB are measured to here. */
const LARGE_LAST = 300;
/** Megabytes of heap: LangGraph holds the whole thread in memory, answers of 1 MB too. */
const HEAP_MB = 16_000;
const SHORT = 300;
const LONG = 5000;

/** What LangGraph's checkpoints cost in a thread that grows, on our saver and on the official ones. */
export const bench: Bench = {
  about: "bytes and processor time of an exchange on RepriseSaver and on the official savers",
  run: async ({ scale }) => {
    const refused = installOfficial();
    if (refused !== null) {
      console.error(`The official savers are left out: ${refused}`);
    }
    using folder = temporaryFolder();
    await using postgres = await startPostgres();
    const finished = finishedCourses({ commit: commitName(), scale });
    if (finished.count > 0) {
      console.error(`${finished.count} parts of an interrupted run are used again`);
    }
    const lines: Measurement[] = [];
    let number = 0;
    for (const workload of Object.keys(WORKLOADS).filter(isWorkload)) {
      let alone: Course["points"] = [];
      for (const contender of contendersOf(workload)) {
        if (refused !== null && contender.startsWith("official")) {
          continue;
        }
        number += 1;
        const isPostgres = CONTENDERS[contender].on === "postgres";
        const place = (name: string) =>
          isPostgres
            ? postgres.makeEmptyDatabase(`${name}_${number}`)
            : Promise.resolve(join(folder.path, `${name}-${number}.db`));
        const sizes = sizesOf({ contender, workload }, scale);
        const order = { contender, workload, sizes };
        const course = await finished.take(`${workload} ${contender}`, async () =>
          runCourse({ ...order, location: await place("thread"), warm: await place("warm") }),
        );
        alone = contender === "alone" ? course.points : alone;
        lines.push(...linesOf({ contender, workload, alone }, course, scale));
      }
    }
    finished.forget();
    return lines;
  },
};

function sizesOf({ contender, workload }: Names, scale: number): number[] {
  // the others keep every state whole
  const isShort = workload === "large" && CONTENDERS[contender].limit !== null;
  const last = isShort ? LARGE_LAST : Infinity;
  const sizes = SIZES.filter((size) => size <= last).map((size) => scaled(size, scale));
  return [...new Set(sizes)];
}

function scaled(size: number, scale: number): number {
  return Math.max(1, Math.round(size * scale));
}

function runCourse(order: CourseOrder): Course {
  const program = fileURLToPath(new URL("savers/course.ts", import.meta.url));
  const heap = `--max-old-space-size=${HEAP_MB}`;
  const { stdout, signal, status } = spawnSync(
    process.execPath,
    [heap, program, JSON.stringify(order)],
    { stdio: ["ignore", "pipe", "inherit"], encoding: "utf8", maxBuffer: 2 ** 26 },
  );
  const last = stdout.trimEnd().split("\n").at(-1) ?? "";
  // V8 aborts a process that has no more memory
  if (last === "" || (status !== 0 && signal !== "SIGABRT")) {
    throw new Error(`${order.contender} failed with ${order.workload}`);
  }
  const course: Course = JSON.parse(last);
  return course;
}

interface Names {
  readonly contender: ContenderName;
  readonly workload: WorkloadName;
}

function linesOf(
  names: Names & { readonly alone: Course["points"] },
  { points, stopped }: Course,
  scale: number,
): Measurement[] {
  const saver = CONTENDERS[names.contender].title;
  const workload = WORKLOADS[names.workload].title;
  const line = (point: SaverPoint, what: string, unit: string, ours: number): Measurement => ({
    what: `${workload}, ${saver}, ${point.exchanges} exchanges: ${what}`,
    unit,
    ours,
    floor: null,
    reach: null,
  });
  const lines = points.flatMap(({ exchanges, bytes, cpu_ms }) => {
    const point: SaverPoint = { saver, workload, exchanges, bytes, cpu_ms, stopped: false };
    return [
      { ...line(point, "bytes of each", "KB", bytes / exchanges / 1000), point },
      line(point, "processor time of one", "ms", cpu_ms),
    ];
  });
  if (stopped !== null) {
    const { exchanges, bytes, reason } = stopped;
    const point: SaverPoint = { saver, workload, exchanges, bytes, cpu_ms: null, stopped: true };
    const stop = line(point, `stopped, ${reason}; bytes of all`, "MB", bytes / 1e6);
    lines.push({ ...stop, point });
  }
  return CONTENDERS[names.contender].limit === null && names.contender !== "alone"
    ? [...lines, ...growth(`${workload}, ${saver}`, { points, alone: names.alone, scale })]
    : lines;
}

/** What the last size costs, held against what a short thread costs. */
function growth(
  name: string,
  { points, alone, scale }: Pick<Course, "points"> & { alone: Course["points"]; scale: number },
): Measurement[] {
  const at = (size: number, from: Course["points"]) =>
    from.find(({ exchanges }) => exchanges === scaled(size, scale));
  const [short, long] = [at(SHORT, points), at(LONG, points)];
  if (short === undefined || long === undefined) {
    return [];
  }
  const saverPart = ({ exchanges, cpu_ms }: Point): number =>
    cpu_ms - (alone.find((point) => point.exchanges === exchanges)?.cpu_ms ?? 0);
  const what = `${name}, ${long.exchanges} exchanges against ${short.exchanges}`;
  return [
    {
      what: `${what}: bytes of each`,
      unit: "KB",
      ours: long.bytes / long.exchanges / 1000,
      floor: short.bytes / short.exchanges / 1000,
      reach: { at_most: 1.1 },
    },
    {
      what: `${what}: processor time of one`,
      unit: "ms",
      ours: long.cpu_ms,
      floor: short.cpu_ms,
      reach: { at_most: 2 },
    },
    ...(alone.length === 0
      ? []
      : [
          {
            what: `${what}: processor time of one, without LangGraph's part`,
            unit: "ms",
            ours: saverPart(long),
            floor: saverPart(short),
            reach: { at_most: 2 },
          },
        ]),
  ];
}
