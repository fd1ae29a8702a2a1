import { createHash } from "node:crypto";

import type { Selectable } from "kysely";

import { priceUnknown } from "../../../core/cost/limits.ts";
import { RepriseError } from "../../../core/errors.ts";
import type { AskedBy } from "../../../core/exchanges.ts";
import { PLAN_AGENT } from "../../../core/plan-runs.ts";
import { newId } from "../../../core/ids.ts";
import { type Principal, isOwner } from "../../../core/principal.ts";
import { isDelegated } from "../../../core/session-tree.ts";
import type { ExchangeRecord } from "../../../core/sessions.ts";
import { type Parameter, prepared } from "../../prepared.ts";
import type { ExchangeTable } from "../../tables/database.ts";
import { revokeDeadLease } from "../leases/revoke.ts";
import { readPending } from "../messages/read.ts";
import { whyNoResume } from "../plans/no-resume.ts";
import { runTakesNoMessage } from "../plans/takes-no-message.ts";
import { queueWaiting } from "../questions/continue.ts";
import { firstOpenQuestion } from "../questions/read.ts";
import { withdrawQuestions } from "../questions/withdraw.ts";
import { refuseEnded } from "../sessions/change.ts";
import { resolveSession } from "../sessions/read.ts";
import { isUnconfirmed, notConfirmed } from "../messages/refuse-unconfirmed.ts";
import type { Operation, Tx } from "../../store.ts";
import { type HeldQueue, holdQueue } from "./held-queue.ts";
import { RECORD_COLUMNS, readRecord, recordOf } from "./read.ts";
import { BEGUN_FIRST, readyAt, refreshReady } from "./ready.ts";
import { stopRecords } from "./records.ts";
import { askToStop } from "./stop-asked.ts";
import { whyUnsent } from "./unsent.ts";

export interface QueueExchange {
  /** An id or a prefix of 6 or more characters. */
  readonly reference: string;
  /** The user's message; null to continue what was interrupted, or to hand over what is pending. */
  readonly content: string | null;
  /** True for a message that need not wait for the answers to open questions: they are withdrawn. */
  readonly supersede?: boolean;
  /** True to queue nothing while another exchange of the session is queued, runs or waits. */
  readonly if_idle?: boolean;
  readonly asked_by: AskedBy;
  readonly principal: Principal;
  /** A repeated request with the same key finds the exchange that the first one queued. */
  readonly idempotency_key?: string | undefined;
  /** ISO 8601 in UTC: it is not run before. */
  readonly not_before?: string | null;
  /** Refuses a session of the built-in agent with a limit of its price: the price of its model is to be checked first. */
  readonly refusesPriceLimits?: boolean;
}

/**
 * Queues an exchange, which the next free node runs once those before it have ended. A message skips
 * an exchange that waits for a person to continue it, as one typed in a terminal does.
 *
 * Error codes: as `resolveSession`, `session_ended`, `idempotency_key_reused`,
 * `not_confirmed`, `nothing_to_continue`, `question_open`, `price_unknown`; `session_busy` or `invalid_usage` for the session of a sub-agent;
 * `run_takes_no_message` for a message to the session of a run; with `if_idle`, `session_busy` or `question_open` if another exchange
 * is queued, runs or waits.
 */
export const queueExchange: Operation<QueueExchange, ExchangeRecord> = async (tx, input) => {
  const { content, supersede = false, idempotency_key = null, not_before = null } = input;
  const { id, agent } = await resolveSession(tx, input);
  const held = await holdQueue(tx, { id, idempotency_key });
  const request = createHash("sha256")
    .update(JSON.stringify(asRequested(input)))
    .digest("hex");
  if (held.earlier !== null) {
    refuseOtherRequest(held.earlier.request, request);
    return readRecord(tx, id, held.earlier.n);
  }
  refuseEnded(held);
  if (agent === PLAN_AGENT && content !== null) {
    throw runTakesNoMessage();
  }
  await refuseSubAgent(tx, held);
  if (input.if_idle === true) {
    await refuseBusy(tx, held, content);
  }
  if (held.mayBeUnconfirmed && (await isUnconfirmed(tx, id))) {
    throw notConfirmed(id);
  }
  if (input.refusesPriceLimits === true && agent === null && held.isPriceLimited) {
    throw priceUnknown(null);
  }
  if (content === null) {
    const isRun = agent === PLAN_AGENT;
    // no exchange of a run is for a message but its first
    const mayHandOver = !isRun || held.exchange_count === 0;
    const again = { idempotency_key, request, not_before, mayHandOver, isRun };
    const n = await queueAgain(tx, held, again);
    if (n !== null) {
      return readRecord(tx, id, n);
    }
  } else {
    await skipDead(tx, held);
    if (supersede) {
      await skipWaiting(tx, held);
    }
  }
  const n = held.exchange_count + 1;
  const [row] = await tx.rows(insertQueued, {
    session_id: id,
    n,
    id: newId(),
    asked_by: input.asked_by,
    content,
    origin: input.principal.origin,
    authenticated: isOwner(input.principal) ? 1 : 0,
    idempotency_key,
    request,
    not_before,
  });
  await tx.rows(countQueued, { id });
  tx.touch(id);
  return row === undefined ? readRecord(tx, id, n) : recordOf(row);
};

