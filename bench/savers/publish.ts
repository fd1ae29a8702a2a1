import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";

import { oneLine } from "../../src/core/text/terminal-text.ts";
import type { SaverPoint } from "../measurement.ts";
import type { Report } from "../report.ts";
import { CONTENDERS } from "./contenders.ts";
import { drawGrowth } from "./picture.ts";
import { WORKLOADS } from "./workloads.ts";

const ROOT = new URL("../../", import.meta.url);
const RESULTS = new URL("bench/results/", ROOT);
export const PAGE = new URL("docs/langgraph.md", ROOT);
/** Relative to the page. */
const PICTURE_LINK = "pictures/savers.svg";
export const PICTURE = new URL(PICTURE_LINK, PAGE);
const BEGIN =
  "<!-- figures of `npm run bench -- savers --save`; written by bench/savers/publish.ts -->";
const END = "<!-- end of the figures -->";

/** Stores what the saver of the same engine does, so its line would hide that one's. */
const SAME_BYTES = CONTENDERS["reprise-frozen"].title;

export interface Published {
  /** The page with the figures between its markers. */
  readonly page: string;
  /** An SVG. */
  readonly picture: string;
}

/** The page and its picture with the figures of a run of the bench. */
export function published(page: string, report: Report): Published {
  const points = pointsOf(report);
  // a first exchange may fit into pages that an empty database has; a logarithm has no zero
  const plain = points.filter(
    ({ workload, saver, bytes }) =>
      workload === WORKLOADS.plain.title && bytes > 0 && saver !== SAME_BYTES,
  );
  return { page: withFigures(page, figuresOf(report, points)), picture: drawGrowth(plain) };
}

/** The newest run of the bench that is kept; null if there is none. */
export function newestReport(): Report | null {
  const reports = readdirSync(RESULTS)
    .filter((name) => name.endsWith(".json"))
    .map((name): Report => JSON.parse(readFileSync(new URL(name, RESULTS), "utf8")));
  const newest = reports
    .filter(({ benches }) => benches.some(({ bench }) => bench === "savers"))
    .toSorted((a, b) => a.at.localeCompare(b.at))
    .at(-1);
  return newest ?? null;
}

function pointsOf({ benches }: Report): SaverPoint[] {
  return benches
    .filter(({ bench }) => bench === "savers")
    .flatMap(({ measurements }) => measurements.flatMap(({ point }) => point ?? []));
}

/** The page with other figures between its markers; none if `figures` is empty. */
export function withFigures(page: string, figures: string): string {
  const start = page.indexOf(BEGIN);
  const end = page.indexOf(END);
  if (start === -1 || end < start) {
    throw new Error("the page has no place for the figures");
  }
  const between = figures === "" ? "\n" : `\n\n${figures}\n\n`;
  return `${page.slice(0, start)}${BEGIN}${between}${page.slice(end)}`;
}

function figuresOf({ machine, versions, at }: Report, points: readonly SaverPoint[]): string {
  const tables = [...Map.groupBy(points, ({ workload }) => workload)].map(([workload, own]) =>
    tableOf(workload, own),
  );
  const processor = markdown(machine.processor);
  return [
    `Measured on ${at.slice(0, 10)} with Node.js ${versions.node} on ${machine.cores} cores (${processor}).`,
    `![Bytes that a thread takes, by its number of exchanges](${PICTURE_LINK})`,
    ...tables,
  ].join("\n\n");
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
        : [
            ...(found.bytes > 0 ? [bytesText(found.bytes / found.exchanges)] : []),
            `${found.cpu_ms?.toFixed(1) ?? "?"} ms`,
          ].join(", ");
    });
    return `| ${markdown(saver)} | ${cells.join(" | ")} |`;
  });
  return [
    `**${markdown(`${workload.charAt(0).toUpperCase()}${workload.slice(1)}`)}:** bytes of each exchange so far, processor time of one more, after`,
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

/** A name as text of a page or a cell of its table, whatever it holds. */
function markdown(name: string): string {
  return oneLine(name).replaceAll(/[\\`*_[\]<>|&]/g, "\\$&");
}

if (import.meta.main) {
  const report = newestReport();
  if (report === null) {
    throw new Error("No run of the bench is kept. Make one: npm run bench -- savers --save");
  }
  const { page, picture } = published(readFileSync(PAGE, "utf8"), report);
  mkdirSync(new URL(".", PICTURE), { recursive: true });
  writeFileSync(PICTURE, picture);
  writeFileSync(PAGE, page);
}
