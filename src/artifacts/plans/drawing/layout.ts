import type { Edge, PhaseGraph } from "../phase-graph.ts";
import { withoutImplied } from "./implied-edges.ts";
import { layOutRow, type RowLayout } from "./row-layout.ts";
import { splitRows } from "./rows.ts";
import { BOX_HEIGHT, COLUMN_GAP, GAP, type Box, type Point } from "./sizes.ts";

export interface Line extends Edge {
  /**
   * From a box's right side to another's left, past the boxes between: pairs that run level. If the
   * other is in another row, to the end of the first row.
   */
  readonly points: readonly Point[];
  /** Corners on the way to another row; none within a row. */
  readonly turn: readonly Point[];
  /** In the other row, as `points`. */
  readonly arrival: readonly Point[];
}

export interface Column extends Point {
  /** The wave's number, from 0; null above phases that no edge leads to or from. */
  readonly wave: number | null;
}

export interface Layout {
  readonly boxes: readonly Box[];
  readonly lines: readonly Line[];
  /** The upper left corner of each wave. */
  readonly columns: readonly Column[];
  readonly width: number;
  readonly height: number;
}

/** Above each row, for the names of the waves. */
export const HEAD = 28;
/** Between lines that run side by side from row to row, and between them and boxes. */
const LANE = 7;
const LANE_MARGIN = 16;

/**
 * Lays a graph out from the boxes' widths: waves as columns, in rows if there are many; edges that
 * others imply are left out; phases without any edge are in a grid below.
 */
export function layOut(graph: PhaseGraph, widthOf: (key: string) => number): Layout {
  const edges = withoutImplied(graph);
  const linked = new Set(edges.flatMap(({ from, to }) => [from, to]));
  const waves = graph.waves.map((wave) => wave.filter((key) => linked.has(key)));
  const rows = layOutRows({ waves: waves.filter(({ length }) => length > 0), edges, widthOf });
  const alone = graph.waves.flat().filter((key) => !linked.has(key));
  return alone.length === 0 ? rows : withGrid(rows, alone, widthOf);
}

interface RowsInput {
  readonly waves: readonly (readonly string[])[];
  readonly edges: readonly Edge[];
  readonly widthOf: (key: string) => number;
}

/** Height over width, at most; the picture adds a little to both. */
const MAX_TALLNESS = 2.6;

/**
 * Splits waves into several columns if the picture would be too tall otherwise. Lines pass columns
 * in separate lanes, or straight across if these lanes alone would make it too tall.
 */
function layOutRows(input: RowsInput): Layout {
  const length = maxColumnLength(input);
  for (const maxLength of [Infinity, length, Math.ceil(length / 2), Math.ceil(length / 4)]) {
    const layout = layOutColumns(input, { maxLength, passages: true });
    if (!isTooTall(layout)) {
      return layout;
    }
  }
  return layOutColumns(input, { maxLength: length, passages: false });
}

function isTooTall({ width, height }: Pick<Layout, "width" | "height">): boolean {
  return height > MAX_TALLNESS * width;
}

/** The most boxes in a column with which the boxes alone are not too tall. */
function maxColumnLength({ waves, widthOf }: RowsInput): number {
  const widths = waves.map((wave) => widestOf(wave, widthOf) + COLUMN_GAP);
  let maxLength = waves.reduce((max, { length }) => Math.max(max, length), 1);
  const widthAt = (columnLength: number): number =>
    waves.reduce(
      (sum, { length }, at) => sum + Math.ceil(length / columnLength) * (widths[at] ?? 0),
      0,
    );
  while (
    maxLength > 1 &&
    isTooTall({ width: widthAt(maxLength), height: maxLength * (BOX_HEIGHT + GAP) })
  ) {
    maxLength = Math.min(maxLength - 1, Math.ceil(maxLength * 0.9));
  }
  return maxLength;
}

function widestOf(keys: readonly string[], widthOf: (key: string) => number): number {
  return keys.reduce((max, key) => Math.max(max, widthOf(key)), 0);
}

interface Split {
  /** Boxes in a column, at most. */
  readonly maxLength: number;
  /** Whether lines get lanes in the columns that they pass. */
  readonly passages: boolean;
}

function layOutColumns(
  { waves, edges, widthOf }: RowsInput,
  { maxLength, passages }: Split,
): Layout {
  const columns = waves.flatMap((keys, wave) =>
    inParts(keys, maxLength).map((part) => ({ keys: part, wave, width: widestOf(part, widthOf) })),
  );
  const sizes = columns.map(({ keys, width }) => {
    return { width, height: keys.length * (BOX_HEIGHT + GAP) - GAP };
  });
  const rows: RowLayout[] = [];
  let first = 0;
  for (const count of splitRows(sizes, HEAD + 2 * LANE_MARGIN)) {
    rows.push(layOutRow({ columns: columns.slice(first, first + count), edges, passages }));
    first += count;
  }
  return stackRows(rows, edges);
}

/** Parts of about the same length, at most `maxLength`. */
function inParts(keys: readonly string[], maxLength: number): (readonly string[])[] {
  const count = Math.max(1, Math.ceil(keys.length / maxLength));
  const length = Math.ceil(keys.length / count);
  return Array.from({ length: count }, (_, at) =>
    keys.slice(at * length, (at + 1) * length),
  ).filter((part) => part.length > 0);
}

