import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { expect } from "vitest";

/** `REPRISE_TEST_SCREENS=write` makes the files of `test/screens/` again instead of comparing them. */
const WRITES = process.env["REPRISE_TEST_SCREENS"] === "write";

/**
 * Expects the rows of a screen to be those of its file, on a machine without a sandbox too, however fast it is. What
 * else differs in each run is to be replaced before.
 */
export function expectScreenFile(name: string, rows: readonly string[]): void {
  const path = fileURLToPath(new URL(`../screens/${name}.txt`, import.meta.url));
  const text = `${withoutTimes(withoutSandboxNote(rows)).join("\n").trimEnd()}\n`;
  if (WRITES) {
    writeFileSync(path, text);
  }
  expect(text).toBe(readFileSync(path, "utf8"));
}

/** Leaves out the note of a machine without bubblewrap, which is one or more rows that end with a full stop. */
function withoutSandboxNote(rows: readonly string[]): readonly string[] {
  const first = rows.findIndex((row) => row.startsWith("note: no sandbox ("));
  const last = rows.findIndex((row, index) => index >= first && /\bit\.$/.test(row));
  return first === -1 ? rows : rows.toSpliced(first, last - first + 1);
}

/**
 * The rows without what they show of what took long: how long a call took, and the row at the end of an exchange with
 * the empty row before it.
 */
export function withoutTimes(rows: readonly string[]): string[] {
  return rows
    .map((row) => (CALL.test(row) ? row.replace(TOOK, "") : row))
    .filter((row, index, all) => !isEnd(row) && !(row === "" && isEnd(all[index + 1])));
}

/** The row of a call that has ended. */
const CALL = /^[✓✗–] /;
const TOOK = / {2}(?:\d+ min )?\d+(?:\.\d)? s(?= {2}\[\d+\])/;

function isEnd(row: string | undefined): boolean {
  return row?.startsWith("done in ") === true;
}
