import { type CellText, plainRow } from "../pi/cell-text.ts";
import { leastRows } from "./live-change.ts";

/** Characters of finished rows that are kept for a terminal that does not take them. */
const MAX_WAITING = 8 * 1024 * 1024;
/** Characters of rows that are printed as one part: the terminal is asked for its width after each. */
const PART = 512;
/** Rows that can be printed again: more than are in the window of a terminal. */
const MAX_KEPT = 300;

/** Rows that were printed and of which the terminal has not said yet whether it has them whole. */
export interface PrintedPart {
  readonly rows: readonly string[];
  isOpen: boolean;
}

/** Finished rows of a screen: those that wait for the next frame, and the last ones that the terminal has. */
export class FinishedRows {
  #waiting: string[] = [];
  #size = 0;
  /** How many rows before those that wait nobody will see. */
  #lost = 0;
  #printed: string[] = [];
  #open: PrintedPart[] = [];

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  add(rows: readonly string[]): void {
    for (const row of rows) {
      this.#waiting.push(row);
      this.#size += row.length + 1;
    }
    if (this.#size > MAX_WAITING) {
      this.#dropOldest();
    }
  }

  /** Takes what waits, in parts, to be printed now. */
  take(): readonly PrintedPart[] {
    const rows = this.#lost === 0 ? this.#waiting : [lostRow(this.#lost), ...this.#waiting];
    [this.#waiting, this.#size, this.#lost] = [[], 0, 0];
    this.#printed = [...this.#printed, ...rows.slice(-MAX_KEPT)].slice(-MAX_KEPT);
    const parts: PrintedPart[] = [];
    let [part, size]: [string[], number] = [[], 0];
    for (const row of rows) {
      part.push(row);
      size += row.length;
      if (size >= PART) {
        parts.push({ rows: part, isOpen: true });
        [part, size] = [[], 0];
      }
    }
    if (part.length > 0) {
      parts.push({ rows: part, isOpen: true });
    }
    return parts;
  }

  /** The terminal will say whether it has the part whole. */
  expect(part: PrintedPart): void {
    this.#open.push(part);
  }

  /** The terminal has the part, whole or perhaps not: then it and what was printed after it wait again. */
  confirm(part: PrintedPart, isWhole: boolean): void {
    if (!part.isOpen) {
      return;
    }
    const parts = isWhole ? this.#open.splice(0, 1) : this.#open.splice(0);
    for (const done of parts) {
      done.isOpen = false;
    }
    if (!isWhole) {
      this.again(parts.flatMap(({ rows }) => rows));
    }
  }

  /** Rows that were printed before those that wait wait again. */
  again(rows: readonly string[]): void {
    this.#waiting = [...rows, ...this.#waiting];
    this.#size += rows.reduce((sum, row) => sum + row.length + 1, 0);
  }

  /** The last rows that were printed, which are above the live rows and can be printed again. */
  get printed(): readonly string[] {
    return this.#printed;
  }

  /** Forgets rows after somebody else has printed: none is known to be above the live rows. */
  forget(): void {
    this.#printed = [];
  }

  /** Half of what waits, because the terminal takes nothing, or less than comes. */
  #dropOldest(): void {
    let [count, size] = [0, 0];
    for (; count < this.#waiting.length && size < this.#size - MAX_WAITING / 2; count += 1) {
      size += (this.#waiting[count]?.length ?? 0) + 1;
    }
    this.#waiting = this.#waiting.slice(count);
    this.#size -= size;
    this.#lost += count;
  }
}

/** Rows as they are printed. They may wrap: nothing of them may be lost. */
export function linesOf(rows: readonly string[]): string {
  return rows.map((row) => `${plainRow(row)}\r\n`).join("");
}

/** The last of the rows, as many as take so many rows of a terminal of this width. */
export function lastRows(
  rows: readonly string[],
  count: number,
  columns: number,
  text: CellText,
): readonly string[] {
  let first = rows.length;
  for (let left = count; left > 0 && first > 0; first -= 1) {
    left -= leastRows(rows.slice(first - 1, first), columns, text);
  }
  return rows.slice(first);
}

function lostRow(count: number): string {
  return `… ${count} ${count === 1 ? "row is" : "rows are"} missing here: the terminal did not take them in time`;
}
