import { RepriseError } from "../../../core/errors.ts";
import { baseline } from "./0001-baseline.ts";
import { modelColumns } from "./0002-model-columns.ts";
import { planRuns } from "./0003-plan-runs.ts";
import { search } from "./0004-search.ts";
import { forks } from "./0005-forks.ts";
import { otherMachines } from "./0006-other-machines.ts";
import { pins } from "./0007-pins.ts";
import type { Dialect } from "../../dialect.ts";
import type { Migration } from "./migration.ts";

/** The whole history, in order. The last version is the one this program writes. */
export const migrations: readonly Migration[] = [
  baseline,
  modelColumns,
  planRuns,
  search,
  forks,
  otherMachines,
  pins,
];

export function latestVersion(): number {
  return migrations.at(-1)?.version ?? 0;
}

/** The tables and views that the steps after a version make. */
export function createdTables(dialect: Dialect, version: number): readonly string[] {
  return migrations
    .filter((step) => step.version > version)
    .flatMap((step) => step.statements(dialect))
    .flatMap((statement) => /^CREATE (?:TABLE|VIEW) (\w+)/.exec(statement)?.[1] ?? []);
}

/** The last commit that reads and exports what builds before the baseline stored. */
const LAST_EXPORTING_COMMIT = "fe83431e";

/** Refuses the database of a build before the baseline: its history had other steps under the same numbers. */
export function databaseTooOld(): RepriseError {
  return new RepriseError(
    "database_too_old",
    `A build of Reprise from before the first release made the database, and this one cannot read it. Export its sessions with the build of commit ${LAST_EXPORTING_COMMIT} (\`reprise sessions export <id>\`) and import them into a new database (\`reprise sessions import <file>\`).`,
  );
}

/**
 * Refuses tables that somebody who may only read them cannot use: there are none (version 0), or
 * they are older than this program's.
 *
 * Error codes: `database_unavailable`, `database_unsupported`.
 */
export function requireCurrent(version: number): void {
  if (version === 0) {
    throw new RepriseError(
      "database_unavailable",
      "The database is empty: Reprise has no tables in it; name the one that holds the sessions.",
    );
  }
  if (version < latestVersion()) {
    throw new RepriseError(
      "database_unsupported",
      `An older Reprise wrote the database (schema version ${version}; this program knows ${latestVersion()}). Upgrade it with \`reprise upgrade --database …\` and try again.`,
    );
  }
}
