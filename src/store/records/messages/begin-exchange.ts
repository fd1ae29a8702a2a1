import type { AskedBy } from "../../../core/exchanges.ts";
import { PLAN_AGENT } from "../../../core/plan-runs.ts";
import type { Principal } from "../../../core/principal.ts";
import { RepriseError } from "../../../core/errors.ts";
import { newId } from "../../../core/ids.ts";
import type { Message, Session } from "../../../core/sessions.ts";
import { type Parameter, prepared } from "../../prepared.ts";
import {
  continueRecord,
  insertRunning,
  type RunningRecord,
  stopRecords,
} from "../exchanges/records.ts";
import { BEGUN_FIRST, type ClaimedExchange, claimQueued } from "../exchanges/ready.ts";
import { questionBefore, waitsFor } from "../exchanges/waits-for.ts";
import { type Fence, holdFence } from "../leases/fence.ts";
import { type Lease, type LeaseState, type TakeLease, takeLease } from "../leases/lease.ts";
import { askAdmission } from "../questions/admission.ts";
import { withdrawQuestions } from "../questions/withdraw.ts";
import { NO_FAILURE } from "../sessions/failures.ts";
import { readSession, sessionNotFound } from "../sessions/read.ts";
import { recordChanges } from "../sessions/record-changes.ts";
import { sessionColumns, sessionOf } from "../sessions/rows.ts";
import type { Operation, Tx } from "../../store.ts";
import { insertMessage } from "./append.ts";
import { readPending } from "./read.ts";

export interface BeginExchange {
  readonly fence: Fence;
  /** The user's new message; null to hand over only what is pending, or to continue. */
  readonly content: string | null;
  /** Given in place of `content` by an agent whose messages have ids already. */
  readonly messages?: readonly IdentifiedMessage[];
  /** The queued exchange that begins, as it was read. */
  readonly claim?: ClaimedExchange;
  /** The id of its record, unless it continues an exchange that has one. */
  readonly exchange_id?: string;
  /**
   * True to continue what was interrupted, false to skip it. If it is not given, an exchange without
   * new messages continues.
   */
  readonly continues?: boolean;
  /** Model with which the exchange runs; recorded if the session has none yet. Null if it is unknown. */
  readonly model: string | null;
  readonly persona_name: string | null;
  /** The name of the agent that runs it, which becomes the session's; null for the built-in one. */
  readonly agent?: string | null;
  /** Who runs it; unknown callers count as authenticated. */
  readonly principal?: Principal | undefined;
  /** Who asked for it, for its record; the caller if it is not given, or else a program. */
  readonly asked_by?: AskedBy;
  /** Number of the exchange that a sub-agent works for, in the parent's session. */
  readonly parent_n?: number | null;
}

/** A user's message. If the session has one of this id, it is not stored again. */
export interface IdentifiedMessage {
  readonly message_id: string;
  readonly content: string;
}

export interface BegunExchange {
  readonly session: Session;
  /** Messages that `readPending` finds, the new one last. */
  readonly pending: readonly Message[];
  /** Its record; null if there is nothing to do: no new or pending message and nothing to continue. */
  readonly record: RunningRecord | null;
  /** The tokens that it had used then. */
  readonly used: { readonly input_tokens: number; readonly output_tokens: number };
}

/**
 * Stores the user's message and marks the exchange as begun, in one transaction: from here until
 * `releaseLease` with `finished` the session counts as interrupted unless its lease is alive.
 *
 * Error codes: `lease_lost`, `session_ended`.
 */
export const beginExchange: Operation<BeginExchange, BegunExchange> = async (tx, input) => {
  const { exchange_open } = await holdFence(tx, input.fence);
  const before = await readSession(tx, { id: input.fence.session_id });
  return begin(tx, { ...input, before, isOpen: exchange_open === 1 });
};

export interface OpenExchange extends TakeLease {
  /** Exchange to begin with under the new lease; null to take the lease alone. */
  readonly begin: (Omit<BeginExchange, "fence"> & { readonly leaseState: LeaseState }) | null;
  /**
   * The lease of the parent's exchange, for a sub-agent. A process that was suspended and lost it would
   * otherwise take the sub-agent from the process that has it.
   */
  readonly parent_fence?: Fence;
  /** True for a message that has waited for its turn: it withdraws no question of the exchange before it. */
  readonly has_waited?: boolean;
}

/**
 * Takes the session's lease and, in the same transaction, begins the exchange, unless the session
 * is interrupted or somebody had the lease since the session was read. Then `begun` is null.
 *
 * Error codes: as `takeLease`; `lease_lost` and `session_ended` of the parent; `question_open`.
 */
export const openExchange: Operation<
  OpenExchange,
  Lease & { readonly begun: BegunExchange | null }
> = async (tx, input) => {
  if (input.parent_fence !== undefined) {
    await holdFence(tx, input.parent_fence);
  }
  const lease = await takeLease(tx, input);
  const { session_id } = lease;
  if (input.has_waited === true && (await waitsFor(tx, { session_id })) === "answer") {
    throw questionBefore();
  }
  const { session: before, epoch, was_interrupted } = lease;
  const leaseState = input.begin?.leaseState;
  const isAsRead =
    leaseState?.free_epoch === epoch - 1 &&
    leaseState.session.thread_suffix === before.thread_suffix;
  const begun =
    input.begin !== null && isAsRead && !was_interrupted
      ? await begin(tx, { ...input.begin, fence: lease, before, isOpen: false })
      : null;
  return { ...lease, begun };
};

