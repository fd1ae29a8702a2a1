import { RepriseError } from "../../../core/errors.ts";

/** An expression of SQL: the current value on the connection that evaluates it. */
export const SYNCHRONOUS_COMMIT = "current_setting('synchronous_commit')";

/** Values that keep an acknowledged commit through a crash, on every server that is to have it. */
const DURABLE: ReadonlySet<unknown> = new Set(["on", "remote_apply"]);

/**
 * Refuses a value of `synchronous_commit` with which a crash can lose acknowledged commits. Behind a
 * pooler each transaction may get another connection, so each one that writes checks it again.
 *
 * Error codes: `config_invalid`.
 */
export function requireDurable(synchronousCommit: unknown): void {
  if (!DURABLE.has(synchronousCommit)) {
    throw new RepriseError(
      "config_invalid",
      "synchronous_commit is weaker than on, so a crash can lose acknowledged commits. Set it with ALTER ROLE ... SET synchronous_commit = on; behind a connection pooler, use a pool that no other program changes it on.",
    );
  }
}
