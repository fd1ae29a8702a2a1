import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

import { RepriseError } from "../../core/errors.ts";
import { builtInProvider } from "./providers.ts";
import type { ModelSettings } from "./settings.ts";

/** Loads a package that Reprise does not bring. */
export type LoadPackage = (name: string) => Promise<object>;

/** Versions with which the code was written: `peerDependencies` of the package name them, too. */
export const PACKAGE_VERSIONS: Readonly<Record<string, string>> = {
  "@langchain/google": "0.2.6",
  "@langchain/aws": "1.4.5",
};

/** Modules that are loaded of packages, if they are not the main ones. */
const ENTRIES: Readonly<Record<string, string>> = {
  "@langchain/google": "@langchain/google/node",
};

/**
 * Makes what loads packages that are installed beside Reprise, never those of a folder that it works in.
 *
 * Error codes: `package_missing`.
 */
export function packagesBeside(file: string): LoadPackage {
  return async (name) => {
    const loaded: unknown = await import(pathToFileURL(pathOf(name, file)).href);
    return typeof loaded === "object" && loaded !== null ? loaded : {};
  };
}

/** Refuses a model whose package is not installed. Error codes: `package_missing`. */
export function requirePackage({ provider, api }: Pick<ModelSettings, "provider" | "api">): void {
  const data = builtInProvider(provider);
  if (data?.package !== undefined && data.api === api) {
    pathOf(data.package, import.meta.url);
  }
}

function pathOf(name: string, file: string): string {
  try {
    return createRequire(file).resolve(ENTRIES[name] ?? name);
  } catch (cause) {
    const version = PACKAGE_VERSIONS[name];
    const wanted = version === undefined ? name : `${name}@${version}`;
    throw new RepriseError(
      "package_missing",
      `This model needs a package that is not installed beside Reprise. Install it with: npm install ${wanted} (with -g if Reprise is installed so)`,
      { cause },
    );
  }
}
