import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { expect } from "vitest";

/** `REPRISE_TEST_SCREENS=write` makes the files of `test/screens/` again instead of comparing them. */
const WRITES = process.env["REPRISE_TEST_SCREENS"] === "write";

/**
 * Expects the rows of a screen to be those of its file, on a machine without a sandbox too. What differs in each run
 * is to be replaced before.
 */
export function expectScreenFile(name: string, rows: readonly string[]): void {
  const path = fileURLToPath(new URL(`../screens/${name}.txt`, import.meta.url));
  const text = `${withoutSandboxNote(rows).join("\n").trimEnd()}\n`;
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
