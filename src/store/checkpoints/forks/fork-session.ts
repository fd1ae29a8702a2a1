import { sql } from "kysely";

import { PLAN_AGENT } from "../../../core/plan-runs.ts";
import { type Principal, isOwner } from "../../../core/principal.ts";
import { RepriseError } from "../../../core/errors.ts";
import { newId } from "../../../core/ids.ts";
import type { Session } from "../../../core/sessions.ts";
import { threadId } from "../../../core/threads.ts";
import { BATCH } from "../../records/threads/bodies.ts";
import { holdFamilies } from "../../records/threads/families.ts";
import { onceByKey } from "../../records/sessions/create-once.ts";
import { lockSession } from "../../records/sessions/lock.ts";
import { readSession, sessionNotFound } from "../../records/sessions/read.ts";
import type { Operation, Tx } from "../../store.ts";
import {
  type ForkedThread,
  type ForkPoint,
  forkPoint,
  holderOf,
  seqsOf,
  threadsOf,
} from "./fork-point.ts";
import { FORKED_SESSION, type ForkedSession, messageId } from "./forked-session.ts";
import { earlierMessages, messagesOf, restoreEdited } from "./restore-edited.ts";
import { bodiesAfter, shareThread } from "./share-thread.ts";

export interface ForkSession {
  /** The origin: active or ended, archived or not. */
  readonly session_id: string;
  /** The last message that the fork may have, from 0; all if it is not given. */
  readonly at_seq?: number | undefined;
  /** The caller; without one, the fork counts as made by the owner. */
  readonly principal?: Principal | undefined;
  /** A repeated request with the same key gets the same fork, as of `createSessionOnce`. */
  readonly create_key?: string | undefined;
}

/**
 * Makes a session that continues from a message of another one: at the end of an exchange, the nearest one before `at_seq`, or at
 * a message after it that no exchange has taken. It is the root of a separate tree, active, in the mode `ask`, and has used
 * nothing. Model, persona, folder, limits and who chose them are the origin's; its name, labels, consents, questions,
 * exchanges, queue, files to undo and sub-agents are not copied. All or nothing.
 *
 * Error codes: `session_not_found`; `invalid_request` for a message that the origin does not have;
 * `run_takes_no_message` for the session of a run; `idempotency_key_reused`; `database_corrupt`.
 */
export const forkSession: Operation<ForkSession, Session> = async (tx, input) => {
  const { create_key, session_id, at_seq = null } = input;
  await holdFamilies(tx);
  return create_key === undefined
    ? fork(tx, input)
    : onceByKey(
        tx,
        { create_key, create_request: JSON.stringify(["fork", session_id, at_seq]) },
        () => fork(tx, input),
      );
};

async function fork(tx: Tx, input: ForkSession): Promise<Session> {
  const session = await holdOrigin(tx, input);
  const at = input.at_seq ?? session.last_seq;
  const held = await holderOf(tx, { session, at });
  const isOwn = held.holder === session.id;
  if (!isOwn) {
    await lockSession(tx, held.holder);
  }
  const threads = await threadsOf(tx, held.holder);
  const own = isOwn ? threads : await threadsOf(tx, session.id);
  const point = await forkPoint(tx, { session: held.session, threads, at });
  const id = newId();
  const cleared_seq = await clearedIn(tx, { session, threads, point });
  await copySession(tx, { session, point, id, cleared_seq, principal: input.principal });
  await copyChanges(tx, session.id, id);
  await copyMessages(tx, { session, point, id, cleared_seq });
  for (const thread of threads.toReversed()) {
    const isForked = thread.suffix === point.suffix;
    const checkpoint = isForked ? point.checkpoint : thread.head_row;
    if (checkpoint !== null && thread.suffix <= point.suffix) {
      const isLatest = checkpoint === thread.head_row;
      const to = threadId(id, thread.suffix);
      const messages = isForked ? point.messages : undefined;
      await shareThread(tx, { from: thread.id, checkpoint, messages, isLatest, to });
      const latest = own.find(({ suffix }) => suffix === thread.suffix) ?? thread;
      await restoreEdited(tx, { id, checkpoint, latest: latest.head_row });
    }
  }
  await waitAgain(tx, { session, threads, point, id });
  tx.touch(id);
  return readSession(tx, { id });
}

