import { closeSync, openSync, readSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

import { databaseTooOld, latestVersion } from "../migrations/history.ts";
import { sqliteFailure } from "./failure.ts";
import { APPLICATION_ID, EARLIER_APPLICATION_ID } from "./migrate.ts";
import { queryValue } from "./statements.ts";
import { type Check, failed, failedBy, ok } from "../../check.ts";

export interface DatabaseChecks {
  readonly checks: readonly Check[];
  /** True if the store can be opened without changing the file's version. */
  readonly isCurrent: boolean;
}

/** How long to wait for another process's lock, in milliseconds. */
const TIMEOUT_MS = 5000;

/**
 * Checks a database file without changing it, whatever it is: damaged, of another program, of
 * another version. On a separate read-only connection, closed again when this returns; this
 * process must not have the file open otherwise, because closing drops SQLite's locks.
 *
 * `quick` leaves out the comparison of tables with their indexes, which takes most of the time.
 */
export function checkDatabase(path: string, quick: boolean): DatabaseChecks {
  if (isEarlierFile(path)) {
    return { checks: [failed("version", databaseTooOld().message)], isCurrent: false };
  }
  const checks: Check[] = [];
  let isCurrent = false;
  try {
    const raw = new DatabaseSync(path, { readOnly: true, timeout: TIMEOUT_MS });
    try {
      checks.push(checkSqlite(raw), checkIntegrity(raw, quick), checkVersion(raw));
      isCurrent = checks.every(({ status }) => status === "ok");
      if (isCurrent) {
        checks.push(checkReferences(raw));
      }
    } finally {
      raw.close();
    }
  } catch (error) {
    checks.push(failedBy(sqliteFailure(error), "integrity"));
    isCurrent = false;
  }
  return { checks, isCurrent };
}

/** Where the header of a database file has its application id, in 4 bytes. */
const APPLICATION_ID_AT = 68;

/**
 * True for the file of a build before the baseline. Reads its header alone: SQLite makes files beside a database
 * with a write-ahead log even to read it.
 */
export function isEarlierFile(path: string): boolean {
  const header = Buffer.alloc(APPLICATION_ID_AT + 4);
  let file: number | null = null;
  try {
    file = openSync(path, "r");
    readSync(file, header, 0, header.length, 0);
  } catch {
    // opening it as a database says what is wrong
    return false;
  } finally {
    if (file !== null) {
      closeSync(file);
    }
  }
  return header.readUInt32BE(APPLICATION_ID_AT) === EARLIER_APPLICATION_ID;
}

function checkSqlite(raw: DatabaseSync): Check {
  const version = String(queryValue(raw, "SELECT sqlite_version()"));
  return ok("sqlite", `SQLite ${version}, from Node.js.`);
}

/** Maximum of errors that are listed; one is enough. */
const MAX_LISTED = 3;

function checkIntegrity(raw: DatabaseSync, quick: boolean): Check {
  const pragma = quick ? "quick_check" : "integrity_check";
  const problems = raw
    .prepare(`PRAGMA ${pragma}(${MAX_LISTED})`)
    .all()
    .map((row) => String(row[pragma]));
  if (problems.length === 1 && problems[0] === "ok") {
    return ok("integrity", `SQLite's ${pragma} found no errors.`);
  }
  return failed(
    "integrity",
    `SQLite's ${pragma} found the file damaged (${problems.join("; ")}). Keep the file unchanged and restore a backup.`,
  );
}

/** `ok` for this program's version. */
function checkVersion(raw: DatabaseSync): Check {
  const latest = latestVersion();
  const version = Number(queryValue(raw, "PRAGMA user_version"));
  const check = (status: Check["status"], sentence: string): Check => ({
    name: "version",
    status,
    sentence,
  });
  const applicationId = queryValue(raw, "PRAGMA application_id");
  if (applicationId === EARLIER_APPLICATION_ID) {
    return check("failed", databaseTooOld().message);
  }
  if (applicationId !== APPLICATION_ID) {
    return check(
      "failed",
      "The file is a SQLite database of another program, or an empty one; name another file with --database.",
    );
  }
  if (version > latest) {
    return check(
      "failed",
      `A newer Reprise wrote the database (schema version ${version}; this program knows ${latest}). Update Reprise.`,
    );
  }
  return version < latest
    ? check(
        "warning",
        `An older Reprise wrote the database (schema version ${version}). The next command that opens it makes a copy of it and upgrades it to ${latest}; \`reprise upgrade --dry-run\` shows what would happen.`,
      )
    : check("ok", `The database has schema version ${version}, the current one.`);
}

function checkReferences(raw: DatabaseSync): Check {
  const broken = raw.prepare("PRAGMA foreign_key_check").all();
  const tables = new Set(broken.map((row) => String(row["table"])));
  return broken.length === 0
    ? ok("references", "No broken references.")
    : failed(
        "references",
        `${broken.length} rows of ${[...tables].join(", ")} refer to rows that are not there; another program has changed the file. Restore a backup, or see \`reprise sessions verify\`.`,
      );
}
