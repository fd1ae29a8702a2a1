import type { Caller } from "../../core/origins.ts";
import type { Message, Session } from "../../core/sessions.ts";
import { type Parameter, prepared } from "../engines/prepared.ts";
import { type Fence, holdFence } from "../leases/fence.ts";
import { type Lease, type LeaseState, type TakeLease, takeLease } from "../leases/lease.ts";
import { NO_FAILURE } from "../sessions/failures.ts";
import { readSession } from "../sessions/read.ts";
import { recordChanges } from "../sessions/record-changes.ts";
import { sessionColumns, sessionOf } from "../sessions/rows.ts";
import type { Operation, Tx } from "../store.ts";
import { insertMessage } from "./append.ts";
import { readPending } from "./read.ts";

export interface BeginExchange {
  readonly fence: Fence;
  /** The user's new message; null to hand over only what is pending, or to continue. */
  readonly content: string | null;
  /** Given in place of `content` by an agent whose messages have ids already. */
  readonly messages?: readonly IdentifiedMessage[];
  /** What the exchange runs with; recorded if the session has none yet. Null if nobody knows. */
  readonly model: string | null;
  readonly persona_name: string | null;
  /** The name of the agent that runs it, which becomes the session's; null for the built-in one. */
  readonly agent?: string | null;
  /** Who runs it; unknown callers count as authenticated. */
  readonly caller?: Caller | undefined;
}

/** A user's message. If the session has one of this id, it is not stored again. */
export interface IdentifiedMessage {
  readonly message_id: string;
  readonly content: string;
}

export interface BegunExchange {
  readonly session: Session;
  /** What `readPending` finds, the new one last. */
  readonly pending: readonly Message[];
}

/**
 * Stores the user's message and marks the exchange as begun, in one transaction: from here until
 * `releaseLease` with `finished` the session counts as interrupted unless its lease is alive.
 *
 * Error codes: `lease_lost`, `session_ended`.
 */
export const beginExchange: Operation<BeginExchange, BegunExchange> = async (tx, input) => {
  await holdFence(tx, input.fence);
  const before = await readSession(tx, { id: input.fence.session_id });
  return begin(tx, { ...input, before });
};

export interface OpenExchange extends TakeLease {
  /** What to begin with under the new lease; null to take the lease alone. */
  readonly begin: (Omit<BeginExchange, "fence"> & { readonly leaseState: LeaseState }) | null;
}

/**
 * Takes the session's lease and, in the same transaction, begins the exchange, unless the session
 * is interrupted or somebody had the lease since the session was read. Then `begun` is null.
 *
 * Error codes: as `takeLease`.
 */
export const openExchange: Operation<
  OpenExchange,
  Lease & { readonly begun: BegunExchange | null }
> = async (tx, input) => {
  const lease = await takeLease(tx, input);
  const { session: before, epoch, was_interrupted } = lease;
  const leaseState = input.begin?.leaseState;
  const isAsRead =
    leaseState?.free_epoch === epoch - 1 &&
    leaseState.session.thread_suffix === before.thread_suffix;
  const begun =
    input.begin !== null && isAsRead && !was_interrupted
      ? await begin(tx, { ...input.begin, fence: lease, before })
      : null;
  return { ...lease, begun };
};

const begin: Operation<BeginExchange & { readonly before: Session }, BegunExchange> = async (
  tx,
  input,
) => {
  const { model, persona_name, agent = null, caller, before } = input;
  const { session_id } = input.fence;
  const [row] = await tx.rows(markBegun, { session_id, model, persona_name, agent });
  await recordChanges(tx, {
    session_id,
    caller,
    changes: {
      model: before.model === null ? (model ?? undefined) : undefined,
      persona_name: before.persona_name === null ? (persona_name ?? undefined) : undefined,
    },
  });
  let session = row === undefined ? before : sessionOf(row);
  for (const message of await newMessages(tx, input)) {
    const appended = await insertMessage(tx, {
      session_id,
      ...message,
      idempotency_key: null,
      caller,
    });
    session = appended.session;
  }
  return { session, pending: await readPending(tx, { session_id }) };
};

async function newMessages(
  tx: Tx,
  { content, messages, fence }: BeginExchange,
): Promise<readonly (Pick<IdentifiedMessage, "content"> & Partial<IdentifiedMessage>)[]> {
  if (messages === undefined || messages.length === 0) {
    return content === null ? [] : [{ content }];
  }
  const ids = messages.map(({ message_id }) => message_id);
  const rows = await tx.db
    .selectFrom("messages")
    .select("message_id")
    .where("session_id", "=", fence.session_id)
    .where("message_id", "in", ids)
    .execute();
  const stored = new Set(rows.map(({ message_id }) => message_id));
  return messages.filter(({ message_id }) => !stored.has(message_id));
}

interface Marked {
  readonly session_id: string;
  readonly model: string | null;
  readonly persona_name: string | null;
  readonly agent: string | null;
}

const markBegun = prepared(({ db, dialect }, given: Parameter<Marked>) =>
  db
    .updateTable("sessions")
    .set(({ fn }) => ({
      exchange_open: 1,
      ...NO_FAILURE,
      model: fn.coalesce("model", given("model")),
      persona_name: fn.coalesce("persona_name", given("persona_name")),
      agent: given("agent"),
    }))
    .where("id", "=", given("session_id"))
    .returning(sessionColumns({ dialect })),
);
