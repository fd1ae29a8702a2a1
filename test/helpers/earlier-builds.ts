import { readFileSync, writeFileSync } from "node:fs";
import { brotliDecompressSync } from "node:zlib";

/** Builds before the baseline whose database files are in `test/fixtures/earlier/`, the last one last. */
export const EARLIER_BUILDS = ["e9a18d67", "61d84043", "160f9548", "fe83431e"] as const;

/** Those that made the exports there. */
export const EXPORTING_BUILDS = EARLIER_BUILDS.slice(2);

/** What `make.mjs` exported: sessions, and a thread without one. */
export const EXPORTED_SESSIONS = ["agent", "failed", "killed", "talk", "work"] as const;

export type Exported = (typeof EXPORTED_SESSIONS)[number] | "thread";

export function earlierExport(build: string, name: Exported): string {
  return fixture(`${build}/${name}.json`).toString();
}

/** Writes the database file of a build to this path. */
export function writeEarlierDatabase(build: string, path: string): void {
  writeFileSync(path, brotliDecompressSync(fixture(`${build}/database.db.br`)), { mode: 0o600 });
}

function fixture(name: string): Buffer {
  return readFileSync(new URL(`../fixtures/earlier/${name}`, import.meta.url));
}
