import { writeFileSync } from "node:fs";

import type { Reporter } from "vitest/node";

/** A file to which a run of Vitest writes the tests that it skipped, one line of JSON each. */
const FILE_VARIABLE = "REPRISE_TEST_SKIPPED";

export interface SkippedTest {
  /** Below the checkout. */
  readonly file: string;
  /** Its suites and its title, joined by ` > `. */
  readonly name: string;
}

/** Names each skipped test in the named file, if one is named, so that it can be run when nothing is missing. */
export function skippedList(): Reporter {
  return {
    onTestRunEnd: (modules) => {
      const file = process.env[FILE_VARIABLE];
      if (file === undefined) {
        return;
      }
      const skipped = modules.flatMap((module): SkippedTest[] =>
        [...module.children.allTests("skipped")].map(({ fullName }) => ({
          file: module.relativeModuleId,
          name: fullName,
        })),
      );
      writeFileSync(file, skipped.map((test) => `${JSON.stringify(test)}\n`).join(""));
    },
  };
}
