import { readMessage } from "../../records/messages/message-json.ts";
import type { Tx } from "../../store.ts";
import { messageListOf } from "../head-mark.ts";
import { type Segment, segmentsOf, selectBodies } from "../lists.ts";
import { type ListVersion, parseChannels } from "../value.ts";
import { type ForkedSession, messageId } from "./forked-session.ts";

export interface EndWithin {
  /** Row of a checkpoint that has more messages. */
  readonly row: number;
  readonly seq: number;
  /** Those of its messages that were there at the end of the exchange. */
  readonly messages: ListVersion;
}

/**
 * The last answer up to a message that ended an exchange of which no checkpoint is left: those of a deleted origin.
 * Its messages are the first ones of the next checkpoint. For the built-in agent only, which keeps
 * nothing else there that another exchange has changed.
 */
export async function endWithin(
  tx: Tx,
  input: {
    readonly session: ForkedSession;
    readonly thread: number;
    /** Row of the last checkpoint that ended an exchange. */
    readonly last: number;
    readonly at: number;
  },
): Promise<EndWithin | null> {
  const { session, at } = input;
  const next = session.agent === null ? await firstEnd(tx, input) : null;
  if (next === null) {
    return null;
  }
  const rows = await rowsOf(tx, { session, at });
  const { segments } = await segmentsOf(tx, next.messages, new Map());
  let end: EndWithin | null = null;
  let highest = 0;
  for await (const { id, list, length } of messagesIn(tx, segments)) {
    const row = rows.get(id);
    if (row === undefined || row.seq > at) {
      return end;
    }
    highest = Math.max(highest, row.seq);
    if (row.isEnd && row.seq === highest) {
      end = { row: next.row, seq: row.seq, messages: { list, length } };
    }
  }
  return end;
}

/** Checkpoints that are read at most. */
const PAGE = 50;

/** The first checkpoint of a thread whose last message is an answer without calls: nothing is left to run after it. */
async function firstEnd(
  tx: Tx,
  { thread, last }: { readonly thread: number; readonly last: number },
): Promise<{ readonly row: number; readonly messages: ListVersion } | null> {
  const page = await tx.db
    .selectFrom("checkpoints")
    .select(["id", "channels"])
    .where("thread", "=", thread)
    .where("ns", "=", "")
    .where("id", "<=", last)
    .orderBy("id")
    .limit(PAGE)
    .execute();
  for (const { id: row, channels } of page) {
    const messages = messageListOf(parseChannels(channels));
    if (messages !== null && messages.length > 0 && (await endsWithAnswer(tx, messages))) {
      return { row, messages };
    }
  }
  return null;
}

async function endsWithAnswer(tx: Tx, messages: ListVersion): Promise<boolean> {
  const { segments } = await segmentsOf(tx, messages, new Map());
  const last = segments.at(-1);
  if (last === undefined) {
    return false;
  }
  const tail = { ...last, from: last.to - 1 };
  const stored = await selectBodies(tx, tail).select("checkpoint_bodies.body").executeTakeFirst();
  const message = readMessage(stored?.body ?? "");
  return message?.type === "ai" && (message.tool_calls ?? []).length === 0;
}

interface MessageRow {
  readonly seq: number;
  /** True for an answer without calls before a message of a person. */
  readonly isEnd: boolean;
}

/** The rows of messages up to one, by their ids. */
async function rowsOf(
  { db }: Tx,
  { session, at }: { readonly session: ForkedSession; readonly at: number },
): Promise<ReadonlyMap<string, MessageRow>> {
  const rows = await db
    .selectFrom("messages")
    .select(["message_id", "seq", "role", "is_summary", "tool_calls"])
    .where("session_id", "=", session.id)
    .where("seq", "<=", at + 1)
    .orderBy("seq")
    .execute();
  return new Map(
    rows.map(({ message_id, seq, role, tool_calls }, index) => {
      const next = rows[index + 1];
      const isBefore = next?.role === "user" && next.is_summary === 0;
      return [message_id, { seq, isEnd: role === "assistant" && tool_calls === null && isBefore }];
    }),
  );
}

/** Messages that are read at a time. */
const BATCH = 200;

/** Yields the ids of messages, each with the version of the list that ends with it. */
async function* messagesIn(
  tx: Tx,
  segments: readonly Segment[],
): AsyncGenerator<{ readonly id: string } & ListVersion> {
  for (const { list, from: first, to } of segments) {
    for (let from = first; from < to; from += BATCH) {
      const part = { list, from, to: Math.min(to, from + BATCH) };
      const bodies = await selectBodies(tx, part)
        .select(["position", "checkpoint_bodies.body"])
        .execute();
      for (const { position, body } of bodies) {
        yield { id: messageId(body), list, length: position + 1 };
      }
    }
  }
}