/** Without a time the same as in versions that had none. */
function asRequested({ content, supersede = false, not_before = null }: QueueExchange): unknown {
  const asked = supersede ? [content] : content;
  return not_before === null ? asked : { content: asked, not_before };
}

type QueuedRow = Pick<
  Selectable<ExchangeTable>,
  | "session_id"
  | "n"
  | "id"
  | "asked_by"
  | "content"
  | "origin"
  | "authenticated"
  | "idempotency_key"
  | "request"
  | "not_before"
>;

const insertQueued = prepared(({ db, dialect }, given: Parameter<QueuedRow>) =>
  db
    .insertInto("exchanges")
    .values({ ...given.row(), state: "queued", queued_at: dialect.now() })
    .returning(RECORD_COLUMNS),
);

const countQueued = prepared(({ db, dialect }, given: Parameter<{ readonly id: string }>) =>
  db
    .updateTable("sessions")
    .set((eb) => ({ exchange_count: eb("exchange_count", "+", 1), ready_at: readyAt(dialect) }))
    .where("id", "=", given("id")),
);

/** Error codes: `idempotency_key_reused`. */
function refuseOtherRequest(earlier: string | null, request: string): void {
  if (earlier !== request) {
    throw new RepriseError(
      "idempotency_key_reused",
      "This Idempotency-Key was used for another exchange of the session; use a fresh key for a new one.",
    );
  }
}

/**
 * No node runs exchanges of a sub-agent's session: the call that began it does.
 *
 * Error codes: `session_busy` while the parent's exchange is open, else `invalid_usage`.
 */
async function refuseSubAgent(tx: Tx, held: HeldQueue): Promise<void> {
  const parent = held.parent_session_id;
  if (parent === null || !isDelegated(held)) {
    return;
  }
  const open = await tx.db
    .selectFrom("sessions")
    .select("id")
    .where("id", "=", parent)
    .where("exchange_open", "=", 1)
    .executeTakeFirst();
  throw open === undefined
    ? new RepriseError(
        "invalid_usage",
        `This session belongs to a sub-agent, whose exchanges only its parent runs. Send the message to the parent, session ${parent}.`,
      )
    : new RepriseError(
        "session_busy",
        `This session belongs to a sub-agent, and the exchange that began it has not ended. Send the message to the parent, session ${parent}.`,
      );
}

/**
 * What was interrupted does not count: a message skips it, and without one it is continued. What a node continues by itself does.
 *
 * Error codes: `session_busy`; `question_open` if an exchange waits for a person.
 */
async function refuseBusy(
  tx: Tx,
  { id, isRunning, begun }: HeldQueue,
  content: string | null,
): Promise<void> {
  const isRevived = content !== null && begun?.state === "running" && begun.isOfService;
  const open = await tx.db
    .selectFrom("exchanges")
    .select("state")
    .where("session_id", "=", id)
    .where("ended_at", "is", null)
    .where("state", "in", ["queued", "waiting"])
    .execute();
  const question = open.some(({ state }) => state === "waiting")
    ? await firstOpenQuestion(tx, id)
    : null;
  if (question !== null) {
    throw questionOpen(question, "Answer it first.");
  }
  if (isRunning || isRevived || open.length > 0) {
    throw new RepriseError(
      "session_busy",
      "Another exchange of this session is queued or runs. Wait for its end, or send the message without `if_idle`.",
    );
  }
}

function questionOpen(open: string, remedy: string): RepriseError {
  return new RepriseError(
    "question_open",
    `The exchange waits for the answer to question ${open}. ${remedy}`,
    { open_question: open },
  );
}

