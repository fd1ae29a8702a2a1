import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

import { RepriseError } from "../../core/errors.ts";

/** Loads a package that Reprise does not bring. */
export type LoadPackage = (name: string, entry?: string) => Promise<object>;

/** Versions with which the code was written: `peerDependencies` of the package name them, too. */
export const PACKAGE_VERSIONS: Readonly<Record<string, string>> = {
  "@langchain/google": "0.2.6",
  "@langchain/aws": "1.4.5",
};

/**
 * Makes what loads packages that are installed beside Reprise, never those of a folder that it works in.
 *
 * Error codes: `package_missing`.
 */
export function packagesBeside(file: string): LoadPackage {
  const require = createRequire(file);
  return async (name, entry = name) => {
    let path: string;
    try {
      path = require.resolve(entry);
    } catch (cause) {
      throw missing(name, cause);
    }
    const loaded: unknown = await import(pathToFileURL(path).href);
    return typeof loaded === "object" && loaded !== null ? loaded : {};
  };
}

function missing(name: string, cause: unknown): RepriseError {
  const version = PACKAGE_VERSIONS[name];
  const wanted = version === undefined ? name : `${name}@${version}`;
  return new RepriseError(
    "package_missing",
    `This model needs a package that is not installed beside Reprise. Install it with: npm install ${wanted} (with -g if Reprise is installed so)`,
    { cause },
  );
}
