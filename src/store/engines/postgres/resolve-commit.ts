import { setTimeout as sleep } from "node:timers/promises";

import { type RawBuilder, sql } from "kysely";

import { attempt, WAITS_AFTER_LOSS } from "./retry.ts";
import { unknownCommit } from "./failure.ts";
import type { PostgresPool } from "./pool.ts";
import { SERVER_LIFE } from "./server-life.ts";

/** A transaction that writes, as the server knows it. */
export interface Transaction {
  /** The server's number of it. */
  readonly id: string;
  /** The server (and its life) that gave it out. */
  readonly server: string;
}

/**
 * Asks the server, on another connection, what became of a transaction whose COMMIT was sent and
 * never answered. One that COMMIT did not reach is ended.
 *
 * Error codes: `database_unavailable` if the outcome cannot be determined.
 */
export async function didCommit(
  pool: PostgresPool,
  transaction: Transaction,
  loss: unknown,
): Promise<boolean> {
  for (const wait of [0, ...WAITS_AFTER_LOSS, 1000, 1000]) {
    await sleep(wait);
    const status = await statusOf(pool, transaction);
    if (status === "committed" || status === "aborted") {
      return status === "committed";
    }
    if (status === "unknown") {
      break;
    }
    await end(pool, transaction, sql`state = 'idle in transaction'`);
  }
  throw unknownCommit(loss);
}

/**
 * Ends a transaction whose COMMIT was never sent: the server may not know that its connection is
 * lost, and its rows would hold up the next attempt. Never rejects.
 */
export function abandon(pool: PostgresPool, transaction: Transaction): Promise<void> {
  return end(pool, transaction, sql`true`);
}

async function end(
  pool: PostgresPool,
  { id, server }: Transaction,
  where: RawBuilder<unknown>,
): Promise<void> {
  const ending = attempt(pool, async ({ connection }) => {
    await sql`
      SELECT pg_terminate_backend(pid, 1000) FROM pg_stat_activity
      WHERE backend_xid = ${id}::xid8::xid AND ${life} = ${server} AND ${where}`.execute(
      connection.db,
    );
    return { kind: "done", output: null } as const;
  });
  await ending.catch(() => null);
}

const life = sql.raw<string>(SERVER_LIFE);

/**
 * What became of a transaction; null if the server cannot say yet. A server that was started
 * since, or another one, may have given the same number to another transaction.
 */
async function statusOf(pool: PostgresPool, { id, server }: Transaction): Promise<string | null> {
  const ask = attempt(pool, async ({ connection }) => {
    const { rows } = await sql<{ status: string }>`
      SELECT CASE WHEN ${life} = ${server} THEN coalesce(pg_xact_status(${id}::xid8), 'unknown')
        ELSE 'unknown' END AS status`.execute(connection.db);
    return { kind: "done", output: rows[0]?.status } as const;
  });
  const asked = await ask.catch(() => null);
  return asked?.kind === "done" && asked.output !== "in progress" ? (asked.output ?? null) : null;
}
