import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { expect } from "vitest";

/** `REPRISE_TEST_SCREENS=write` makes the files of `test/screens/` again instead of comparing them. */
const WRITES = process.env["REPRISE_TEST_SCREENS"] === "write";

/** Expects the rows of a screen to be those of its file. What differs in each run is to be replaced before. */
export function expectScreenFile(name: string, rows: readonly string[]): void {
  const path = fileURLToPath(new URL(`../screens/${name}.txt`, import.meta.url));
  const text = `${rows.join("\n").trimEnd()}\n`;
  if (WRITES) {
    writeFileSync(path, text);
  }
  expect(text).toBe(readFileSync(path, "utf8"));
}
