import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";

import type { SaverPoint } from "../measurement.ts";
import type { Report } from "../report.ts";
import { drawGrowth } from "./picture.ts";
import { WORKLOADS } from "./workloads.ts";

const ROOT = new URL("../../", import.meta.url);
const RESULTS = new URL("bench/results/", ROOT);
const BEGIN =
  "<!-- figures of `npm run bench -- savers --save`; written by bench/savers/publish.ts -->";
const END = "<!-- end of the figures -->";

export interface Published {
  readonly path: URL;
  readonly text: string;
}

/** The picture, and the page with its table, as the newest kept run of the bench has them. */
export function published(): Published[] {
  const report = newestReport();
  const points = pointsOf(report);
  const page = new URL("docs/langgraph.md", ROOT);
  // a first exchange may fit into pages that an empty database has; a logarithm has no zero
  const plain = points.filter(
    ({ workload, bytes }) => workload === WORKLOADS.plain.title && bytes > 0,
  );
  return [
    { path: new URL("docs/pictures/savers.svg", ROOT), text: drawGrowth(plain) },
    { path: page, text: withTables(readFileSync(page, "utf8"), { report, points }) },
  ];
}

function newestReport(): Report {
  const reports = readdirSync(RESULTS)
    .filter((name) => name.endsWith(".json"))
    .map((name): Report => JSON.parse(readFileSync(new URL(name, RESULTS), "utf8")));
  const newest = reports
    .filter(({ benches }) => benches.some(({ bench }) => bench === "savers"))
    .toSorted((a, b) => a.at.localeCompare(b.at))
    .at(-1);
  if (newest === undefined) {
    throw new Error("no run of the bench savers is kept in bench/results");
  }
  return newest;
}

function pointsOf({ benches }: Report): SaverPoint[] {
  return benches
    .filter(({ bench }) => bench === "savers")
    .flatMap(({ measurements }) => measurements.flatMap(({ point }) => point ?? []));
}

function withTables(
  page: string,
  { report, points }: { readonly report: Report; readonly points: readonly SaverPoint[] },
): string {
  const start = page.indexOf(BEGIN);
  const end = page.indexOf(END);
  if (start === -1 || end < start) {
    throw new Error("docs/langgraph.md has no place for the figures");
  }
  const tables = [...Map.groupBy(points, ({ workload }) => workload)].map(([workload, own]) =>
    tableOf(workload, own),
  );
  const { machine, versions, at } = report;
  const about = `Measured on ${at.slice(0, 10)} with Node.js ${versions.node} on ${machine.cores} cores (${machine.processor}).`;
  return `${page.slice(0, start)}${BEGIN}\n\n${about}\n\n${tables.join("\n\n")}\n\n${page.slice(end)}`;
}

/** A line for each saver, a column for each size: bytes and processor time of an exchange. */
function tableOf(workload: string, points: readonly SaverPoint[]): string {
  const measured = points.filter(({ stopped }) => !stopped);
  const sizes = [...new Set(measured.map(({ exchanges }) => exchanges))].sort((a, b) => a - b);
  const rows = [...Map.groupBy(points, ({ saver }) => saver)].map(([saver, own]) => {
    const cells = sizes.map((size) => {
      const found = own.find(({ exchanges, stopped }) => exchanges === size && !stopped);
      const stop = own.find(({ stopped }) => stopped);
      return found === undefined
        ? stop === undefined
          ? ""
          : `stopped at ${count(stop.exchanges)}: ${bytesText(stop.bytes)}`
        : `${bytesText(found.bytes / found.exchanges)}, ${found.cpu_ms?.toFixed(1) ?? "?"} ms`;
    });
    return `| ${saver} | ${cells.join(" | ")} |`;
  });
  return [
    `**${workload.charAt(0).toUpperCase()}${workload.slice(1)}:** bytes of each exchange so far, processor time of one more, after`,
    "",
    `| saver | ${sizes.map(count).join(" | ")} exchanges |`,
    `|---|${sizes.map(() => "---").join("|")}|`,
    ...rows,
  ].join("\n");
}

function count(value: number): string {
  return value.toLocaleString("en-US");
}

function bytesText(bytes: number): string {
  if (bytes >= 1e9) {
    return `${(bytes / 1e9).toFixed(1)} GB`;
  }
  return bytes >= 1e6 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1000).toFixed(1)} KB`;
}

if (import.meta.main) {
  for (const { path, text } of published()) {
    mkdirSync(new URL(".", path), { recursive: true });
    writeFileSync(path, text);
  }
}
