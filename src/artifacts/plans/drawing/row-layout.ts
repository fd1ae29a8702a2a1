import type { Edge } from "../phase-graph.ts";
import { arrange, type Item } from "./arrange.ts";
import { BOX_HEIGHT, COLUMN_GAP, type Box, type Point } from "./sizes.ts";

export interface RowInput {
  readonly columns: readonly RowColumn[];
  /** All edges of the graph. */
  readonly edges: readonly Edge[];
  /** Whether edges get a passage in the columns that they pass; else they lead straight across. */
  readonly passages: boolean;
}

/** A wave, or a part of one. */
export interface RowColumn {
  readonly keys: readonly string[];
  /** The wave's number, from 0. */
  readonly wave: number;
  readonly width: number;
}

export interface RowLayout {
  readonly boxes: readonly Box[];
  /** Where each wave begins. */
  readonly columns: readonly { readonly x: number; readonly wave: number }[];
  /**
   * The way of each edge in this row, by `from to`; of one that leaves the row by `from `, and of
   * one that comes from another by ` from to`.
   */
  readonly ways: ReadonlyMap<string, readonly Point[]>;
  readonly width: number;
  readonly height: number;
}

/** The height that an edge gets in a column that it passes. */
const PASSAGE_HEIGHT = 8;
/** Beyond this many passages edges lead straight across: so many cannot be followed with the eye. */
const MAX_PASSAGES = 5000;

/** Lays out columns beside each other, with a passage for each edge in each column that it passes. */
export function layOutRow({ columns: given, edges, passages }: RowInput): RowLayout {
  const keysOf = given.map((column) => column.keys);
  const keys = keysOf.flat();
  const numbers = new Map(keys.map((key, at) => [key, at]));
  const columnOf = new Map(keysOf.flatMap((column, at) => column.map((key) => [key, at])));
  const items: Item[] = keys.map(() => ({ height: BOX_HEIGHT }));
  const columns = keysOf.map((column) => column.map((key) => numbers.get(key) ?? 0));
  const tracks = tracksOf(edges, columnOf, keysOf.length);
  const passed = tracks.reduce((sum, { start, end }) => sum + Math.max(0, end - start - 1), 0);
  const isLed = passages && passed <= MAX_PASSAGES;
  const itemsOf = new Map<string, readonly number[]>();
  for (const { name, from, to, start, end } of tracks) {
    const way: number[] = from === null ? [] : [numbers.get(from) ?? 0];
    for (let column = start + 1; column < end && isLed; column += 1) {
      way.push(items.push({ height: PASSAGE_HEIGHT }) - 1);
      columns[column]?.push(items.length - 1);
    }
    itemsOf.set(name, to === null ? way : [...way, numbers.get(to) ?? 0]);
  }
  const links = [...itemsOf.values()].flatMap((way) =>
    way.slice(1).map((to, at) => ({ from: way[at] ?? 0, to })),
  );
  return toRow({
    keys,
    columns,
    given,
    items,
    itemsOf,
    centres: arrange({ columns, items, links }),
  });
}

interface Track {
  readonly name: string;
  /** Null for the edge of the row. */
  readonly from: string | null;
  readonly to: string | null;
  readonly start: number;
  readonly end: number;
}

function tracksOf(
  edges: readonly Edge[],
  columnOf: ReadonlyMap<string, number>,
  count: number,
): Track[] {
  const tracks = new Map<string, Track>();
  for (const { from, to } of edges) {
    const start = columnOf.get(from);
    const end = columnOf.get(to);
    if (start === undefined && end === undefined) {
      continue;
    }
    const track =
      start === undefined
        ? { name: ` ${from} ${to}`, from: null, to, start: -1, end: end ?? 0 }
        : end === undefined
          ? { name: `${from} `, from, to: null, start, end: count }
          : { name: `${from} ${to}`, from, to, start, end };
    tracks.set(track.name, track);
  }
  return [...tracks.values()];
}

interface Arranged {
  readonly keys: readonly string[];
  readonly columns: readonly (readonly number[])[];
  readonly given: readonly RowColumn[];
  readonly items: readonly Item[];
  readonly itemsOf: ReadonlyMap<string, readonly number[]>;
  readonly centres: readonly number[];
}

function toRow({ keys, columns, given, items, itemsOf, centres }: Arranged): RowLayout {
  let right = 0;
  const sides = given.map(({ width }) => {
    const side = { left: right, right: right + width };
    right += width + COLUMN_GAP;
    return side;
  });
  const columnOf = new Map(columns.flatMap((column, at) => column.map((item) => [item, at])));
  const sideOf = (item: number) => sides[columnOf.get(item) ?? 0] ?? { left: 0, right: 0 };
  const ways = Array.from(itemsOf, ([name, way]): [string, Point[]] => {
    const arrives = name.startsWith(" ");
    const leaves = name.endsWith(" ");
    const points = way.flatMap((item, at) => {
      const y = centres[item] ?? 0;
      const { left, right } = sideOf(item);
      return [
        ...(at > 0 || arrives ? [{ x: left, y }] : []),
        ...(at < way.length - 1 || leaves ? [{ x: right, y }] : []),
      ];
    });
    return [name, points];
  });
  const boxes = keys.map((key, item): Box => {
    const { left: x, right } = sideOf(item);
    return { key, x, y: (centres[item] ?? 0) - BOX_HEIGHT / 2, width: right - x };
  });
  const height = items.reduce(
    (max, item, at) => Math.max(max, (centres[at] ?? 0) + item.height / 2),
    0,
  );
  return {
    boxes,
    columns: given.flatMap(({ wave }, at) =>
      wave === given[at - 1]?.wave ? [] : [{ x: sides[at]?.left ?? 0, wave }],
    ),
    ways: new Map(ways),
    width: Math.max(0, right - COLUMN_GAP),
    height,
  };
}
