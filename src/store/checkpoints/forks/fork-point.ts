import { parseThreadId } from "../../../core/threads.ts";
import { threadRange } from "../../records/sessions/tree-ids.ts";
import { batches } from "../../records/threads/bodies.ts";
import { sessionNotFound } from "../../records/sessions/read.ts";
import type { Operation, Tx } from "../../store.ts";
import { messageListOf } from "../head-mark.ts";
import { segmentsOf, selectBodies } from "../lists.ts";
import { type ListVersion, parseChannels } from "../value.ts";
import { endWithin } from "./end-within.ts";
import { FORKED_SESSION, type ForkedSession, messageId } from "./forked-session.ts";

export interface ForkedThread {
  readonly id: number;
  readonly suffix: number;
  /** Row of its latest checkpoint. */
  readonly head_row: number;
  readonly folded_checkpoint: number;
}

/** Point at which a fork begins. */
export interface ForkPoint {
  /** The last message that it has; 0 for none. */
  readonly seq: number;
  /** The thread in use then, and the row of its checkpoint; null if it has no message yet. */
  readonly suffix: number;
  readonly checkpoint: number | null;
  /** Messages of the checkpoint that the fork has; all if it is left out. */
  readonly messages?: ListVersion;
}

/** The threads of a session, the latest first. */
export async function threadsOf({ db }: Tx, sessionId: string): Promise<readonly ForkedThread[]> {
  const { from, before } = threadRange(sessionId);
  const rows = await db
    .selectFrom("threads")
    .select(["id", "thread_id", "head_row", "folded_checkpoint"])
    .where("thread_id", ">=", from)
    .where("thread_id", "<", before)
    .where("head_row", ">", 0)
    .execute();
  return rows
    .flatMap(({ thread_id, ...row }) => {
      const thread = parseThreadId(thread_id);
      return thread === null ? [] : [{ ...row, suffix: thread.suffix }];
    })
    .sort((a, b) => b.suffix - a.suffix);
}

/**
 * The session whose checkpoints have a message, with the messages of the given one: a fork has no end of an exchange before it
 * began, as long as its origin is there.
 */
export async function holderOf(
  tx: Tx,
  { session, at }: { readonly session: ForkedSession; readonly at: number },
): Promise<{ readonly holder: string; readonly session: ForkedSession }> {
  let holder = session;
  const seen = new Set<string>();
  while (holder.forked_from_session_id !== null && at < (holder.forked_from_seq ?? 0)) {
    seen.add(holder.id);
    const origin = await tx.db
      .selectFrom("sessions")
      .select(FORKED_SESSION)
      .where("id", "=", holder.forked_from_session_id)
      .executeTakeFirst();
    if (origin === undefined || seen.has(origin.id)) {
      break;
    }
    holder = origin;
  }
  const { thread_suffix, exchange_open } = holder;
  return { holder: holder.id, session: { ...session, thread_suffix, exchange_open } };
}

/**
 * The end of the last exchange before a message, or of that message's; with messages that follow it and that no
 * exchange has taken yet. Without exchanges before it, the beginning.
 */
export async function forkPoint(
  tx: Tx,
  input: {
    readonly session: ForkedSession;
    readonly threads: readonly ForkedThread[];
    readonly at: number;
  },
): Promise<ForkPoint> {
  const { session, threads, at } = input;
  const isWhole = at >= session.last_seq;
  const latest = threads.find(({ suffix }) => suffix === session.thread_suffix);
  if (isWhole && session.exchange_open === 0) {
    const checkpoint = latest?.head_row ?? null;
    return { seq: session.last_seq, suffix: session.thread_suffix, checkpoint };
  }
  for (const thread of threads) {
    const end = await latestEnd(tx, { session, thread, at });
    if (end !== null) {
      const seq = await withPending(tx, { session, from: end.seq, at });
      return { seq, suffix: thread.suffix, checkpoint: end.row };
    }
    const last = lastEnd(session, thread);
    const within = isWhole ? null : await endWithin(tx, { session, thread: thread.id, last, at });
    if (within !== null) {
      const { row: checkpoint, ...part } = within;
      return { suffix: thread.suffix, checkpoint, ...part };
    }
    if (isWhole && thread === latest) {
      return begunIn(tx, { session, at });
    }
  }
  if (isWhole) {
    return begunIn(tx, { session, at });
  }
  return { seq: await withPending(tx, { session, from: 0, at }), suffix: 0, checkpoint: null };
}

/** The last message that a fork would have. Error codes: `session_not_found`. */
export const readForkPoint: Operation<
  { readonly session_id: string; readonly at_seq: number },
  { readonly seq: number }
> = async (tx, { session_id, at_seq: at }) => {
  const session = await tx.db
    .selectFrom("sessions")
    .select(FORKED_SESSION)
    .where("id", "=", session_id)
    .executeTakeFirst();
  if (session === undefined) {
    throw sessionNotFound();
  }
  const held = await holderOf(tx, { session, at });
  const threads = await threadsOf(tx, held.holder);
  const { seq } = await forkPoint(tx, { session: held.session, threads, at });
  return { seq };
};

/** The moment before the exchange that is open, in a thread that has no other one. */
async function begunIn(
  tx: Tx,
  { session, at }: { readonly session: ForkedSession; readonly at: number },
): Promise<ForkPoint> {
  const { id, thread_suffix: suffix } = session;
  const row = await tx.db
    .selectFrom("exchanges")
    .select(({ fn }) => fn.min("first_seq").as("first"))
    .where("session_id", "=", id)
    .where("thread_suffix", "=", suffix)
    .executeTakeFirst();
  return { seq: Math.min(at, (row?.first ?? at + 1) - 1), suffix, checkpoint: null };
}

