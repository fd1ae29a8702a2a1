import type { CellText } from "../pi/cell-text.ts";

/** Columns that the second column needs to stay beside the first. */
const MIN_COLUMNS = 30;

/**
 * Wraps a printed row. Of one with two columns (`  /model <name>      answer with …`) the second stays one, or comes
 * below the first in a narrow terminal.
 */
export function hanging(row: string, width: number, text: CellText): readonly string[] {
  const [begin = "", indent = "", first = ""] = /^( +)(\S+(?: \S+)*) {2,}(?=\S)/.exec(row) ?? [];
  if (begin === "" || text.width(row) <= width) {
    return wrapIndented(row, width, text);
  }
  const second = row.slice(begin.length);
  const room = width - text.width(begin);
  if (room >= MIN_COLUMNS) {
    const space = " ".repeat(text.width(begin));
    return text.wrap(second, room).map((each, index) => `${index === 0 ? begin : space}${each}`);
  }
  const inner = `${indent}  `;
  const below = text.wrap(second, Math.max(1, width - inner.length));
  return [...text.wrap(`${indent}${first}`, width), ...below.map((each) => `${inner}${each}`)];
}

/** Wraps an indented row, as of a list, so that what does not fit is indented too. */
export function wrapIndented(row: string, width: number, text: CellText): readonly string[] {
  const [indent = ""] = /^ */.exec(row) ?? [];
  if (indent === "" || indent.length > width / 4 || text.width(row) <= width) {
    return text.wrap(row, width);
  }
  const inner = text.wrap(row.slice(indent.length), width - indent.length - 2);
  return inner.map((part, index) => `${indent}${index === 0 ? "" : "  "}${part}`);
}
