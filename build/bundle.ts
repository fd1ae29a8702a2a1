import { rolldown, type RolldownOutput } from "rolldown";

export interface BundleOrder {
  /** The package's root folder. */
  readonly root: string;
  /** Names of the files to make, each with its source below `src/`. */
  readonly entries: Readonly<Record<string, string>>;
  /** Packages that stay imports; all others become part of the bundle. */
  readonly external: readonly string[];
  /** Where the files are put. */
  readonly folder: string;
}

/**
 * Bundles sources into ES modules that are loaded when they are needed: whatever `src/` imports by
 * `import()` is a file of its own. Names of files are stable, so that Node.js' compile cache holds
 * one version of each, and names of classes and functions are kept, because LangChain stores them.
 *
 * A warning of the bundler is an error: most tell of an import that will not be found.
 */
export async function bundle({
  root,
  entries,
  external,
  folder,
}: BundleOrder): Promise<RolldownOutput> {
  const warnings: string[] = [];
  const bundled = await rolldown({
    cwd: root,
    input: { ...entries },
    platform: "node",
    external: (id) => external.some((name) => id === name || id.startsWith(`${name}/`)),
    onLog: (level, log) => {
      if (level === "warn") {
        warnings.push(log.message);
      }
    },
  });
  const output = await bundled.write({
    dir: folder,
    format: "esm",
    keepNames: true,
    chunkFileNames: "[name].js",
    // an error that nobody caught is shown with its line: it has to be one that a person can read
    minify: false,
  });
  await bundled.close();
  if (warnings.length > 0) {
    throw new Error(`the bundler warns: ${warnings.join("\n")}`);
  }
  return output;
}
