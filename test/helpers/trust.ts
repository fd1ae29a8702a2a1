import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import type { TrustSource } from "../../src/rules/trust/trust.ts";

/** Every folder is trusted. */
export const TRUSTED: TrustSource = { file: null, home: null, named: null, forThisRun: "all" };

/** No folder is trusted, as for a user who has answered nothing. */
export const UNTRUSTED: TrustSource = { ...TRUSTED, forThisRun: "none" };

/** Where a user's decisions are kept. */
export function trustFile(home: string): string {
  return join(home, ".local/state/reprise/trust.json");
}

/** Lets the user of this home trust a folder, as `reprise trust add` does. */
export function trustFolder(home: string, folder: string): void {
  const decision = { path: realpathSync(folder), trusted: true, at: "2026-01-01T00:00:00Z" };
  mkdirSync(dirname(trustFile(home)), { recursive: true });
  writeFileSync(trustFile(home), JSON.stringify({ version: 1, folders: [decision] }), {
    mode: 0o600,
  });
}
