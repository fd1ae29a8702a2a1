import type { PostgresConnection } from "./connection.ts";
import { requireDurable, SYNCHRONOUS_COMMIT } from "./durability.ts";
import { SERVER_LIFE } from "./server-life.ts";

/** A transaction that writes, as the server knows it. */
export interface Transaction {
  /** The server's number of it. */
  readonly id: string;
  /** The server (and its life) that gave it out. */
  readonly server: string;
}

/**
 * Begins in one round trip: the check and the server's number of the transaction come along with BEGIN. The role may
 * suppress warnings, and one is all that the server says of a commit that its standby may not have.
 */
const BEGIN = `BEGIN ISOLATION LEVEL READ COMMITTED;
  SELECT pg_current_xact_id()::text AS id, ${SYNCHRONOUS_COMMIT} AS synchronous_commit,
    set_config('client_min_messages', 'warning', true)`;
const BEGIN_POOLED = `${BEGIN}, ${SERVER_LIFE} AS server`;

/** Error codes: as `requireDurable`. */
export async function beginWriting({ run, server }: PostgresConnection): Promise<Transaction> {
  const { rows } = await run(server === null ? BEGIN_POOLED : BEGIN);
  const [began] = rows;
  requireDurable(began?.["synchronous_commit"]);
  return { id: String(began?.["id"]), server: server ?? String(began?.["server"]) };
}

/**
 * The server waits for disk and standby only if the transaction has written something. One that found
 * what another transaction stored acknowledges it too, and that one may have been denied its wait.
 */
const COMMIT_UNCHANGED = "SELECT pg_logical_emit_message(true, 'reprise', ''); COMMIT";

/**
 * Commits. False if the server warned: somebody has ended its wait for a standby, which may lack the
 * transaction. It answers a COMMIT after a failed statement with ROLLBACK, and without an error.
 */
export async function commit(connection: PostgresConnection): Promise<boolean> {
  const sent = connection.hasChanged ? "COMMIT" : COMMIT_UNCHANGED;
  const { command, hasWarned } = await connection.run(sent);
  if (command !== "COMMIT") {
    throw new Error("an operation continued after the database had refused one of its statements");
  }
  return !hasWarned;
}
