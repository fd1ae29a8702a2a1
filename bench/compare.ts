import { readFileSync } from "node:fs";

import { judged, type Measurement, reached } from "./measurement.ts";
import type { BenchReport, Report } from "./report.ts";

/** A kept report, as far as another is compared with it. */
export type KeptReport = Pick<Report, "scale" | "benches">;

/** Error whose sentence is for the person who asked for the comparison. */
export class UnusableReport extends Error {}

/** How much of a figure may be another from one run to the next: bytes are counted, times are not. */
const SHARE_OF_BYTES = 0.03;
const SHARE_OF_OTHERS = 0.1;

/** Reads a kept report of the same scale. Throws `UnusableReport`. */
export function readKept(path: string, scale: number): KeptReport {
  const report = parse(path);
  if (!isReport(report)) {
    throw new UnusableReport(
      "The file of --against is not a report of a bench. Name one that --save has written.",
    );
  }
  if (report.scale !== scale) {
    throw new UnusableReport(
      `The report of --against has another scale. Run the bench with --scale ${report.scale}.`,
    );
  }
  return report;
}

function parse(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    throw new UnusableReport("The file of --against cannot be read. Check its name.");
  }
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function isReport(value: unknown): value is KeptReport {
  return (
    isRecord(value) &&
    typeof value["scale"] === "number" &&
    isListOf(value["benches"], isBenchReport)
  );
}

function isBenchReport(value: unknown): value is BenchReport {
  return (
    isRecord(value) &&
    typeof value["bench"] === "string" &&
    isListOf(value["measurements"], isMeasurement)
  );
}

function isMeasurement(value: unknown): value is Measurement {
  return (
    isRecord(value) &&
    typeof value["what"] === "string" &&
    typeof value["unit"] === "string" &&
    typeof value["ours"] === "number" &&
    (value["floor"] === null || typeof value["floor"] === "number") &&
    (value["reach"] === null || isReach(value["reach"]))
  );
}

function isReach(value: unknown): boolean {
  return (
    isRecord(value) &&
    (typeof value["at_most"] === "number" || typeof value["at_least"] === "number")
  );
}

function isListOf<Item>(value: unknown, is: (item: unknown) => item is Item): value is Item[] {
  return Array.isArray(value) && value.every(is);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

export interface Comparison {
  /** One line for each measurement that became worse, is new or is gone. */
  readonly lines: readonly string[];
  readonly isWorse: boolean;
}

/** Compares the benches that ran with those of the same names in a kept report. */
export function compare(kept: KeptReport, benches: readonly BenchReport[]): Comparison {
  const before = linesOf(kept.benches.filter((one) => benches.some((now) => isSame(one, now))));
  const now = linesOf(benches);
  const worse = [...now].flatMap(([name, measurement]) => {
    const earlier = before.get(name);
    const why = earlier === undefined ? null : worseBy(earlier, measurement);
    return why === null ? [] : [`WORSE ${name}: ${why}`];
  });
  const isNew = [...now.keys()].filter((name) => !before.has(name));
  const isGone = [...before.keys()].filter((name) => !now.has(name));
  const lines = [
    ...worse,
    ...isNew.map((name) => `new   ${name}`),
    ...isGone.map((name) => `gone  ${name}`),
  ];
  return { lines, isWorse: worse.length > 0 };
}

function isSame(one: BenchReport, other: BenchReport): boolean {
  return one.bench === other.bench;
}

function linesOf(benches: readonly BenchReport[]): ReadonlyMap<string, Measurement> {
  return new Map(
    benches.flatMap(({ bench, measurements }) =>
      measurements.map((measurement) => [`${bench}: ${measurement.what}`, measurement] as const),
    ),
  );
}

/** What became worse; null for nothing, and for a line without a target: less may be more there. */
function worseBy(before: Measurement, now: Measurement): string | null {
  const { reach, unit } = now;
  if (reach === null) {
    return null;
  }
  const [was, is] = [judged(before), judged(now)];
  const figures = `${was.toFixed(2)} -> ${is.toFixed(2)}`;
  if (reached(before) === true && reached(now) === false) {
    return `${figures}, misses its target now`;
  }
  const share = /^(?:bytes|KB|MB)$/.test(unit) ? SHARE_OF_BYTES : SHARE_OF_OTHERS;
  const isWorse = "at_most" in reach ? is > was * (1 + share) : is < was * (1 - share);
  return isWorse ? `${figures}, by more than ${share * 100} %` : null;
}