interface Beginning extends BeginExchange {
  readonly before: Session;
  /** True if the exchange before did not finish. */
  readonly isOpen: boolean;
}

const begin: Operation<Beginning, BegunExchange> = async (tx, input) => {
  const { fence, model, persona_name, agent = null, principal, before } = input;
  const { session_id } = fence;
  const messages = await newMessages(tx, input);
  const { continues = messages.length === 0 } = input;
  const continued = await continuedRecord(tx, input, continues);
  const waiting =
    continues && !input.isOpen && continued === null ? await readPending(tx, { session_id }) : null;
  const isNew = continued === null && waiting?.length !== 0;
  if (isNew) {
    await stopRecords(tx, [session_id], null);
  }
  if (input.isOpen && !continues) {
    await withdrawQuestions(tx, session_id, { isSuperseded: true });
  }
  const added = isNew ? 1 : 0;
  const [row] = await tx.rows(markBegun, { session_id, model, persona_name, agent, added });
  if (row === undefined) {
    throw sessionNotFound();
  }
  await recordChanges(tx, {
    session_id,
    principal,
    changes: {
      model: before.model === null ? (model ?? undefined) : undefined,
      persona_name: before.persona_name === null ? (persona_name ?? undefined) : undefined,
    },
  });
  let session = sessionOf(row);
  for (const message of messages) {
    const appended = await insertMessage(tx, {
      session_id,
      ...message,
      idempotency_key: null,
      principal,
    });
    session = appended.session;
  }
  if (messages.length > 0) {
    tx.touch(session_id);
  }
  const pending = waiting ?? (await readPending(tx, { session_id }));
  const record = isNew
    ? await insertRunning(tx, {
        fence,
        id: input.exchange_id ?? newId(),
        n: row.exchange_count,
        asked_by: input.asked_by ?? principal?.origin ?? "library",
        parent_n: input.parent_n ?? null,
        model,
        persona_name,
        first_seq: pending[0]?.seq ?? session.last_seq + 1,
        before,
      })
    : continued;
  if (input.claim !== undefined && agent !== PLAN_AGENT) {
    // a terminal asks before it begins, and nobody reads messages to a run
    await askAdmission(tx, session);
  }
  return { session, pending, record, used: usedBefore(before, record) };
};

/** A repair may have lowered the session's totals meanwhile. */
function usedBefore(session: Session, record: RunningRecord | null): BegunExchange["used"] {
  const { total_input_tokens: input, total_output_tokens: output } = session;
  return {
    input_tokens: Math.max(0, input - (record?.input_before ?? input)),
    output_tokens: Math.max(0, output - (record?.output_before ?? output)),
  };
}

/** The record that the exchange continues, or that waited in line; null for a new one. */
async function continuedRecord(
  tx: Tx,
  { fence, claim: given, isOpen, model, persona_name, agent }: Beginning,
  continues: boolean,
): Promise<RunningRecord | null> {
  const { session_id, epoch } = fence;
  if (given === undefined && continues && isOpen) {
    return continueRecord(tx, fence);
  }
  // an exchange of a run that is queued is for the same phases
  const claim = given ?? (agent === PLAN_AGENT ? await queuedBefore(tx, session_id) : undefined);
  if (claim === undefined) {
    return null;
  }
  const claimed = await claimQueued(tx, { session_id, epoch, ...claim, model, persona_name });
  if (claimed === null) {
    throw new RepriseError(
      "exchange_changed",
      "The exchange was changed, withdrawn or begun by another process since it was read.",
    );
  }
  return claimed;
}

/** The queued exchange of a session that no other one comes before; undefined for none. */
async function queuedBefore({ db }: Tx, session_id: string): Promise<ClaimedExchange | undefined> {
  const next = await db
    .selectFrom("exchanges")
    .select(["n", "revision", "state"])
    .where("session_id", "=", session_id)
    .where("ended_at", "is", null)
    .orderBy(BEGUN_FIRST)
    .orderBy("n")
    .limit(1)
    .executeTakeFirst();
  return next?.state === "queued" ? { n: next.n, revision: next.revision } : undefined;
}

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
  /** 1 if the exchange gets a new record, else 0. */
  readonly added: number;
  readonly model: string | null;
  readonly persona_name: string | null;
  readonly agent: string | null;
}

const markBegun = prepared(({ db, dialect }, given: Parameter<Marked>) =>
  db
    .updateTable("sessions")
    .set((eb) => ({
      exchange_open: 1,
      ...NO_FAILURE,
      model: eb.fn.coalesce("model", given("model")),
      persona_name: eb.fn.coalesce("persona_name", given("persona_name")),
      agent: given("agent"),
      exchange_count: eb("exchange_count", "+", given("added")),
      ready_at: null,
    }))
    .where("id", "=", given("session_id"))
    .returning(sessionColumns({ dialect }))
    .returning("exchange_count"),
);
