import type { PhaseGraph } from "../phase-graph.ts";
import { arrange } from "./arrange.ts";
import type { Item } from "./arrange.ts";

export interface Box {
  readonly key: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

export interface Line {
  readonly from: string;
  readonly to: string;
  /** From a box's right side to another's left, past the boxes between: pairs that run level. */
  readonly points: readonly { readonly x: number; readonly y: number }[];
}

export interface Layout {
  readonly boxes: readonly Box[];
  readonly lines: readonly Line[];
  /** The left side and width of each wave's column. */
  readonly columns: readonly { readonly x: number; readonly width: number }[];
  readonly width: number;
  readonly height: number;
}

export const BOX_HEIGHT = 60;
const COLUMN_GAP = 72;
/** The room that an edge gets where it passes a column by. */
const PASSAGE_HEIGHT = 8;
/** Beyond this many passages edges lead straight across: nobody follows so many with the eye. */
const MAX_PASSAGES = 5000;

interface Passage {
  readonly from: string;
  readonly to: string;
  /** Item numbers from the source to the target, one for each column. */
  readonly items: readonly number[];
}

/** Lays a graph out with its waves as columns, from the boxes' widths. */
export function layOut(graph: PhaseGraph, widthOf: (key: string) => number): Layout {
  const keys = graph.waves.flat();
  const items: Item[] = keys.map(() => ({ height: BOX_HEIGHT }));
  const numbers = new Map(keys.map((key, index) => [key, index]));
  const waveOf = new Map(graph.waves.flatMap((wave, at) => wave.map((key) => [key, at])));
  const columns = graph.waves.map((wave) => wave.map((key) => numbers.get(key) ?? 0));
  const spans = graph.edges.map(({ from, to }) => (waveOf.get(to) ?? 0) - (waveOf.get(from) ?? 0));
  const direct = spans.reduce((sum, span) => sum + span - 1, 0) > MAX_PASSAGES;
  const passages = graph.edges.map(({ from, to }, edge): Passage => {
    const start = waveOf.get(from) ?? 0;
    const between: number[] = [];
    for (let column = 1; column < (spans[edge] ?? 0) && !direct; column += 1) {
      between.push(items.push({ height: PASSAGE_HEIGHT }) - 1);
      columns[start + column]?.push(items.length - 1);
    }
    return { from, to, items: [numbers.get(from) ?? 0, ...between, numbers.get(to) ?? 0] };
  });
  const links = passages.flatMap((passage) =>
    passage.items.slice(1).map((to, index) => ({ from: passage.items[index] ?? 0, to })),
  );
  const places = arrange({ columns, items, links });
  return toLayout({ keys, items, places, passages, columnOf: columnOf(columns), graph, widthOf });
}

function columnOf(columns: readonly (readonly number[])[]): Map<number, number> {
  return new Map(columns.flatMap((column, at) => column.map((item) => [item, at])));
}

function toLayout(parts: {
  readonly keys: readonly string[];
  readonly items: readonly Item[];
  readonly places: readonly number[];
  readonly passages: readonly Passage[];
  readonly columnOf: ReadonlyMap<number, number>;
  readonly graph: PhaseGraph;
  readonly widthOf: (key: string) => number;
}): Layout {
  const { keys, items, places, passages, columnOf, graph, widthOf } = parts;
  let right = 0;
  const columns = graph.waves.map((wave) => {
    const column = { x: right, width: wave.reduce((most, key) => Math.max(most, widthOf(key)), 0) };
    right += column.width + COLUMN_GAP;
    return column;
  });
  const sides = (item: number): { left: number; right: number; y: number } => {
    const { x, width } = columns[columnOf.get(item) ?? 0] ?? { x: 0, width: 0 };
    return { left: x, right: x + width, y: places[item] ?? 0 };
  };
  const lines = passages.map(({ from, to, items: way }): Line => {
    const points = way.flatMap((item, index) => {
      const { left, right, y } = sides(item);
      return [
        ...(index > 0 ? [{ x: left, y }] : []),
        ...(index < way.length - 1 ? [{ x: right, y }] : []),
      ];
    });
    return { from, to, points };
  });
  const boxes = keys.map((key, item): Box => {
    const { left: x, right, y } = sides(item);
    return { key, x, y: y - BOX_HEIGHT / 2, width: right - x };
  });
  const height = items.reduce(
    (most, item, at) => Math.max(most, (places[at] ?? 0) + item.height / 2),
    0,
  );
  return { boxes, lines, columns, width: Math.max(0, right - COLUMN_GAP), height };
}
