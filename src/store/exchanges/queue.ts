import { createHash } from "node:crypto";

import { RepriseError } from "../../core/errors.ts";
import type { AskedBy } from "../../core/exchanges.ts";
import { newId } from "../../core/ids.ts";
import type { Caller } from "../../core/origins.ts";
import type { ExchangeRecord } from "../../core/sessions.ts";
import { revokeDeadLease } from "../leases/revoke.ts";
import { readPending } from "../messages/read.ts";
import { refuseEnded } from "../sessions/change.ts";
import { resolveSession } from "../sessions/read.ts";
import { selectSessions, sessionOf } from "../sessions/rows.ts";
import type { Operation, Tx } from "../store.ts";
import { readRecord } from "./read.ts";
import { readyAt, refreshReady } from "./ready.ts";
import { BEGUN, stopRecords } from "./records.ts";

export interface QueueExchange {
  /** An id or a prefix of 6 or more characters. */
  readonly reference: string;
  /** The user's message; null to continue what was interrupted, or to hand over what is pending. */
  readonly content: string | null;
  readonly asked_by: AskedBy;
  readonly caller: Caller;
  /** A repeated request with the same key finds the exchange that the first one queued. */
  readonly idempotency_key?: string | undefined;
}

/**
 * Queues an exchange, which the next free node runs once those before it have ended. A message skips
 * an exchange that was interrupted, as one typed in a terminal does, but not one of a node that died.
 *
 * Error codes: as `resolveSession`, `session_ended`, `idempotency_key_reused`,
 * `nothing_to_continue`; `session_busy` for a sub-agent whose parent runs.
 */
export const queueExchange: Operation<QueueExchange, ExchangeRecord> = async (tx, input) => {
  const { content, idempotency_key = null } = input;
  const { id } = await resolveSession(tx, input);
  const held = await holdQueue(tx, id);
  const request = createHash("sha256").update(JSON.stringify(content)).digest("hex");
  const earlier = await findEarlier(tx, { id, idempotency_key, request });
  if (earlier !== null) {
    return readRecord(tx, id, earlier);
  }
  refuseEnded(held);
  await refuseChildAtWork(tx, held.parent_session_id);
  const n = content === null ? await queueAgain(tx, held) : null;
  if (n !== null) {
    await refreshReady(tx, id);
    return readRecord(tx, id, n);
  }
  if (content !== null && isLeft(held.begun) && !held.begun.isOfService) {
    await revokeDeadLease(tx, id);
    await stopRecords(tx, [id], null);
  }
  await tx.db
    .insertInto("exchanges")
    .values({
      session_id: id,
      n: held.exchange_count + 1,
      id: newId(),
      state: "queued",
      asked_by: input.asked_by,
      content,
      origin: input.caller.origin,
      authenticated: input.caller.authenticated ? 1 : 0,
      idempotency_key,
      request,
      queued_at: tx.dialect.now(),
    })
    .execute();
  await tx.db
    .updateTable("sessions")
    .set((eb) => ({
      exchange_count: eb("exchange_count", "+", 1),
      ready_at: readyAt(tx.dialect),
    }))
    .where("id", "=", id)
    .execute();
  tx.touch(id);
  return readRecord(tx, id, held.exchange_count + 1);
};

interface HeldQueue {
  readonly id: string;
  readonly state: "active" | "ended";
  readonly parent_session_id: string | null;
  readonly exchange_count: number;
  /** True if the last exchange left something to continue. */
  readonly isOpen: boolean;
  /** The exchange that has begun and not ended. */
  readonly begun: {
    readonly n: number;
    readonly state: string;
    readonly isLive: boolean;
    /** True if a node ran it: once its process is dead, another one continues it. */
    readonly isOfService: boolean;
  } | null;
}

/** True for an exchange whose process is dead. */
function isLeft(begun: HeldQueue["begun"]): begun is NonNullable<HeldQueue["begun"]> {
  return begun !== null && begun.state !== "waiting" && !begun.isLive;
}

