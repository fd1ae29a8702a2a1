import { sql } from "kysely";

import {
  type CallRecord,
  TOKEN_KINDS,
  type Usage,
  usageOf,
} from "../../../core/cost/model-calls.ts";
import { type Parameter, prepared } from "../../prepared.ts";
import { type Fence, holdFence } from "../leases/fence.ts";
import type { Operation, Tx } from "../../store.ts";

/** A request, and its number under the lease. */
export interface NumberedCall extends CallRecord {
  readonly call: number;
}

/** Requests of an exchange that are not stored yet. */
export interface NewCalls {
  /** Number of the exchange; 0 outside of any. */
  readonly n: number;
  readonly calls: readonly NumberedCall[];
}

/**
 * Stores requests and adds them to the sums of their session. The transaction has to hold the lease. Run again, it
 * changes nothing: a request is known by its number under the lease.
 */
export async function storeCalls(
  tx: Tx,
  { session_id, epoch }: Fence,
  { n, calls }: NewCalls,
): Promise<void> {
  if (calls.length === 0) {
    return;
  }
  const rows = calls.map(({ call, ...rest }) => ({ ...rest, n, epoch, call }));
  const stored = await tx.rows(insertCalls, { session_id, rows });
  const fresh = new Set(stored.map(({ call }) => call));
  const added = calls.filter(({ call }) => fresh.has(call));
  if (added.length > 0) {
    await addUsage(tx, session_id, usageOf(added));
  }
}

/** As `storeCalls`, for requests with which nothing else is stored. Error codes: `lease_lost`, `session_ended`. */
export const storeCallsAlone: Operation<NewCalls & { readonly fence: Fence }, void> = async (
  tx,
  { fence, ...given },
) => {
  await holdFence(tx, fence);
  await storeCalls(tx, fence, given);
  tx.touch(fence.session_id);
};

/** Adds to the sums of a session. */
export async function addUsage(tx: Tx, session_id: string, usage: Usage): Promise<void> {
  await tx.rows(raiseUsage, { session_id, ...usage });
}

interface CallRows {
  readonly session_id: string;
  readonly rows: readonly (NumberedCall & { readonly n: number; readonly epoch: number })[];
}

const insertCalls = prepared(({ db, dialect }, given: Parameter<CallRows>) =>
  db
    .insertInto("model_calls")
    .values(
      given
        .rows("rows")
        .map((row) => ({ ...row, session_id: given("session_id"), ts: dialect.now() })),
    )
    .onConflict((conflict) => conflict.columns(["session_id", "n", "epoch", "call"]).doNothing())
    .returning("call"),
);

/** Kinds whose sum is null until one is reported. */
const SUMS = [...TOKEN_KINDS, "cost_micros"] as const;

const raiseUsage = prepared(({ db }, given: Parameter<Usage & { readonly session_id: string }>) =>
  db
    .insertInto("model_usage")
    .values(given.row())
    .onConflict((conflict) =>
      conflict.column("session_id").doUpdateSet((eb) => ({
        calls: eb("model_usage.calls", "+", eb.ref("excluded.calls")),
        unpriced: eb("model_usage.unpriced", "+", eb.ref("excluded.unpriced")),
        ...Object.fromEntries(SUMS.map((name) => [name, knownSum(name)])),
      })),
    ),
);

function knownSum(name: (typeof SUMS)[number]) {
  const [old, more] = [sql.ref(`model_usage.${name}`), sql.ref(`excluded.${name}`)];
  return sql<number | null>`coalesce(${old} + ${more}, ${old}, ${more})`;
}
