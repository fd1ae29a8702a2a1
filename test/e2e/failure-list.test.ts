import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { expect, it } from "vitest";

import { startProcess } from "../helpers/process.ts";
import { temporaryFolder } from "../helpers/temp.ts";

const VITEST = fileURLToPath(new URL("../../node_modules/vitest/vitest.mjs", import.meta.url));
const CONFIG = "test/fixtures/failing/vitest.config.ts";

it("the list of failures names the seeds of a failed test, of its hooks and of its file, and no other", async () => {
  const list = join(temporaryFolder(), "failures");
  const run = startProcess(process.execPath, [VITEST, "run", "--config", CONFIG], {
    cwd: fileURLToPath(new URL("../..", import.meta.url)),
    input: "",
    env: { REPRISE_TEST_FAILURES: list, REPRISE_TEST_SEED: undefined },
  });
  expect((await run.finished).code).toBe(1);
  const text = readFileSync(list, "utf8");
  const seeds = [...text.matchAll(/REPRISE_TEST_SEED=(\d+)/g)].map(([, seed = ""]) => seed);
  const [ofFile, alone, second, again, ofHook] = seeds;
  expect(again).toBe(ofFile);
  expect(new Set(seeds).size).toBe(4);
  expect(text).toBe(
    `FAIL [] test/fixtures/failing/seeds.failing.ts > draws alone
    expected 1 to be 2 // Object.is equality
    of the file: REPRISE_TEST_SEED=${ofFile} repeats it
    alone: REPRISE_TEST_SEED=${alone} repeats it
    second: REPRISE_TEST_SEED=${second} repeats it
FAIL [] test/fixtures/failing/seeds.failing.ts > a suite > draws nothing
    expected 1 to be 2 // Object.is equality
    of the file: REPRISE_TEST_SEED=${ofFile} repeats it
    of the hook: REPRISE_TEST_SEED=${ofHook} repeats it
`,
  );
});