interface Origin extends ForkedSession {
  readonly cleared_seq: number;
}

async function holdOrigin(tx: Tx, { session_id, at_seq }: ForkSession): Promise<Origin> {
  await lockSession(tx, session_id);
  const session = await tx.db
    .selectFrom("sessions")
    .select([...FORKED_SESSION, "cleared_seq"])
    .where("id", "=", session_id)
    .executeTakeFirst();
  if (session === undefined) {
    throw sessionNotFound();
  }
  if (session.agent === PLAN_AGENT) {
    throw new RepriseError(
      "run_takes_no_message",
      "This session runs a plan, so there is no conversation to fork. Fork the session of one of its phases, or start the plan again with `reprise plan run`.",
    );
  }
  if (at_seq !== undefined && at_seq > session.last_seq) {
    throw new RepriseError(
      "invalid_request",
      `The session has no message ${at_seq}; its last one is ${session.last_seq}. Fork it from an earlier message.`,
    );
  }
  return session;
}

interface Forked {
  readonly session: Origin;
  readonly point: ForkPoint;
  /** Id of the fork. */
  readonly id: string;
  readonly cleared_seq: number;
}

/** The messages that are hidden: as in the origin, or, in a thread before the one in use there, all before its own. */
async function clearedIn(
  tx: Tx,
  {
    session,
    threads,
    point,
  }: Pick<Forked, "session" | "point"> & { readonly threads: readonly ForkedThread[] },
): Promise<number> {
  if (point.suffix === session.thread_suffix) {
    return Math.min(session.cleared_seq, point.seq);
  }
  const thread = threads.find(({ suffix }) => suffix === point.suffix);
  if (thread === undefined || point.checkpoint === null) {
    return 0;
  }
  const messages = { list: 0, length: 0 };
  const [first] = await bodiesAfter(tx, { from: thread.id, messages, limit: 1 });
  const ids = first === undefined ? [] : [messageId(first.body)];
  const seqs = await seqsOf(tx, { session_id: session.id, ids });
  const before = Math.max(0, ([...seqs.values()][0] ?? 1) - 1);
  return Math.min(session.cleared_seq, before);
}

const COPIED = [
  "persona_name",
  "model",
  "agent",
  "repo_path",
  "project_key",
  "project_id",
  "title",
  "effort",
  "cache",
  "fallback",
  "prefix_mark",
  "exchange_limit",
  "session_limit",
  "tree_limit",
  "exchange_price_limit",
  "session_price_limit",
  "tree_price_limit",
  "origin",
] as const;

/** Columns of the fork alone, in the order in which they are selected. */
const OWN = [
  "authenticated",
  "id",
  "root_session_id",
  "last_message_at",
  "forked_from_session_id",
  "forked_from_seq",
  "last_seq",
  "cleared_seq",
  "thread_suffix",
] as const;

async function copySession(
  tx: Tx,
  input: Forked & { readonly principal: Principal | undefined },
): Promise<void> {
  const { session, point, id, cleared_seq, principal } = input;
  const { seq } = point;
  await tx.db
    .insertInto("sessions")
    .columns([...COPIED, ...OWN])
    .expression(({ selectFrom, lit, val, ref }) =>
      selectFrom("sessions")
        .select(COPIED)
        .select([
          // who may not decide for the owner does not by forking either
          (isOwner(principal) ? ref("authenticated") : lit(0)).as("authenticated"),
          val(id).as("id"),
          val(id).as("root_session_id"),
          (seq === 0 ? sql<string | null>`null` : tx.dialect.now()).as("last_message_at"),
          "id as forked_from_session_id",
          lit(seq).as("forked_from_seq"),
          lit(seq).as("last_seq"),
          lit(cleared_seq).as("cleared_seq"),
          lit(point.suffix).as("thread_suffix"),
        ])
        .where("id", "=", session.id),
    )
    .execute();
  if (seq === 0) {
    await tx.db.updateTable("sessions").set({ title: null }).where("id", "=", id).execute();
  }
}

