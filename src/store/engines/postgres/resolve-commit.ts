import { setTimeout as sleep } from "node:timers/promises";

import { type RawBuilder, sql } from "kysely";

import type { RepriseError } from "../../../core/errors.ts";
import { attempt, WAITS_AFTER_LOSS } from "./retry.ts";
import { unknownCommit } from "./failure.ts";
import type { PostgresPool } from "./pool.ts";
import { SERVER_LIFE } from "./server-life.ts";
import { beginWriting, commit, type Transaction } from "./writing.ts";

/**
 * Asks the server, on another connection, what became of a transaction whose COMMIT was sent and
 * never answered. One that COMMIT did not reach is ended. True for one that is committed and kept.
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
    if (status === "committed") {
      await requireKept(pool, transaction, unknownCommit(loss));
      return true;
    }
    if (status === "aborted") {
      return false;
    }
    if (status === "unknown") {
      break;
    }
    await end(pool, transaction, sql`state = 'idle in transaction'`);
  }
  throw unknownCommit(loss);
}

/**
 * Refuses a commit of which only the server itself is known to have it: if the wait for a
 * standby is ended, it commits alone, and a failover would lose it. A later commit that every server has
 * which is to have it comes after it in the log.
 */
export async function requireKept(
  pool: PostgresPool,
  transaction: Transaction,
  refusal: RepriseError,
): Promise<void> {
  for (const wait of [0, ...WAITS_AFTER_LOSS]) {
    await sleep(wait);
    let isSent = false;
    const tried = await attempt(pool, async ({ connection }) => {
      const { server } = await beginWriting(connection);
      if (server !== transaction.server) {
        throw refusal;
      }
      isSent = true;
      return { kind: "done", output: await commit(connection) } as const;
    }).catch(() => null);
    if (tried?.kind === "done" && tried.output) {
      return;
    }
    if (tried === null || isSent) {
      break;
    }
  }
  throw refusal;
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
 * Returns what became of a transaction; null if the server cannot say yet. A server that was started since, or
 * another one, may have given the same number to another transaction.
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
