import type { PhaseGraph } from "../phase-graph.ts";
import { withoutImplied } from "./implied-edges.ts";
import { layOutRow } from "./row-layout.ts";
import type { RowLayout, RowEdge } from "./row-layout.ts";
import { splitRows } from "./rows.ts";
import { BOX_HEIGHT, COLUMN_GAP, GAP } from "./sizes.ts";
import type { Box, Point } from "./sizes.ts";

export interface Line {
  readonly from: string;
  readonly to: string;
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
  readonly edges: readonly RowEdge[];
  readonly widthOf: (key: string) => number;
}

function layOutRows({ waves, edges, widthOf }: RowsInput): Layout {
  const sizes = waves.map((wave) => ({
    width: wave.reduce((most, key) => Math.max(most, widthOf(key)), 0),
    height: wave.length * (BOX_HEIGHT + GAP) - GAP,
  }));
  const gaps = { column: COLUMN_GAP, row: HEAD + 2 * LANE_MARGIN };
  const rows: RowLayout[] = [];
  let first = 0;
  for (const count of splitRows(sizes, gaps)) {
    const columns = waves.slice(first, first + count);
    const widths = sizes.slice(first, first + count).map(({ width }) => width);
    rows.push(layOutRow({ columns, widths, edges, first }));
    first += count;
  }
  return stackRows(rows, edges);
}

/** Puts rows below each other, with lanes for the lines between them. */
function stackRows(rows: readonly RowLayout[], edges: readonly RowEdge[]): Layout {
  const rowOf = new Map(rows.flatMap(({ boxes }, row) => boxes.map(({ key }) => [key, row])));
  const rowsOf = ({ from, to }: RowEdge) => ({
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
  const widest = rows.reduce((most, { width }) => Math.max(most, width), 0);
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
  /** Of a source whose lines leave its row: its lane beside the rows, and its lane below its row. */
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
    if (edge.from === edge.to) continue;
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
  const most = leaving.reduce((sum, lanes) => Math.max(sum, lanes), 0);
  return { laneOf, leaving, count: Math.max(most, busyUntil.length) };
}

/** Phases that no edge leads to or from, in rows of equal cells below the others. */
function withGrid(
  layout: Layout,
  keys: readonly string[],
  widthOf: (key: string) => number,
): Layout {
  const cell = keys.reduce((most, key) => Math.max(most, widthOf(key)), 0);
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
