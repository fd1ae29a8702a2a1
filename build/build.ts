import { cpSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { RolldownOutput } from "rolldown";

import { bundle } from "./bundle.ts";
import { createChunkNames } from "./chunks.ts";
import { writeLibraryEntries } from "./library-entry.ts";
import { thirdPartyLicenses } from "./licenses.ts";
import { buildPage } from "./page-bundle.ts";
import { writeTypes } from "./types.ts";

/** What a graph of others and Reprise have in common: two copies would have two classes of messages. */
const LANGCHAIN = ["@langchain/core", "@langchain/langgraph-checkpoint"];

/**
 * What crosses the public API at run time: a program that uses it has to have the very same package.
 * Others are bundled, because loading their hundreds of files takes longer than loading one.
 */
const PUBLIC_PACKAGES = ["fastify", ...LANGCHAIN];

/** What programs import: `reprise` is `index`, the others `reprise/…`. */
const ENTRIES = {
  index: "src/index.ts",
  client: "src/entries/client.ts",
  langgraph: "src/entries/langgraph.ts",
  plan: "src/entries/plan.ts",
  server: "src/entries/server.ts",
};

/** Files of threads, beside the code that starts them. */
export const WORKERS = {
  "backup-worker": "src/store/engines/sqlite/backup/backup-worker.ts",
  "schema-worker": "src/artifacts/project/schema-worker.ts",
};

/**
 * Rebuilds `dist/`: the command line in `program/` and `agent/`, which needs no packages but the
 * agent's; the public API in `library/`, with its declarations in `types/` and its entries in
 * `entries/`; the web page; the manual page; and the licences of what they contain.
 */
export async function build(root: string, dist: string): Promise<void> {
  rmSync(dist, { recursive: true, force: true });
  const program = await buildProgram(root, dist);
  const library = await buildLibrary(root, dist);
  const page = await buildPage(root, join(dist, "page"));
  writeTypes(root, Object.values(ENTRIES), join(dist, "types"));
  const { manualPage } = await import("./manual.ts");
  writeFileSync(join(dist, "reprise.1"), await manualPage(root));
  writeFileSync(
    join(dist, "THIRD-PARTY-LICENSES.txt"),
    thirdPartyLicenses([program, library, page]),
  );
}

/** Makes a folder like an installed package that holds the command line and its web page only. */
export async function installProgram(root: string, folder: string): Promise<void> {
  for (const name of ["bin", "personas", "schemas", "models", "package.json"]) {
    cpSync(join(root, name), join(folder, name), { recursive: true });
  }
  await buildProgram(root, join(folder, "dist"));
  await buildPage(root, join(folder, "dist/page"));
}

/** Makes the public API, without its types. */
export async function buildLibrary(root: string, dist: string): Promise<RolldownOutput> {
  const output = await bundle({
    root,
    entries: { ...ENTRIES, ...WORKERS },
    external: PUBLIC_PACKAGES,
    folder: join(dist, "library"),
  });
  writeLibraryEntries(join(dist, "entries"), Object.keys(ENTRIES), output);
  return output;
}

/** The command line, and beside it what `--agent` loads: with the LangChain packages of the agent. */
async function buildProgram(root: string, dist: string): Promise<RolldownOutput> {
  const open = "agent/graph/open-agent.ts";
  await bundle({
    root,
    entries: { "open-agent": `src/${open}` },
    external: LANGCHAIN,
    folder: join(dist, "agent"),
  });
  return bundle({
    root,
    entries: { main: "src/main.ts", ...WORKERS },
    external: [],
    chunkName: createChunkNames(root),
    folder: join(dist, "program"),
    elsewhere: { [`/${open}`]: "../agent/open-agent.js" },
  });
}
