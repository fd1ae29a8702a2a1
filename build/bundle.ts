import { rolldown, type RolldownOutput } from "rolldown";

import type { ModuleSource } from "./chunks.ts";
import { builtinsAtOnce, lateChildProcess } from "./builtins.ts";
import { withoutFacades } from "./facades.ts";

export interface BundleOrder {
  /** The package's root folder. */
  readonly root: string;
  /** Names of the files to make, each with its source below `src/`. */
  readonly entries: Readonly<Record<string, string>>;
  /** Packages that stay imports; all others become part of the bundle. */
  readonly external: readonly string[];
  /** To which file a module belongs; null for those that the bundler assigns. */
  readonly chunkName?: (id: string, source: ModuleSource) => string | null;
  /** Where the files are put. */
  readonly folder: string;
  /** Modules of which another bundle has the code, by the end of their path, and their files there. */
  readonly elsewhere?: Readonly<Record<string, string>>;
}

/**
 * A class that the bundler gave another name, because two in one file have the same. LangChain stores
 * the names of messages. Having all names kept would cost each start a call for each function.
 */
const RENAMED_MESSAGE = /\bclass (\w+Message(?:Chunk)?)\$\d/;

/**
 * Bundles sources into ES modules that are loaded when they are needed: whatever `src/` imports by
 * `import()` becomes a separate file. File names are stable, so that Node.js' compile cache holds
 * one version of each.
 *
 * A warning of the bundler is an error: most are about an import that will not be found.
 */
export async function bundle({
  root,
  entries,
  external,
  chunkName,
  folder,
  elsewhere = {},
}: BundleOrder): Promise<RolldownOutput> {
  const warnings: string[] = [];
  const bundled = await rolldown({
    cwd: root,
    input: { ...entries },
    platform: "node",
    // not a warning that the machine is slow
    checks: { bundlerTimings: false },
    resolve: {
      alias: {
        // what it gives Node.js hides its files from the bundler
        "jsonc-parser": "jsonc-parser/lib/esm/main.js",
        // a copy of Node.js' own streams
        "readable-stream": "node:stream",
      },
    },
    preserveEntrySignatures: chunkName === undefined ? "strict" : "allow-extension",
    plugins: [
      builtinsAtOnce(),
      lateChildProcess(),
      importedFrom(elsewhere),
      withoutFacades(),
      withoutUnreached(),
    ],
    external: (id) => external.some((name) => id === name || id.startsWith(`${name}/`)),
    onLog: (level, log) => {
      // what the command line loads late may be needed at once in a bundle of less of it
      const isKnown = chunkName === undefined && log.code === "INEFFECTIVE_DYNAMIC_IMPORT";
      if (level === "warn" && !isKnown) {
        warnings.push(log.message);
      }
    },
  });
  const output = await bundled.write({
    dir: folder,
    format: "esm",
    chunkFileNames: "[name].js",
    codeSplitting: chunkName === undefined || {
      groups: [{ name: chunkName, debugName: "together" }],
      includeDependenciesRecursively: false,
    },
    // an uncaught error is shown with its line, which has to be readable
    minify: false,
    // a start reads all of it: no comments, and one byte for each character
    comments: { jsdoc: false },
    charset: "ascii",
  });
  await bundled.close();
  const renamed = output.output.flatMap((file) =>
    file.type === "chunk" ? (RENAMED_MESSAGE.exec(file.code)?.[1] ?? []) : [],
  );
  if (warnings.length > 0 || renamed.length > 0) {
    throw new Error(`the bundler warns, or renames: ${[...warnings, ...renamed].join("\n")}`);
  }
  return output;
}

/** What packages import and Reprise's use of them never reaches. */
const UNREACHED: Readonly<Record<string, string>> = {
  // a table of 2,500 types, for those that are neither text nor JSON
  "@fastify/compress": "mime-db",
  // for specifications as YAML
  "@fastify/swagger": "yaml",
};

function withoutUnreached() {
  const id = "\0unreached";
  return {
    name: "without-unreached",
    resolveId: (source: string, importer: string | undefined) =>
      Object.entries(UNREACHED).some(
        ([by, name]) => name === source && importer?.includes(`/node_modules/${by}/`),
      )
        ? id
        : null,
    load: (source: string) => (source === id ? "export default {};" : null),
  };
}

function importedFrom(files: NonNullable<BundleOrder["elsewhere"]>) {
  return {
    name: "imported-from",
    resolveId: (source: string) => {
      const file = Object.entries(files).find(([end]) => source.endsWith(end))?.[1];
      return file === undefined ? null : { id: file, external: true };
    },
  };
}
