import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import type { Level } from "../helpers/size.ts";

/** For a test or a hook of a short run, ms: twenty times what the longest takes, so that one that hangs is named. */
const LONGEST_MS = 600_000;
const ROOT = fileURLToPath(new URL("../..", import.meta.url));

export interface TortureOptions {
  /** How much of it: messages, requests or rounds. Each torture has its own measure. */
  readonly size?: number;
  /** Repeats a failed one. */
  readonly seed?: number;
}

export interface LongTests extends TortureOptions {
  readonly level: Level;
  /** All of them if it is empty. */
  readonly files: readonly string[];
  readonly project?: "sqlite" | "postgres";
  /** A regular expression for the titles of the tests that are run, each with those of its suites before it. */
  readonly titles?: string;
}

/** Runs tests with more work than `npm test` gives them; throws if one of them failed. */
export async function runLongTests({
  level,
  files,
  project,
  titles,
  size,
  seed,
}: LongTests): Promise<void> {
  const missing = files.filter((file) => !existsSync(join(ROOT, file)));
  if (missing.length > 0) {
    throw new Error(`sizes.ts names files that do not exist: ${missing.join(", ")}`);
  }
  const limit = level === "long" ? 0 : LONGEST_MS;
  const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
  const options = [
    ...(project === undefined ? [] : [`--project=${project}`]),
    ...(titles === undefined ? [] : [`--testNamePattern=${titles}`]),
  ];
  const child = spawn(
    process.execPath,
    [vitest, "run", ...files, ...options, `--testTimeout=${limit}`, `--hookTimeout=${limit}`],
    {
      cwd: ROOT,
      stdio: "inherit",
      env: {
        ...process.env,
        REPRISE_TEST_LEVEL: level,
        ...(size === undefined ? {} : { REPRISE_TEST_SIZE: `${size}` }),
        ...(seed === undefined ? {} : { REPRISE_TEST_SEED: `${seed}` }),
      },
    },
  );
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) {
    throw new Error("a test failed; its seed, printed with it, repeats it with --seed");
  }
}
