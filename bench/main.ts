import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";

import { BENCHES } from "./benches.ts";
import { compare, type KeptReport, readKept, UnusableReport } from "./compare.ts";
import type { Measurement } from "./measurement.ts";
import { type BenchReport, makeReport, type Report, tableLines } from "./report.ts";

const USAGE = `npm run bench -- [name…] [--scale N] [--json] [--save] [--against FILE]
  names: ${Object.keys(BENCHES).join(", ")}
  --scale N  0.1 is a tenth of the size (the figures are then no measure of anything)
  --json     one JSON document instead of the table
  --save     also writes the document to bench/results/
  --against FILE  prints what became worse than in a document of --save, and exits with 1 then`;

interface Order {
  readonly names: readonly string[];
  readonly scale: number;
  readonly json: boolean;
  readonly save: boolean;
  readonly kept: KeptReport | null;
}

/** Runs the named benches, or all the default ones, one after another, each in its own process. */
function main(): number {
  let order: Order | null;
  try {
    order = readOrder();
  } catch (error) {
    if (!(error instanceof UnusableReport)) {
      throw error;
    }
    console.error(error.message);
    return 2;
  }
  if (order === null) {
    console.error(USAGE);
    return 2;
  }
  const { names, scale, json } = order;
  const benches = names.map((name) => {
    const report = runBench(name, scale);
    if (!json) {
      console.log(tableLines(report));
    }
    return report;
  });
  const report = makeReport({ scale, benches });
  if (json) {
    console.log(JSON.stringify(report));
  }
  if (order.save) {
    save(report);
  }
  return order.kept === null ? 0 : printComparison(order.kept, benches);
}

/** The exit code. */
function printComparison(kept: KeptReport, benches: readonly BenchReport[]): number {
  const { lines, isWorse } = compare(kept, benches);
  for (const line of lines) {
    console.error(line);
  }
  console.error(isWorse ? "Something became worse." : "Nothing became worse.");
  return isWorse ? 1 : 0;
}

/** What the arguments ask for; null if they ask for something unknown. Throws `UnusableReport`. */
function readOrder(): Order | null {
  const options = {
    json: { type: "boolean", default: false },
    save: { type: "boolean", default: false },
    scale: { type: "string", default: "1" },
    against: { type: "string" },
  } as const;
  try {
    const { values, positionals } = parseArgs({ allowPositionals: true, options });
    const { json, save, against } = values;
    const scale = Number(values.scale);
    const known = Object.keys(BENCHES);
    const names = known.filter((name) =>
      positionals.length === 0 ? BENCHES[name]?.byDefault : positionals.includes(name),
    );
    const unknown = positionals.some((name) => !known.includes(name));
    if (unknown || !(scale > 0 && scale <= 10)) {
      return null;
    }
    const kept = against === undefined ? null : readKept(against, scale);
    return { names, scale, json, save, kept };
  } catch (error) {
    if (error instanceof UnusableReport) {
      throw error;
    }
    return null;
  }
}

function runBench(bench: string, scale: number): BenchReport {
  const start = performance.now();
  const program = new URL("one.ts", import.meta.url).pathname;
  const { status, stdout } = spawnSync(process.execPath, [program, bench, String(scale)], {
    stdio: ["ignore", "pipe", "inherit"],
    encoding: "utf8",
    maxBuffer: 2 ** 24,
  });
  if (status !== 0) {
    throw new Error(`the bench ${bench} failed`);
  }
  const measurements: Measurement[] = JSON.parse(stdout);
  return { bench, seconds: (performance.now() - start) / 1000, measurements };
}

function save(report: Report): void {
  const folder = new URL("results/", import.meta.url);
  mkdirSync(folder, { recursive: true });
  const name = `${report.at.slice(0, 10)}-${report.commit}`;
  writeFileSync(new URL(`${name}.json`, folder), `${JSON.stringify(report, null, 2)}\n`);
  console.error(`kept in bench/results/${name}.json`);
}

process.exitCode = main();
