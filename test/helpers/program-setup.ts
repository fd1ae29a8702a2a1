import { chmodSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { onFirstAsk } from "./on-first-ask.ts";
import { makeFolder } from "./temp.ts";

/** Where the tests ask for the program; set for their processes by `setup`. */
export const PROGRAM_VARIABLE = "REPRISE_TEST_PROGRAM_STARTER";

/** What tests know of the program. */
export interface Program {
  readonly bin: string;
  /** Compiled modules, kept between processes: without them a command costs twice as much. */
  readonly compiled: string;
}

/** The command line as its package holds it, built once for the whole run. */
export function setup(): Promise<() => Promise<void>> {
  return onFirstAsk<Program>(PROGRAM_VARIABLE, async () => {
    // the bundler is for this process alone: test files import this one too
    const { installProgram } = await import("../../build/build.ts");
    const folder = makeFolder();
    // some tests start it as another user
    chmodSync(folder.path, 0o755);
    await installProgram(fileURLToPath(new URL("../..", import.meta.url)), folder.path);
    return {
      told: { bin: join(folder.path, "bin/reprise.js"), compiled: join(folder.path, "compiled") },
      stop: () => Promise.resolve(folder[Symbol.dispose]()),
    };
  });
}
