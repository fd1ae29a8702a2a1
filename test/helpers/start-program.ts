import { join } from "node:path";

import { FIXTURE_PROGRAMS_VARIABLE, type FixturePrograms } from "./fixture-programs.ts";
import { ask } from "./on-first-ask.ts";
import { type ProcessOptions, type Running, startProcess } from "./process.ts";

const { folder, compiled } = await ask<FixturePrograms>(FIXTURE_PROGRAMS_VARIABLE);

/** Starts a program of `test/fixtures/programs/` on this Node.js. */
export function startProgram(
  name: string,
  args: readonly string[] = [],
  options: ProcessOptions = {},
): Running {
  const file = join(folder, name.replace(/\.ts$/, ".js"));
  return startProcess(process.execPath, [file, ...args], {
    ...options,
    env: { NODE_COMPILE_CACHE: compiled, ...options.env },
  });
}
