import { execFileSync } from "node:child_process";
import { cpus, totalmem } from "node:os";

import { judged, type Measurement, reached } from "./measurement.ts";

/** What one run of benches found, with all that is needed to judge it elsewhere. */
export interface Report {
  readonly at: string;
  readonly commit: string;
  readonly scale: number;
  readonly machine: {
    readonly processor: string;
    readonly cores: number;
    readonly memory_gib: number;
    readonly platform: string;
  };
  readonly versions: { readonly node: string; readonly sqlite: string; readonly v8: string };
  readonly seconds: number;
  readonly benches: readonly BenchReport[];
}

export interface BenchReport {
  readonly bench: string;
  readonly seconds: number;
  readonly measurements: readonly Measurement[];
}

/** The report of what ran, on this machine and now. */
export function makeReport(parts: {
  readonly scale: number;
  readonly benches: readonly BenchReport[];
}): Report {
  const { scale, benches } = parts;
  const { node, sqlite = "", v8 } = process.versions;
  return {
    at: new Date().toISOString(),
    commit: commitName(),
    scale,
    machine: {
      processor: cpus()[0]?.model ?? "unknown",
      cores: cpus().length,
      memory_gib: Math.round(totalmem() / 2 ** 30),
      platform: `${process.platform} ${process.arch}`,
    },
    versions: { node, sqlite, v8 },
    seconds: benches.reduce((sum, { seconds }) => sum + seconds, 0),
    benches,
  };
}

export function commitName(): string {
  try {
    return execFileSync("git", ["describe", "--always", "--dirty"], { encoding: "utf8" }).trim();
  } catch {
    return "unknown";
  }
}

/** The table's lines for one bench: `pass`, `short`, or nothing to reach. */
export function tableLines({ bench, measurements }: BenchReport): string {
  return measurements.map((measurement) => line(bench, measurement)).join("\n");
}

function line(bench: string, measurement: Measurement): string {
  const { what, unit, ours, floor, reach } = measurement;
  const verdict = { true: "pass ", false: "SHORT", null: "     " }[`${reached(measurement)}`];
  const held = floor === null ? "" : ` / ${figure(floor)} = ${judged(measurement).toFixed(2)}`;
  const goal =
    reach === null
      ? ""
      : "at_least" in reach
        ? ` (at least ${reach.at_least})`
        : ` (at most ${reach.at_most})`;
  return `${verdict} ${bench.padEnd(14)} ${what}: ${figure(ours)}${held} ${unit}${goal}`;
}

function figure(value: number): string {
  if (Math.abs(value) >= 1000) {
    return Math.round(value).toLocaleString("en-US");
  }
  return value.toFixed(Math.abs(value) >= 10 ? 1 : 2);
}