/** Who chose what the fork has is not forgotten: choices of a program wait for a person in the fork, too. */
async function copyChanges({ db }: Tx, from: string, to: string): Promise<void> {
  const columns = ["number", "field", "value", "origin", "authenticated", "ts"] as const;
  await db
    .insertInto("session_changes")
    .columns(["session_id", ...columns])
    .expression(({ selectFrom, val }) =>
      selectFrom("session_changes")
        .select([val(to).as("session_id"), ...columns])
        .where("session_id", "=", from),
    )
    .execute();
}

const MESSAGE = [
  "seq",
  "message_id",
  "role",
  "call_id",
  "status",
  "token_count",
  "is_summary",
  "ts",
  "checkpointed",
  "origin",
  "authenticated",
  "content",
  "tool_calls",
] as const;

async function copyMessages(tx: Tx, { session, point, id, cleared_seq }: Forked): Promise<void> {
  await tx.db
    .insertInto("messages")
    .columns(["session_id", "archived", ...MESSAGE])
    .expression(({ selectFrom, val, eb }) =>
      selectFrom("messages")
        .select([
          val(id).as("session_id"),
          eb
            .case()
            .when("seq", "<=", cleared_seq)
            .then(eb.lit(1))
            .else(eb.lit(0))
            .end()
            .as("archived"),
          ...MESSAGE,
        ])
        .where("session_id", "=", session.id)
        .where("seq", "<=", point.seq),
    )
    .execute();
}

/**
 * A message that came during the last exchange of the fork, and that the origin's next one took, waits in the fork
 * again. Messages that wait are counted by their estimates until then.
 */
async function waitAgain(
  tx: Tx,
  input: Omit<Forked, "cleared_seq"> & { readonly threads: readonly ForkedThread[] },
): Promise<void> {
  const { session, point, id } = input;
  const later = await takenLater(tx, input);
  const seqs = await seqsOf(tx, { session_id: session.id, ids: later });
  const waiting = [...seqs.values()].filter((seq) => seq <= point.seq);
  if (waiting.length > 0) {
    await tx.db
      .updateTable("messages")
      .set({ checkpointed: 0 })
      .where("session_id", "=", id)
      .where("seq", "in", waiting)
      .where("role", "=", "user")
      .execute();
  }
  await tx.db
    .updateTable("sessions")
    .set(({ selectFrom }) => ({
      total_input_tokens: selectFrom("messages")
        .select(({ fn, lit }) => fn.coalesce(fn.sum<number>("token_count"), lit(0)).as("sum"))
        .where("session_id", "=", id)
        .where("checkpointed", "=", 0),
    }))
    .where("id", "=", id)
    .execute();
}

/** Ids of the messages that come first in what the origin's thread, or its next one, has after the fork's. */
async function takenLater(
  tx: Tx,
  { threads, point }: { readonly threads: readonly ForkedThread[]; readonly point: ForkPoint },
): Promise<string[]> {
  const forked = threads.find(({ suffix }) => suffix === point.suffix);
  const next = threads.findLast(({ suffix }) => suffix > point.suffix);
  const isLatest = forked === undefined || forked.head_row === point.checkpoint;
  const from = isLatest ? next : forked;
  if (from === undefined) {
    return [];
  }
  const messages = isLatest ? null : await messagesOf(tx, point.checkpoint);
  const start = messages ?? { list: 0, length: 0 };
  const bodies = await bodiesAfter(tx, { from: from.id, messages: start, limit: BATCH });
  const held = isLatest ? new Set<string>() : await heldIds(tx, point, from.head_row);
  return bodies.map(({ body }) => messageId(body)).filter((id) => !held.has(id));
}

/** Ids of the messages of the fork's checkpoint; none if the thread's latest one begins with all of them. */
async function heldIds(
  tx: Tx,
  { checkpoint }: ForkPoint,
  latest: number,
): Promise<ReadonlySet<string>> {
  const held = checkpoint === null ? [] : await earlierMessages(tx, { checkpoint, latest });
  return new Set(held.map(({ message_id }) => message_id));
}
