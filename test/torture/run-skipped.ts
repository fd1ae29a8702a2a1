import { readFileSync } from "node:fs";

import type { SkippedTest } from "../helpers/skipped-list.ts";
import { runLongTests } from "./long-tests.ts";
import { filesOfShort } from "./sizes.ts";

/** Runs the tests that a run of `npm test` skipped and named in a file, but those that `--short` runs with more work. */
export async function runSkipped(list: string): Promise<void> {
  const later = new Set(filesOfShort());
  const skipped = readFileSync(list, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as SkippedTest)
    .filter(({ file }) => !later.has(file));
  if (skipped.length === 0) {
    console.log("No test was skipped.");
    return;
  }
  const files = [...new Set(skipped.map(({ file }) => file))];
  const titles = skipped.map(({ name }) => titleOf(name)).join("|");
  await runLongTests({ level: "test", project: "sqlite", files, titles: `^(?:${titles})$` });
}

/** Vitest compares the suites and the title joined by spaces, and its reports join them by ` > `. */
function titleOf(name: string): string {
  return name
    .split(" > ")
    .map((part) => part.replaceAll(/[.*+?^${}()[\]|\\/]/g, "\\$&"))
    .join("(?: >)? ");
}
