import { setTimeout as sleep } from "node:timers/promises";

import type { PostgresConnection } from "./connection.ts";
import { connectFailure, isCollision, isPassing, lostFailure, postgresFailure } from "./failure.ts";
import type { CheckedOutClient, PostgresPool } from "./pool.ts";

/** How an attempt ended; `again` if nothing was stored and the same may succeed now. */
export type AttemptResult<Output> =
  | { readonly kind: "done"; readonly output: Output }
  | { readonly kind: "again"; readonly why: "lost" | "collision"; readonly error: unknown };

/** Waits before further attempts, in milliseconds: a server that restarts needs about a second. */
export const WAITS_AFTER_LOSS = [50, 250, 1000];
const WAITS_AFTER_COLLISION = [0, 5, 20, 80, 320, 1000];

/** Attempts until one is done; rejects with the failure of the last one. */
export async function retry<Output>(once: () => Promise<AttemptResult<Output>>): Promise<Output> {
  const waits = { lost: [...WAITS_AFTER_LOSS], collision: [...WAITS_AFTER_COLLISION] };
  for (;;) {
    const attempt = await once();
    if (attempt.kind === "done") {
      return attempt.output;
    }
    const wait = waits[attempt.why].shift();
    if (wait === undefined) {
      throw attempt.why === "lost" ? attempt.error : postgresFailure(attempt.error);
    }
    // spreads them: those that collided must not meet again
    await sleep(wait * (0.5 + Math.random()));
  }
}

/** Checks out a connection for one attempt and reports whether a failure may be tried again. */
export async function attempt<Output>(
  pool: PostgresPool,
  work: (client: CheckedOutClient) => Promise<AttemptResult<Output>>,
): Promise<AttemptResult<Output>> {
  let client: CheckedOutClient;
  try {
    client = await pool.checkOut();
  } catch (error) {
    if (isPassing(error)) {
      return { kind: "again", why: "lost", error: connectFailure(error) };
    }
    throw connectFailure(error);
  }
  const { connection } = client;
  try {
    return await work(client);
  } catch (error) {
    if (connection.loss !== null) {
      return { kind: "again", why: "lost", error: lostFailure(connection.loss) };
    }
    await rollBack(connection);
    if (isCollision(error)) {
      return { kind: "again", why: "collision", error };
    }
    throw postgresFailure(error);
  } finally {
    client.release();
  }
}

/** A connection that is lost meanwhile has nothing left to undo: the server does it. */
async function rollBack(connection: PostgresConnection): Promise<void> {
  await connection.run("ROLLBACK").catch(() => undefined);
}
