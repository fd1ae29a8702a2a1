import { type Principal, isOwner } from "../../../core/principal.ts";
import { CHANGED_FIELDS, type ChangedField } from "../../tables/database.ts";
import type { Tx } from "../../store.ts";

export interface RecordChanges {
  readonly session_id: string;
  /** Unknown callers count as authenticated. */
  readonly principal: Principal | undefined;
  /** The new values; fields that did not change are left out. */
  readonly changes: Readonly<Partial<Record<ChangedField, string | undefined>>>;
}

/**
 * Stores who changed a session, in the transaction of the change. The session's row must be held:
 * the numbers count without a hole.
 */
export async function recordChanges(tx: Tx, input: RecordChanges): Promise<void> {
  const { session_id, principal, changes } = input;
  const changed = CHANGED_FIELDS.flatMap((field) => {
    const value = changes[field];
    return value === undefined ? [] : [{ field, value }];
  });
  if (changed.length === 0) {
    return;
  }
  const { last } = await tx.db
    .selectFrom("session_changes")
    .select(({ fn }) => fn.max<number | null>("number").as("last"))
    .where("session_id", "=", session_id)
    .executeTakeFirstOrThrow();
  await tx.db
    .insertInto("session_changes")
    .values(
      changed.map((change, index) => ({
        session_id,
        number: (last ?? 0) + index + 1,
        ...change,
        origin: principal?.origin ?? null,
        authenticated: isOwner(principal) ? 1 : 0,
      })),
    )
    .execute();
}
