import { storableText } from "../../core/text/text.ts";
import { isDamage } from "../checkpoints/damage.ts";
import { messageListOf } from "../checkpoints/head-mark.ts";
import { segmentsOf, selectBodies } from "../checkpoints/lists.ts";
import { parseChannels } from "../checkpoints/value.ts";
import { type MessageJson, readMessage } from "../records/messages/message-json.ts";
import type { Operation, Tx } from "../store.ts";
import { readHeads, type ThreadHead } from "./mirror.ts";
import { reasoningOf } from "./reasoning-of.ts";

export interface ReadReasoning {
  readonly session_id: string;
  /** Only answers after this `seq`, and before that one. */
  readonly after_seq: number;
  readonly before_seq: number;
  /** Messages that are searched at most, the latest of them. */
  readonly limit: number;
}

/** Thoughts of a model before an answer. */
export interface StoredReasoning {
  readonly seq: number;
  readonly message_id: string;
  /** Empty if its provider did not show it. */
  readonly text: string;
  /** True if the provider keeps it encrypted, or left it out. */
  readonly is_hidden: boolean;
}

/** Items of a list that are read at once. */
const ITEMS_READ = 50;

/** Answers before the range by which a thread is known to have no more of it. */
const ANSWERS_BEFORE = 5;

/**
 * Reads what models thought before answers of a session, ascending by `seq`: the messages of the threads have it, no
 * row of a message. Answers of which nothing is known are left out, and so are those of a damaged thread.
 *
 * Reads a thread from its end on, until it has passed the range.
 */
export const readReasoning: Operation<ReadReasoning, StoredReasoning[]> = async (tx, input) => {
  const wanted = await readAnswers(tx, input);
  if (wanted.size === 0) {
    return [];
  }
  const before = new Set(
    (
      await answersIn(tx, input.session_id)
        .where("seq", "<=", input.after_seq)
        .limit(ANSWERS_BEFORE)
        .execute()
    ).map(({ message_id }) => message_id),
  );
  const found: StoredReasoning[] = [];
  for (const head of (await readHeads(tx, input.session_id)).toReversed()) {
    try {
      for await (const { id, message } of answersOf(tx, head)) {
        const seq = wanted.get(id);
        const reasoning = seq === undefined ? null : reasoningOf(message);
        if (seq !== undefined && reasoning !== null) {
          found.push({ seq, message_id: id, ...reasoning });
        }
        wanted.delete(id);
        if (wanted.size === 0 || before.has(id)) {
          break;
        }
      }
    } catch (error) {
      if (!isDamage(error)) {
        throw error;
      }
    }
  }
  return found.sort((a, b) => a.seq - b.seq);
};

/** The `seq` of answers by their ids. */
async function readAnswers(
  tx: Tx,
  { session_id, after_seq, before_seq, limit }: ReadReasoning,
): Promise<Map<string, number>> {
  const rows = await answersIn(tx, session_id)
    .where("seq", ">", after_seq)
    .where("seq", "<", before_seq)
    .limit(limit)
    .execute();
  return new Map(rows.map(({ message_id, seq }) => [message_id, seq]));
}

function answersIn(tx: Tx, session_id: string) {
  return tx.db
    .selectFrom("messages")
    .select(["seq", "message_id"])
    .where("session_id", "=", session_id)
    .where("role", "=", "assistant")
    .orderBy("seq", "desc");
}

interface ThreadAnswer {
  readonly id: string;
  readonly message: MessageJson;
}

/** The answers that a thread has, the last one first. */
async function* answersOf(tx: Tx, { channels }: ThreadHead): AsyncGenerator<ThreadAnswer> {
  const version = messageListOf(parseChannels(channels));
  const { segments } = version === null ? NONE : await segmentsOf(tx, version, new Map());
  for (const { list, from, to } of segments.toReversed()) {
    for (let end = to; end > from; end -= ITEMS_READ) {
      const part = { list, from: Math.max(from, end - ITEMS_READ), to: end };
      const rows = await selectBodies(tx, part)
        .select("checkpoint_bodies.body")
        // results of tools are large, and none of them is an answer
        .where("checkpoint_bodies.body", "not like", '["ToolMessage"%')
        .where("checkpoint_bodies.body", "not like", '["HumanMessage"%')
        .execute();
      for (const { body } of rows.toReversed()) {
        const message = readMessage(body);
        if (message?.id !== undefined) {
          yield { id: storableText(message.id), message };
        }
      }
    }
  }
}

const NONE = { segments: [] } as const;
