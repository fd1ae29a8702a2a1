import { DatabaseError } from "pg";

import { type ErrorCode, RepriseError, systemCode } from "../../../core/errors.ts";
import { ruleOf, type Target } from "./target.ts";

/** True if the server refused the transaction because of another one that was running. */
export function isCollision(error: unknown): boolean {
  const code = sqlState(error);
  return code === SERIALIZATION_FAILURE || code === DEADLOCK;
}

/**
 * True for an error after which the connection is of no use: everything that the server did not
 * say itself, and what it says while it ends the session.
 */
export function isLoss(error: unknown): boolean {
  if (!(error instanceof DatabaseError)) {
    return true;
  }
  return error.severity === "FATAL" || error.severity === "PANIC" || isSessionEnd(sqlState(error));
}

/** Class 08, and 57P01 to 57P05: the server shuts down, starts up or ended this session. */
function isSessionEnd(code: string): boolean {
  return code.startsWith("08") || code.startsWith("57P") || code === IDLE_TRANSACTION;
}

/**
 * True if a connection that could not be made may succeed shortly after: the server restarts, is
 * unreachable or has no connection left. A wrong password stays wrong.
 */
export function isPassing(error: unknown): boolean {
  return error instanceof DatabaseError
    ? (isSessionEnd(error.code ?? "") && !isPoolerRefusal(error)) ||
        error.code === TOO_MANY_CONNECTIONS
    : !(error instanceof RepriseError);
}

/** True if the server has no connection left. */
export function isFull(error: unknown): boolean {
  return sqlState(error) === TOO_MANY_CONNECTIONS;
}

/** True for a write that the server refused because it is a standby, or read-only. */
export function isReadOnly(error: unknown): boolean {
  return sqlState(error) === READ_ONLY;
}

const SERIALIZATION_FAILURE = "40001";
const DEADLOCK = "40P01";
const IDLE_TRANSACTION = "25P03";
const TOO_MANY_CONNECTIONS = "53300";
const READ_ONLY = "25006";

/** Empty for an error that the server did not report. */
function sqlState(error: unknown): string {
  return error instanceof DatabaseError ? (error.code ?? "") : "";
}

const INTERRUPTED = [
  "database_locked",
  "The transaction kept conflicting with others, so nothing was stored. Try again.",
] as const;
const NO_RIGHTS = [
  "database_readonly",
  "The database cannot be written: it is a standby, or this user lacks the right to; name the primary server, or grant the user the rights to the schema.",
] as const;
const DAMAGED = [
  "database_corrupt",
  "The database server found damaged data. Keep the database unchanged and restore a backup.",
] as const;

/** By SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html). */
const FAILURES: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  "55P03": [
    "database_locked",
    "Another transaction kept a row locked for more than 5 seconds, so nothing was stored; try again.",
  ],
  [SERIALIZATION_FAILURE]: INTERRUPTED,
  [DEADLOCK]: INTERRUPTED,
  "57014": [
    "database_unavailable",
    "A statement exceeded statement_timeout, so nothing was stored. Try again, or raise it in the address of the database.",
  ],
  [READ_ONLY]: NO_RIGHTS,
  "42501": NO_RIGHTS,
  "53100": [
    "database_full",
    "The database server's disk is full, so nothing was stored; free some space and try again.",
  ],
  "54000": [
    "invalid_request",
    "An id is longer than PostgreSQL takes, which is about 2,600 bytes, so nothing was stored. Give a shorter one; ids of messages may be left out.",
  ],
  XX001: DAMAGED,
  XX002: DAMAGED,
  "53200": ["database_unavailable", "The database server has no memory left; try again later."],
};

/** Turns a failure of PostgreSQL into a sentence with a next step; anything else passes unchanged. */
export function postgresFailure(error: unknown): unknown {
  const failure = FAILURES[sqlState(error)];
  return failure === undefined ? error : new RepriseError(...failure, { cause: error });
}

const REFUSED_USER =
  "The database server refused the user or the password; check both in the address of the database.";

/** By SQLSTATE: why a connection could not be made. */
const CONNECT_FAILURES: Readonly<Record<string, string>> = {
  "28P01": REFUSED_USER,
  "28000": REFUSED_USER,
  "3D000":
    "The database server has no database of this name; make one with createdb, or correct the address.",
  [TOO_MANY_CONNECTIONS]:
    "The database server has no connection left; lower pool_size in the address of the database, or raise max_connections of the server.",
  "57P03": "The database server is just starting up; try again.",
};

/** Why a connection could not be made, with a next step. Never says what the address was. */
export function connectFailure(error: unknown): RepriseError {
  if (error instanceof RepriseError) {
    return error;
  }
  if (error instanceof UnsuitableServer) {
    return unavailable(error.message, error);
  }
  if (isPoolerRefusal(error)) {
    return new RepriseError(
      "config_invalid",
      "The connection pooler refuses settings that Reprise connects with. Set ignore_startup_parameters = statement_timeout,lock_timeout,idle_in_transaction_session_timeout,options in pgbouncer.ini; see docs/databases.md.",
      { cause: error },
    );
  }
  const otherwise = isTlsError(error)
    ? "The database server and this program could not agree on TLS; check sslmode and sslrootcert in the address of the database."
    : "The database server cannot be reached; check that it runs, and host and port in the address of the database.";
  return unavailable(CONNECT_FAILURES[sqlState(error)] ?? otherwise, error);
}

/** For a server that is reached and not as `target_session_attrs` asks, which a failover changes. */
export class UnsuitableServer extends Error {
  constructor(target: Target) {
    super(
      `No server in the address of the database is reachable and ${ruleOf(target).words}. Check the servers, and target_session_attrs in the address.`,
    );
  }
}

/** Failure of a connection that went away and did not come back. */
export function lostFailure(error: unknown): RepriseError {
  if (isReadOnly(error)) {
    return new RepriseError(...NO_RIGHTS, { cause: error });
  }
  return unavailable(
    "The connection to the database was lost, so nothing was stored; check that the server runs and try again.",
    error,
  );
}

/**
 * For a connection that was lost between COMMIT and its answer, if the outcome cannot
 * be determined.
 */
export function unknownCommit(error: unknown): RepriseError {
  return unavailable(
    "The connection to the database was lost while a change was being stored. The change may or may not be stored. Check before you try again.",
    error,
  );
}

/** For a commit of which the server says that its standby may lack it. */
export function unconfirmedCommit(): RepriseError {
  return unavailable(
    "The wait for a standby was ended while a change was being stored. The change may or may not be stored. Check before you try again.",
    undefined,
  );
}

/** PgBouncer has one code, 08P01, for all that it refuses: only its text says what it is. */
function isPoolerRefusal(error: unknown): boolean {
  return (
    error instanceof DatabaseError &&
    error.code === "08P01" &&
    error.message.startsWith("unsupported startup parameter")
  );
}

function unavailable(sentence: string, cause: unknown): RepriseError {
  return new RepriseError("database_unavailable", sentence, { cause });
}

function isTlsError(error: unknown): boolean {
  if (!(error instanceof Error)) {
    return false;
  }
  return (
    /^ERR_(SSL|TLS)|CERT|SIGNATURE|ISSUER/.test(systemCode(error) ?? "") ||
    // the client library gives this one no code
    error.message === "The server does not support SSL connections"
  );
}
