import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

import { onTestFinished } from "vitest";

import { FIXTURE_PROGRAMS_VARIABLE, type FixturePrograms } from "./fixture-programs.ts";
import { ask } from "./on-first-ask.ts";

/** What is replaced in the bundled sources, and with what. */
export type Patch = readonly [wanted: RegExp, replacement: string];

/**
 * A program of `test/fixtures/programs/` with its sources changed, for this test alone; `startProgram`
 * takes what it returns. Throws unless each patch fits once.
 */
export async function patchedProgram(name: string, patches: readonly Patch[]): Promise<string> {
  const { folder } = await ask<FixturePrograms>(FIXTURE_PROGRAMS_VARIABLE);
  // beside the programs, which find files relative to themselves
  const path = mkdtempSync(join(folder, "..", "patched-"));
  cpSync(folder, path, { recursive: true });
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  const files = readdirSync(path).filter((file) => file.endsWith(".js"));
  for (const [wanted, replacement] of patches) {
    let count = 0;
    for (const file of files) {
      const source = readFileSync(join(path, file), "utf8");
      const found = [...source.matchAll(new RegExp(wanted, "g"))].length;
      if (found > 0) {
        count += found;
        writeFileSync(join(path, file), source.replace(wanted, replacement));
      }
    }
    if (count !== 1) {
      throw new Error(`${wanted.source} fits ${count} times; make the patch fit the sources again`);
    }
  }
  return join("..", basename(path), name);
}
