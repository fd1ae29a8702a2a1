import { cpSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

import { onFirstAsk } from "./on-first-ask.ts";
import { makeFolder, openToAll } from "./temp.ts";

/** Where the tests ask for the programs; set for their processes by `setup`. */
export const FIXTURE_PROGRAMS_VARIABLE = "REPRISE_TEST_FIXTURE_PROGRAMS_STARTER";

/** What tests know of the programs. */
export interface FixturePrograms {
  /** Holds each program as `NAME.js`. */
  readonly folder: string;
  /** Compiled modules, kept between processes. */
  readonly compiled: string;
}

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const SOURCES = "test/fixtures/programs";

/** `test/fixtures/programs/`, bundled once for the whole run: each then starts in a third of the time. */
export function setup(): Promise<() => Promise<void>> {
  return onFirstAsk<FixturePrograms>(FIXTURE_PROGRAMS_VARIABLE, async () => {
    const { bundle } = await import("../../build/bundle.ts");
    const { WORKERS } = await import("../../build/build.ts");
    const folder = makeFolder();
    // programs find them relative to themselves
    for (const name of ["personas", "schemas", "package.json"]) {
      cpSync(join(ROOT, name), join(folder.path, name), { recursive: true });
    }
    // as `packageFile` finds them, which expects to lie two folders below the root
    cpSync(join(ROOT, "models"), join(folder.path, "test/models"), { recursive: true });
    const files = readdirSync(join(ROOT, SOURCES)).filter((name) => name.endsWith(".ts"));
    const programs = files.map((name) => [basename(name, ".ts"), `${SOURCES}/${name}`]);
    await bundle({
      root: ROOT,
      entries: { ...Object.fromEntries(programs), ...WORKERS },
      external: [],
      folder: join(folder.path, SOURCES),
    });
    openToAll(folder.path);
    return {
      told: { folder: join(folder.path, SOURCES), compiled: join(folder.path, "compiled") },
      stop: () => Promise.resolve(folder[Symbol.dispose]()),
    };
  });
}
