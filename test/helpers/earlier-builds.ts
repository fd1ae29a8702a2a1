import { readFileSync } from "node:fs";

/** Builds that made the exports in `test/fixtures/earlier/`. */
export const EXPORTING_BUILDS = ["160f9548", "fe83431e"] as const;

/** What `make.mjs` exported: sessions, and a thread without one. */
export const EXPORTED_SESSIONS = ["agent", "failed", "killed", "talk", "work"] as const;

export type Exported = (typeof EXPORTED_SESSIONS)[number] | "thread";

export function earlierExport(build: string, name: Exported): string {
  return readFileSync(
    new URL(`../fixtures/earlier/${build}/${name}.json`, import.meta.url),
    "utf8",
  );
}