/** Checkpoints that are read at a time. */
const PAGE = 50;

interface ExchangeEnd {
  /** Row of the checkpoint. */
  readonly row: number;
  readonly seq: number;
}

/** The row of the last checkpoint of a thread that ended an exchange. */
function lastEnd(session: ForkedSession, thread: ForkedThread): number {
  const isEnded = session.exchange_open === 0 && thread.suffix === session.thread_suffix;
  return Math.max(thread.folded_checkpoint, isEnded ? thread.head_row : 0);
}

/** Pruning leaves one checkpoint of each exchange that has ended. */
async function latestEnd(
  tx: Tx,
  input: {
    readonly session: ForkedSession;
    readonly thread: ForkedThread;
    readonly at: number;
  },
): Promise<ExchangeEnd | null> {
  const { session, thread, at } = input;
  let before = lastEnd(session, thread) + 1;
  for (;;) {
    const page = await tx.db
      .selectFrom("checkpoints")
      .select(["id", "channels"])
      .where("thread", "=", thread.id)
      .where("ns", "=", "")
      .where("id", "<", before)
      .orderBy("id", "desc")
      .limit(PAGE)
      .execute();
    const ends = page.map(({ id, channels }) => ({
      row: id,
      messages: messageListOf(parseChannels(channels)),
    }));
    const seqs = await seqsOfLast(tx, { session_id: session.id, ends });
    for (const { row, messages } of ends) {
      const last = seqs.get(row) ?? Infinity;
      const seq = last > at ? last : await highestSeq(tx, { session, messages, last });
      if (seq <= at) {
        return { row, seq };
      }
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) {
      return null;
    }
    before = last.id;
  }
}

interface WithMessages {
  readonly row: number;
  readonly messages: ListVersion | null;
}

/** The `seq` of the last message of each checkpoint, by its row. */
async function seqsOfLast(
  tx: Tx,
  input: { readonly session_id: string; readonly ends: readonly WithMessages[] },
): Promise<ReadonlyMap<number, number>> {
  const versions = input.ends.flatMap(({ row, messages }) =>
    messages === null || messages.length === 0 ? [] : [{ row, ...messages }],
  );
  if (versions.length === 0) {
    return new Map();
  }
  const items = await tx.db
    .selectFrom("checkpoint_list_items")
    .innerJoin("checkpoint_bodies", "checkpoint_bodies.id", "checkpoint_list_items.body")
    .select(["list", "position", "checkpoint_bodies.body"])
    .where(({ eb, or, and }) =>
      or(
        versions.map(({ list, length }) =>
          and([eb("list", "=", list), eb("position", "=", length - 1)]),
        ),
      ),
    )
    .execute();
  const ids = new Map(
    items.map(({ list, position, body }) => [`${list} ${position + 1}`, messageId(body)]),
  );
  const seqs = await seqsOf(tx, { session_id: input.session_id, ids: [...ids.values()] });
  return new Map(
    versions.flatMap(({ row, list, length }) => {
      const seq = seqs.get(ids.get(`${list} ${length}`) ?? "");
      return seq === undefined ? [] : [[row, seq] as const];
    }),
  );
}

/** The highest `seq` of a checkpoint's messages: another agent's graph may keep them in another order than their rows. */
async function highestSeq(
  tx: Tx,
  input: {
    readonly session: ForkedSession;
    readonly messages: ListVersion | null;
    /** `seq` of the last one. */
    readonly last: number;
  },
): Promise<number> {
  const { session, messages, last } = input;
  if (messages === null || last === session.last_seq) {
    return last;
  }
  let highest = last;
  const { segments } = await segmentsOf(tx, messages, new Map());
  for (const segment of segments) {
    const bodies = await selectBodies(tx, segment).select("checkpoint_bodies.body").execute();
    for (const batch of batches(bodies)) {
      const ids = batch.map(({ body }) => messageId(body));
      const seqs = await seqsOf(tx, { session_id: session.id, ids });
      highest = Math.max(highest, ...seqs.values());
    }
  }
  return highest;
}

/** Where messages are, by their ids. */
export async function seqsOf(
  { db }: Tx,
  { session_id, ids }: { readonly session_id: string; readonly ids: readonly string[] },
): Promise<ReadonlyMap<string, number>> {
  if (ids.length === 0) {
    return new Map();
  }
  const rows = await db
    .selectFrom("messages")
    .select(["message_id", "seq"])
    .where("session_id", "=", session_id)
    .where("message_id", "in", ids)
    .execute();
  return new Map(rows.map(({ message_id, seq }) => [message_id, seq]));
}

/** The last of the messages directly after a message that no exchange has taken. */
async function withPending(
  { db }: Tx,
  {
    session,
    from,
    at,
  }: { readonly session: ForkedSession; readonly from: number; readonly at: number },
): Promise<number> {
  if (session.exchange_open === 1) {
    return from;
  }
  const next = await db
    .selectFrom("messages")
    .select(({ fn }) => fn.min("seq").as("seq"))
    .where("session_id", "=", session.id)
    .where("seq", ">", from)
    .where(({ eb, or }) => or([eb("checkpointed", "=", 1), eb("role", "<>", "user")]))
    .executeTakeFirst();
  return Math.min(at, (next?.seq ?? session.last_seq + 1) - 1);
}