/** Puts rows below each other, with lanes for the lines between them. */
function stackRows(rows: readonly RowLayout[], edges: readonly Edge[]): Layout {
  const rowOf = new Map(rows.flatMap(({ boxes }, row) => boxes.map(({ key }) => [key, row])));
  const rowsOf = ({ from, to }: Edge) => ({
    from: rowOf.get(from) ?? 0,
    to: rowOf.get(to) ?? 0,
  });
  const lanes = assignLanes(edges.map((edge) => ({ source: edge.from, ...rowsOf(edge) })));
  const gutter = lanes.count === 0 ? 0 : LANE_MARGIN + lanes.count * LANE;
  const tops: number[] = [];
  let bottom = 0;
  for (const [row, { height }] of rows.entries()) {
    tops.push(bottom);
    const channel = lanes.leaving[row] ?? 0;
    bottom += height + (row === rows.length - 1 ? 0 : 2 * LANE_MARGIN + channel * LANE + HEAD);
  }
  const widest = rows.reduce((max, { width }) => Math.max(max, width), 0);
  const moved = (point: Point, row: number): Point => {
    return { x: point.x + gutter, y: point.y + (tops[row] ?? 0) };
  };
  const lines = edges.map((edge): Line => {
    const at = rowsOf(edge);
    const part = (name: string, row: number): Point[] =>
      (rows[row]?.ways.get(name) ?? []).map((point) => moved(point, row));
    if (at.from === at.to) {
      return { ...edge, points: part(`${edge.from} ${edge.to}`, at.from), turn: [], arrival: [] };
    }
    const points = part(`${edge.from} `, at.from);
    const arrival = part(` ${edge.from} ${edge.to}`, at.to);
    const lane = lanes.laneOf.get(edge.from) ?? { gutter: 0, channel: 0 };
    const { height = 0, width = 0 } = rows[at.from] ?? {};
    const right = gutter + width + LANE_MARGIN + lane.channel * LANE;
    const left = gutter - LANE_MARGIN - lane.gutter * LANE;
    const level = (tops[at.from] ?? 0) + height + LANE_MARGIN + lane.channel * LANE;
    const turn = [
      { x: right, y: points.at(-1)?.y ?? 0 },
      { x: right, y: level },
      { x: left, y: level },
      { x: left, y: arrival[0]?.y ?? 0 },
    ];
    return { ...edge, points, turn, arrival };
  });
  return {
    boxes: rows.flatMap(({ boxes }, row) => boxes.map((box) => ({ ...box, ...moved(box, row) }))),
    lines,
    columns: rows.flatMap(({ columns }, row) =>
      columns.map(({ x, wave }) => ({ ...moved({ x, y: 0 }, row), wave })),
    ),
    width: widest + 2 * gutter,
    height: bottom,
  };
}

interface Crossing {
  readonly source: string;
  readonly from: number;
  readonly to: number;
}

interface Lanes {
  /** Lanes of a source whose lines leave its row: beside the rows, and below its row. */
  readonly laneOf: ReadonlyMap<string, { readonly gutter: number; readonly channel: number }>;
  /** Lanes below each row. */
  readonly leaving: readonly number[];
  /** Lanes that both gutters need. */
  readonly count: number;
}

/** All lines of one source that leave its row share a lane; two that pass the same row do not. */
function assignLanes(edges: readonly Crossing[]): Lanes {
  const ends = new Map<string, Crossing>();
  for (const edge of edges) {
    if (edge.from === edge.to) {
      continue;
    }
    const known = ends.get(edge.source);
    ends.set(edge.source, { ...edge, to: Math.max(edge.to, known?.to ?? 0) });
  }
  const laneOf = new Map<string, { gutter: number; channel: number }>();
  const leaving: number[] = [];
  const busyUntil: number[] = [];
  for (const { source, from, to } of [...ends.values()].sort((a, b) => a.from - b.from)) {
    const free = busyUntil.findIndex((until) => until <= from);
    const gutter = free === -1 ? busyUntil.length : free;
    busyUntil[gutter] = to;
    const channel = leaving[from] ?? 0;
    leaving[from] = channel + 1;
    laneOf.set(source, { gutter, channel });
  }
  const channels = leaving.reduce((sum, lanes) => Math.max(sum, lanes), 0);
  return { laneOf, leaving, count: Math.max(channels, busyUntil.length) };
}

/** Phases that no edge leads to or from, in rows of equal cells below the others. */
function withGrid(
  layout: Layout,
  keys: readonly string[],
  widthOf: (key: string) => number,
): Layout {
  const cell = widestOf(keys, widthOf);
  const square = Math.sqrt((2 * keys.length * (BOX_HEIGHT + GAP)) / (cell + GAP));
  const fitting = Math.floor((layout.width + GAP) / (cell + GAP));
  const across = Math.max(1, Math.min(keys.length, Math.max(fitting, Math.ceil(square))));
  const top = layout.height === 0 ? 0 : layout.height + LANE_MARGIN + HEAD;
  const boxes = keys.map((key, at): Box => {
    const x = (at % across) * (cell + GAP);
    return { key, x, y: top + Math.floor(at / across) * (BOX_HEIGHT + GAP), width: cell };
  });
  const height = top + Math.ceil(keys.length / across) * (BOX_HEIGHT + GAP) - GAP;
  return {
    ...layout,
    boxes: [...layout.boxes, ...boxes],
    columns: [...layout.columns, { x: 0, y: top, wave: null }],
    width: Math.max(layout.width, across * (cell + GAP) - GAP),
    height,
  };
}
