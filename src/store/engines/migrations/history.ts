import { RepriseError } from "../../../core/errors.ts";
import { checkpoints } from "./0002-checkpoints.ts";
import { laterMigrations } from "./0003-to-0010.ts";
import { treesAndThreads } from "./0011-trees-and-threads.ts";
import { exchanges } from "./0012-exchanges.ts";
import { exchangeQueue } from "./0013-exchange-queue.ts";
import { tokenLimits } from "./0014-token-limits.ts";
import { questions } from "./0015-questions.ts";
import { sessionNames } from "./0016-session-names.ts";
import { liveAnswers } from "./0017-live-answers.ts";
import { sessionChanges } from "./0018-session-changes.ts";
import { permissions } from "./0019-permissions.ts";
import { fileChanges } from "./0020-file-changes.ts";
import { consents } from "./0021-consents.ts";
import { access } from "./0022-access.ts";
import { sessions } from "./0001-sessions.ts";
import type { Migration } from "./migration.ts";

/** The whole history, in order. The last version is the one this program writes. */
export const migrations: readonly Migration[] = [
  sessions,
  checkpoints,
  ...laterMigrations,
  treesAndThreads,
  exchanges,
  exchangeQueue,
  tokenLimits,
  questions,
  sessionNames,
  liveAnswers,
  sessionChanges,
  permissions,
  fileChanges,
  consents,
  access,
];

export function latestVersion(): number {
  return migrations.at(-1)?.version ?? 0;
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
      `An older Reprise wrote the database (schema version ${version}; this program knows ${latestVersion()}), and it is only read here; upgrade it with \`reprise upgrade --database …\` and try again.`,
    );
  }
}
