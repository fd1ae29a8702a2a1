import { xml } from "../../src/artifacts/plans/drawing/text.ts";
import type { SaverPoint } from "../measurement.ts";

const WIDTH = 740;
const HEIGHT = 430;
/** At least 12 pixels on a screen of 640. */
const FONT_SIZE = 14;
const LINE_HEIGHT = 18;
/** The names of the savers come after it, to the right. */
const PLOT = { left: 72, right: 500, top: 24, bottom: 366 } as const;
/** Visible on white and on black, and apart for people who see few colors. */
const COLORS = ["#0072b2", "#56b4e9", "#999999", "#d55e00", "#e69f00"];

/**
 * The bytes that a thread has taken against its exchanges, a line for each saver, both axes
 * logarithmic. The same points always give the same text.
 */
export function drawGrowth(points: readonly SaverPoint[]): string {
  const savers = [...new Set(points.map(({ saver }) => saver))];
  const [, maxExchanges = 1] = range(points.map(({ exchanges }) => exchanges));
  const [minBytes = 1, maxBytes = 1] = range(points.map(({ bytes }) => bytes));
  const bottom = 10 ** Math.floor(Math.log10(minBytes));
  const top = 10 ** Math.ceil(Math.log10(maxBytes));
  const x = scale([1, maxExchanges], [PLOT.left, PLOT.right]);
  const y = scale([bottom, top], [PLOT.bottom, PLOT.top]);
  const parts = [
    ...powers(bottom, top).map((bytes) => gridLine(y(bytes), bytesText(bytes))),
    ...[...new Set(points.filter(({ stopped }) => !stopped).map(({ exchanges }) => exchanges))].map(
      (exchanges) => tick(x(exchanges), count(exchanges)),
    ),
    text((PLOT.left + PLOT.right) / 2, PLOT.bottom + 46, "exchanges in the thread", "middle"),
    ...savers.map((saver, index) => {
      const own = points.filter((point) => point.saver === saver);
      const places = own.map(({ exchanges, bytes }) => [x(exchanges), y(bytes)] as const);
      return line({ saver, color: COLORS[index % COLORS.length] ?? "#000", places, own });
    }),
    ...labels(savers, points, { x, y }),
  ];
  return `${head(points[0]?.workload ?? "")}\n${parts.join("\n")}\n</svg>\n`;
}

function head(workload: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" aria-labelledby="title description" font-family="system-ui, sans-serif" font-size="${FONT_SIZE}">
<title id="title">Bytes that a thread takes, by its number of exchanges</title>
<desc id="description">Each exchange: ${xml(workload)}. Both axes are logarithmic. The table below the picture has the figures.</desc>
<style>text{fill:#333}.grid{stroke:#888;stroke-opacity:.3}@media (prefers-color-scheme:dark){text{fill:#ddd}}</style>`;
}

function range(values: readonly number[]): number[] {
  return [Math.min(...values), Math.max(...values)];
}

function scale(
  [from, to]: readonly [number, number],
  [start, end]: readonly [number, number],
): (value: number) => number {
  const span = Math.log(to) - Math.log(from) || 1;
  return (value) => round(start + ((Math.log(value) - Math.log(from)) / span) * (end - start));
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function powers(from: number, to: number): number[] {
  const count = Math.round(Math.log10(to / from)) + 1;
  return Array.from({ length: count }, (_, index) => from * 10 ** index);
}

function bytesText(bytes: number): string {
  const units = ["B", "KB", "MB", "GB", "TB"];
  const power = Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3 + 1e-9));
  return `${Math.round(bytes / 1000 ** power)} ${units[power] ?? ""}`;
}

function gridLine(y: number, label: string): string {
  return `<line class="grid" x1="${PLOT.left}" y1="${y}" x2="${PLOT.right}" y2="${y}"/>${text(PLOT.left - 8, y + 5, label, "end")}`;
}

function tick(x: number, label: string): string {
  return `<line class="grid" x1="${x}" y1="${PLOT.top}" x2="${x}" y2="${PLOT.bottom}"/>${text(x, PLOT.bottom + 20, label, "middle")}`;
}

function text(x: number, y: number, content: string, anchor: "start" | "middle" | "end"): string {
  return `<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}">${content}</text>`;
}

interface Line {
  readonly saver: string;
  readonly color: string;
  readonly places: readonly (readonly [number, number])[];
  readonly own: readonly SaverPoint[];
}

function line({ saver, color, places, own }: Line): string {
  const path = places.map(([x, y]) => `${x},${y}`).join(" ");
  const dots = places.map(([x, y], index) =>
    own[index]?.stopped === true
      ? `<path d="M${x - 4} ${y - 4}l8 8m0-8l-8 8" stroke="${color}" stroke-width="2"/>`
      : `<circle cx="${x}" cy="${y}" r="3" fill="${color}"/>`,
  );
  return `<g><title>${xml(saver)}</title><polyline points="${path}" fill="none" stroke="${color}" stroke-width="2"/>${dots.join("")}</g>`;
}

/** A name at the end of each line, moved down so that no two touch. */
function labels(
  savers: readonly string[],
  points: readonly SaverPoint[],
  { x, y }: { readonly x: (value: number) => number; readonly y: (value: number) => number },
): string[] {
  const ends = savers.flatMap((saver, index) => {
    const last = points.findLast((point) => point.saver === saver);
    // above its last point a name crosses no line that grows more slowly
    return last === undefined ? [] : [{ index, last, y: y(last.bytes) + (last.stopped ? -8 : 5) }];
  });
  let below = -Infinity;
  return ends
    .toSorted((a, b) => a.y - b.y)
    .map(({ index, last, y }) => {
      const place = Math.max(y, below + LINE_HEIGHT);
      below = place;
      const { saver, stopped, exchanges } = last;
      const name = stopped ? `${saver} (stopped at ${count(exchanges)})` : saver;
      const color = COLORS[index % COLORS.length] ?? "#000";
      return `<text x="${round(x(exchanges) + 10)}" y="${round(place)}"><tspan fill="${color}">●</tspan> ${xml(name)}</text>`;
    });
}

function count(value: number): string {
  return value.toLocaleString("en-US");
}