/** Stops what a terminal ran whose process is dead. What a service ran is continued by a node. */
async function skipDead(tx: Tx, { id, begun }: HeldQueue): Promise<void> {
  if (begun !== null && !begun.isLive && !begun.isOfService && begun.state !== "waiting") {
    await revokeDeadLease(tx, id);
    await stopRecords(tx, [id], null);
  }
}

async function skipWaiting(tx: Tx, { id, begun }: HeldQueue): Promise<void> {
  if (begun?.state !== "waiting" && (await firstOpenQuestion(tx, id)) === null) {
    return;
  }
  if (begun?.isLive === true) {
    await askToStop(tx, { id, n: begun.n });
  } else {
    if (begun?.state === "running") {
      await revokeDeadLease(tx, id);
    }
    await stopRecords(tx, [id], null);
  }
  await withdrawQuestions(tx, id, { isSuperseded: true });
}

/** Error codes: `question_open` if a question has no answer. */
async function continueWaiting(tx: Tx, id: string, isRun: boolean): Promise<void> {
  const open = await firstOpenQuestion(tx, id);
  if (open !== null) {
    throw questionOpen(
      open,
      isRun
        ? "Answer it; then the run continues."
        : "Answer it, or send a message with `supersede`.",
    );
  }
  await queueWaiting(tx, id);
}

interface QueueAgain {
  readonly idempotency_key: string | null;
  readonly request: string;
  readonly not_before: string | null;
  /** False if pending messages alone are nothing to continue. */
  readonly mayHandOver: boolean;
  /** True for the session of a run, which takes no message. */
  readonly isRun: boolean;
}

/**
 * Queues the interrupted exchange again, or gives one that waits for its time another one, and returns its number. Null if there is none, but something
 * else to continue: what an exchange that failed has left, or messages that are pending.
 *
 * Error codes: `nothing_to_continue`, `question_open`; `session_busy` for a run that runs.
 */
async function queueAgain(
  tx: Tx,
  { id, begun, isOpen }: HeldQueue,
  { not_before, mayHandOver, isRun, ...key }: QueueAgain,
): Promise<number | null> {
  // the key that queued it first is the one that stays
  const isKeyless = key.idempotency_key !== null && begun?.idempotency_key === null;
  if (begun?.state === "waiting") {
    await continueWaiting(tx, id, isRun);
    if (isKeyless) {
      await tx.db
        .updateTable("exchanges")
        .set(key)
        .where("session_id", "=", id)
        .where("n", "=", begun.n)
        .execute();
    }
    return begun.n;
  }
  if (begun !== null && !begun.isLive && isOpen) {
    await tx.db
      .updateTable("exchanges")
      .set((eb) => ({
        state: "queued",
        revision: eb("revision", "+", 1),
        queued_at: tx.dialect.now(),
        not_before,
        stop_asked_at: null,
        ...(isKeyless ? key : {}),
      }))
      .where("session_id", "=", id)
      .where("n", "=", begun.n)
      .where("state", "in", ["running", "interrupted"])
      .execute();
    await revokeDeadLease(tx, id);
    await refreshReady(tx, id);
    return begun.n;
  }
  const open = await tx.db
    .selectFrom("exchanges")
    .select(["n", "state", "content", "not_before"])
    .where("session_id", "=", id)
    .where("ended_at", "is", null)
    .orderBy(BEGUN_FIRST)
    .orderBy("n")
    .executeTakeFirst();
  if (open?.state === "queued" && open.content === null && open.not_before !== null) {
    await tx.db
      .updateTable("exchanges")
      .set((eb) => ({ not_before, revision: eb("revision", "+", 1) }))
      .where("session_id", "=", id)
      .where("n", "=", open.n)
      .execute();
    await refreshReady(tx, id);
    return open.n;
  }
  const hasMore = isOpen || (mayHandOver && (await readPending(tx, { session_id: id })).length > 0);
  if (isRun && (open !== undefined || !hasMore)) {
    throw whyNoResume(open?.state);
  }
  if (open !== undefined || !hasMore) {
    throw new RepriseError(
      "nothing_to_continue",
      open === undefined
        ? ((await whyUnsent(tx, id)) ??
            "Nothing was interrupted in this session and no message waits for the agent. Send one.")
        : "The session has an exchange that is queued, running or waiting already. Send a message to queue another one.",
    );
  }
  return null;
}
