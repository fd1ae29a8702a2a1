import type { Measure } from "./measure.ts";
import type { Theme } from "./theme.ts";

/** Text of one cell, cleaned. */
export interface Cell {
  /** From long to short: the first one that fits is shown, else the last one is cut. */
  readonly texts: readonly string[];
  /** From long to short: the first one that leaves the text most of the cell follows it, dimmed. */
  readonly marks?: readonly string[];
  readonly style?: (text: string) => string;
}

export interface Column<Row> {
  readonly heading: string;
  cell(row: Row): Cell;
  /** In a narrow terminal the column with the highest one goes first; 0 stays. */
  readonly priority: number;
  /** Columns of the terminal that it has at least, if its content needs them. */
  readonly min: number;
  /** Width that it gets before a less important column gets more than its `min`; all it needs by default. */
  readonly good?: number;
  readonly align?: "right";
  /** Cuts the beginning of the text. */
  readonly keepsEnd?: true;
}

const GAP = "  ";

interface Laid<Row> {
  readonly column: Column<Row>;
  readonly cells: readonly Cell[];
  /** Width of its content. */
  readonly most: number;
  /** Width that it gets. */
  width: number;
}

/**
 * Rows of at most `width` columns under a heading. What does not fit is cut; columns in which no row has text, and
 * those for which the terminal is too narrow, are left out.
 */
export function tableRows<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  { width, theme, measure }: { width: number; theme: Theme; measure: Measure },
): string[] {
  const laid = columns
    .map((column) => layOut(column, rows, measure))
    .filter(({ cells }) => cells.some(({ texts }) => texts[0] !== ""));
  const kept = fitted(laid, width);
  const heading = kept
    .map(({ column, width }) => {
      const text = measure.cut(column.heading, width);
      return aligned(text, width - measure.width(text), column);
    })
    .join(GAP);
  return [
    theme.bold(heading.trimEnd()),
    ...rows.map((_, index) => rowText(kept, index, { theme, measure })),
  ];
}

function layOut<Row>(column: Column<Row>, rows: readonly Row[], measure: Measure): Laid<Row> {
  const cells = rows.map((row) => column.cell(row));
  const widest = cells.reduce((max, cell) => Math.max(max, naturalWidth(cell, measure)), 0);
  const most = Math.max(column.heading.length, widest);
  return { column, cells, most, width: Math.min(most, column.min) };
}

function naturalWidth({ texts: [text = ""], marks: [mark] = [] }: Cell, measure: Measure): number {
  return measure.width(text) + (mark === undefined ? 0 : 1 + measure.width(mark));
}

/**
 * Leaves out columns until the others fit at their least width, then widens them: each as far as is good for it, the
 * most important ones first, and then as far as the terminal is wide.
 */
function fitted<Row>(laid: readonly Laid<Row>[], width: number): Laid<Row>[] {
  let kept = [...laid];
  const free = (): number =>
    width - kept.reduce((total, each) => total + each.width + GAP.length, -GAP.length);
  const byPriority = laid.toSorted((a, b) => a.column.priority - b.column.priority);
  for (const each of byPriority.toReversed()) {
    if (each.column.priority > 0 && free() < 0) {
      kept = kept.filter((other) => other !== each);
    }
  }
  for (const most of [
    ({ column, most }: Laid<Row>) => Math.min(most, column.good ?? most),
    ({ most }: Laid<Row>) => most,
  ]) {
    for (const each of byPriority.filter((each) => kept.includes(each))) {
      // negative if the terminal is narrower than the only column that is left
      each.width = Math.max(1, each.width + Math.min(free(), Math.max(0, most(each) - each.width)));
    }
  }
  return kept;
}

interface Drawn {
  readonly theme: Theme;
  readonly measure: Measure;
}

/** Styles end before the padding, so trimming cuts none of them. */
function rowText<Row>(kept: readonly Laid<Row>[], index: number, drawn: Drawn): string {
  return kept
    .map(({ column, cells, width }) => {
      const { styled, width: taken } = drawnCell(cells[index] ?? { texts: [] }, {
        ...drawn,
        width,
        column,
      });
      return aligned(styled, width - taken, column);
    })
    .join(GAP)
    .trimEnd();
}

/** A cell with its styles, and how many columns it takes. */
function drawnCell<Row>(
  { texts, marks = [], style }: Cell,
  { theme, measure, width, column }: Drawn & { width: number; column: Column<Row> },
): { styled: string; width: number } {
  const forMarks = Math.floor((width * 2) / 5);
  const [whole = ""] = texts;
  const mark = marks.find(
    (each) =>
      measure.width(each) < forMarks || measure.width(whole) + 1 + measure.width(each) <= width,
  );
  const room = mark === undefined ? width : width - measure.width(mark) - 1;
  const fitting = texts.find((each) => measure.width(each) <= room);
  const cut = column.keepsEnd === true ? measure.cutStart : measure.cut;
  const text = fitting ?? cut(texts.at(-1) ?? "", room);
  const styled = text === "" || style === undefined ? text : style(text);
  const taken = measure.width(text);
  return mark === undefined
    ? { styled, width: taken }
    : { styled: `${styled} ${theme.dim(mark)}`, width: taken + 1 + measure.width(mark) };
}

function aligned<Row>(text: string, spaces: number, { align }: Column<Row>): string {
  const padding = " ".repeat(spaces);
  return align === "right" ? `${padding}${text}` : `${text}${padding}`;
}