/** Holds the session's row until the transaction ends. */
async function holdQueue(tx: Tx, id: string): Promise<HeldQueue> {
  const row = await selectSessions(tx)
    .select(["exchange_count", "lease_epoch"])
    .where("id", "=", id)
    .modifyEnd(tx.dialect.forUpdate)
    .executeTakeFirstOrThrow();
  const begun = await tx.db
    .selectFrom("exchanges")
    .select(["n", "state", "epoch", "queued_at"])
    .where("session_id", "=", id)
    .where("ended_at", "is", null)
    .where("state", "in", BEGUN)
    .executeTakeFirst();
  const session = sessionOf(row);
  return {
    id,
    state: session.state,
    parent_session_id: session.parent_session_id,
    exchange_count: row.exchange_count,
    isOpen: row.exchange_open === 1,
    begun:
      begun === undefined
        ? null
        : {
            n: begun.n,
            state: begun.state,
            isLive: session.activity === "running" && begun.epoch === row.lease_epoch,
            isOfService: begun.state === "running" && begun.queued_at !== null,
          },
  };
}

/** The number of the exchange that an earlier request with this key queued; null if there is none. */
async function findEarlier(
  tx: Tx,
  {
    id,
    idempotency_key,
    request,
  }: { readonly id: string; readonly idempotency_key: string | null; readonly request: string },
): Promise<number | null> {
  if (idempotency_key === null) {
    return null;
  }
  const row = await tx.db
    .selectFrom("exchanges")
    .select(["n", "request"])
    .where("session_id", "=", id)
    .where("idempotency_key", "=", idempotency_key)
    .executeTakeFirst();
  if (row !== undefined && row.request !== request) {
    throw new RepriseError(
      "idempotency_key_reused",
      "This Idempotency-Key was used for another exchange of the session; use a fresh key for a new one.",
    );
  }
  return row?.n ?? null;
}

/** A sub-agent answers the call that began it, and nobody else while that call runs. */
async function refuseChildAtWork(tx: Tx, parent: string | null): Promise<void> {
  if (parent === null) {
    return;
  }
  const open = await tx.db
    .selectFrom("sessions")
    .select("id")
    .where("id", "=", parent)
    .where("exchange_open", "=", 1)
    .executeTakeFirst();
  if (open !== undefined) {
    throw new RepriseError(
      "session_busy",
      "This session belongs to a sub-agent, and the exchange that began it has not ended; send the message to its parent.",
    );
  }
}

/**
 * Queues the interrupted exchange again, and returns its number. Null if there is none, but something
 * else to continue: what an exchange that failed has left, or messages that are pending.
 *
 * Error codes: `nothing_to_continue`.
 */
async function queueAgain(tx: Tx, { id, begun, isOpen }: HeldQueue): Promise<number | null> {
  if (isLeft(begun) && isOpen) {
    await revokeDeadLease(tx, id);
    await tx.db
      .updateTable("exchanges")
      .set((eb) => ({
        state: "queued",
        revision: eb("revision", "+", 1),
        queued_at: tx.dialect.now(),
      }))
      .where("session_id", "=", id)
      .where("n", "=", begun.n)
      .where("state", "in", ["running", "interrupted"])
      .execute();
    return begun.n;
  }
  const queued = await tx.db
    .selectFrom("exchanges")
    .select("n")
    .where("session_id", "=", id)
    .where("ended_at", "is", null)
    .executeTakeFirst();
  const hasMore = isOpen || (await readPending(tx, { session_id: id })).length > 0;
  if (queued !== undefined || !hasMore) {
    throw new RepriseError(
      "nothing_to_continue",
      queued === undefined
        ? "Nothing was interrupted in this session and no message waits for the agent; send one."
        : "The session has an exchange that is queued, running or waiting already.",
    );
  }
  return null;
}
