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
  /** Holds each MCP server of `test/fixtures/mcp/` as `NAME.js`. */
  readonly servers: string;
  /** Compiled modules, kept between processes. */
  readonly compiled: string;
}

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const SOURCES = "test/fixtures/programs";
const SERVERS = "test/fixtures/mcp";

/** `test/fixtures/programs/` and the MCP servers beside them, bundled once for the whole run: each then starts in a third of the time. */
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
    await bundle({
      root: ROOT,
      entries: { ...entriesOf(SOURCES), ...WORKERS, ...entriesOf(SERVERS, "mcp/") },
      external: [],
      folder: join(folder.path, SOURCES),
    });
    openToAll(folder.path);
    return {
      told: {
        folder: join(folder.path, SOURCES),
        servers: join(folder.path, SOURCES, "mcp"),
        compiled: join(folder.path, "compiled"),
      },
      stop: () => Promise.resolve(folder[Symbol.dispose]()),
    };
  });
}

/** The programs of a folder, by the names of their bundles. */
function entriesOf(sources: string, below = ""): Record<string, string> {
  const files = readdirSync(join(ROOT, sources)).filter((name) => name.endsWith(".ts"));
  return Object.fromEntries(
    files.map((name) => [below + basename(name, ".ts"), `${sources}/${name}`]),
  );
}
