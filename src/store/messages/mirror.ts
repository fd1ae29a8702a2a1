import { sql } from "kysely";

import { newId } from "../../core/ids.ts";
import type { Origin } from "../../core/origins.ts";
import type { Role, ToolCall } from "../../core/sessions.ts";
import { batches } from "../checkpoints/bodies.ts";
import { lockSession } from "../sessions/lock.ts";
import type { Operation, Tx } from "../store.ts";

/** A message of a checkpoint, as the mirror shows it. */
export interface MirrorMessage {
  readonly message_id: string;
  readonly role: Role;
  readonly content: string;
  readonly tool_calls: readonly ToolCall[] | null;
  readonly token_count: number;
  readonly is_summary: boolean;
  /** What the provider charged for this message, added to the totals once; null for all but answers. */
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number } | null;
}

/** A message of a checkpoint that has a row now. */
export type StoredMessage = Pick<MirrorMessage, "message_id" | "role" | "is_summary"> & {
  readonly seq: number;
};

export interface MirrorInput {
  readonly session_id: string;
  /** The messages that the checkpoint adds or changes, in the checkpoint's order. */
  readonly messages: readonly MirrorMessage[];
}

/**
 * Brings the mirror up to a checkpoint. Part of the checkpoint's own transaction, so that the two
 * cannot drift apart. Messages that have a row keep their `seq` (a pending one is pending no more,
 * and the provider counts it from here in place of its estimate); new ones are appended. An answer
 * in the place of one that was dropped is counted then. A summary that takes the id of the message
 * it replaces gets a separate row, and the
 * message keeps its row under a fresh id: the history stays readable. Run again, it changes
 * nothing. Does nothing for a session that does not exist. The answer is where the messages are.
 */
export const mirrorMessages: Operation<MirrorInput, readonly StoredMessage[]> = async (
  tx,
  input,
) => {
  if (input.messages.length === 0) {
    return [];
  }
  await lockSession(tx, input.session_id);
  const known = await knownRows(tx, input);
  // a channel without a reducer can hold an id twice: the mirror shows the last
  const messages = new Map(input.messages.map((message) => [message.message_id, message]));
  const kept: PlacedMessage[] = [];
  const fresh: MirrorMessage[] = [];
  for (const message of messages.values()) {
    const row = known.get(message.message_id);
    if (row !== undefined && (row.is_summary === 1 || !message.is_summary)) {
      kept.push({ seq: row.seq, message });
    } else {
      if (row !== undefined) {
        await renameRow(tx, input.session_id, row);
      }
      fresh.push(message);
    }
  }
  const counted = await countMessages(tx, {
    session_id: input.session_id,
    fresh,
    replaced: kept.flatMap(({ message }) => (isReplaced(known, message) ? [message] : [])),
    estimates: estimatesOf(kept.flatMap(({ message }) => known.get(message.message_id) ?? [])),
  });
  if (counted === null) {
    return [];
  }
  const first = counted.last_seq - fresh.length + 1;
  const appended = fresh.map((message, index) => ({ seq: first + index, message }));
  const placed = [...kept, ...appended];
  await keepRows(tx, { ...input, placed, ts: counted.last_activity_at });
  tx.touch(input.session_id);
  return placed.map(({ seq, message: { message_id, role, is_summary } }) => ({
    message_id,
    seq,
    role,
    is_summary,
  }));
};

interface PlacedMessage {
  readonly seq: number;
  readonly message: MirrorMessage;
}

interface KnownRow {
  readonly message_id: string;
  readonly seq: number;
  readonly role: Role;
  readonly token_count: number;
  readonly is_summary: number;
  readonly checkpointed: number;
  /** The content of a row without tokens, else empty. */
  readonly uncounted: string;
}

/** Far below what either engine takes in one statement. */
const IDS_PER_QUERY = 1000;

async function knownRows(tx: Tx, input: MirrorInput): Promise<Map<string, KnownRow>> {
  const known = new Map<string, KnownRow>();
  for (let start = 0; start < input.messages.length; start += IDS_PER_QUERY) {
    const messages = input.messages.slice(start, start + IDS_PER_QUERY);
    const rows = await tx.db
      .selectFrom("messages")
      .select((eb) => [
        "message_id",
        "seq",
        "role",
        "token_count",
        "is_summary",
        "checkpointed",
        eb
          .case()
          .when("token_count", "=", 0)
          .then(eb.ref("content"))
          .else("")
          .end()
          .as("uncounted"),
      ])
      .where("session_id", "=", input.session_id)
      .where(
        "message_id",
        "in",
        messages.map((message) => message.message_id),
      )
      .execute();
    for (const row of rows) {
      known.set(row.message_id, row);
    }
  }
  return known;
}

async function renameRow(tx: Tx, sessionId: string, row: KnownRow): Promise<void> {
  await tx.db
    .updateTable("messages")
    .set({ message_id: newId() })
    .where("session_id", "=", sessionId)
    .where("seq", "=", row.seq)
    .execute();
}

/** True for an answer in the place of what had arrived of one, for which nothing was counted. */
function isReplaced(known: ReadonlyMap<string, KnownRow>, message: MirrorMessage): boolean {
  const row = known.get(message.message_id);
  return row?.role === "assistant" && row.uncounted !== "" && row.uncounted !== message.content;
}

/** What pending messages were estimated at: the provider counts them from here. */
function estimatesOf(rows: readonly KnownRow[]): number {
  return rows
    .filter((row) => row.checkpointed === 0 && row.role === "user")
    .reduce((sum, row) => sum + row.token_count, 0);
}

/** Gives out positions to the fresh messages, all at once. Null where there is no such session. */
async function countMessages(
  tx: Tx,
  input: {
    readonly session_id: string;
    readonly fresh: readonly MirrorMessage[];
    readonly replaced: readonly MirrorMessage[];
    readonly estimates: number;
  },
): Promise<{ readonly last_seq: number; readonly last_activity_at: string } | null> {
  const { fresh } = input;
  const counted = [...fresh, ...input.replaced];
  const spent = (count: (usage: NonNullable<MirrorMessage["usage"]>) => number): number =>
    counted.reduce((sum, { usage }) => sum + (usage === null ? 0 : count(usage)), 0);
  const inputTokens = spent((usage) => usage.input_tokens) - input.estimates;
  const session = await tx.db
    .updateTable("sessions")
    .set((eb) => ({
      last_seq: eb("last_seq", "+", fresh.length),
      ...(fresh.length === 0 ? {} : { last_message_at: tx.dialect.now() }),
      ...raiseInputTokens(inputTokens),
      total_output_tokens: eb(
        "total_output_tokens",
        "+",
        spent((usage) => usage.output_tokens),
      ),
    }))
    .where("id", "=", input.session_id)
    .returning(["last_seq", "last_activity_at"])
    .executeTakeFirst();
  return session ?? null;
}

/**
 * The total stays where estimates were higher than what the provider counts in their place, until
 * the count has passed it. Both columns are read as they were before the statement.
 */
function raiseInputTokens(counted: number) {
  const passes = sql<boolean>`${counted} > input_tokens_ahead`;
  return {
    total_input_tokens: sql<number>`case when ${passes} then total_input_tokens + ${counted} - input_tokens_ahead else total_input_tokens end`,
    input_tokens_ahead: sql<number>`case when ${passes} then 0 else input_tokens_ahead - ${counted} end`,
  };
}

/** Few statements however many messages there are: each is a round trip to a server. */
async function keepRows(
  tx: Tx,
  input: {
    readonly session_id: string;
    readonly placed: readonly PlacedMessage[];
    /** Of the rows that are new: not asked of the clock once more, as it is the session's moment. */
    readonly ts: string;
  },
): Promise<void> {
  const { session_id, ts } = input;
  for (const batch of batches(input.placed)) {
    await tx.db
      .insertInto("messages")
      .values(
        batch.map(({ seq, message }) => ({
          session_id,
          seq,
          message_id: message.message_id,
          ...columnsOf(message),
          checkpointed: 1,
          ts,
          // a row that is there keeps its own
          origin: originOf(message),
        })),
      )
      .onConflict((conflict) =>
        conflict.columns(["session_id", "seq"]).doUpdateSet((eb) => ({
          role: eb.ref("excluded.role"),
          content: eb.ref("excluded.content"),
          tool_calls: eb.ref("excluded.tool_calls"),
          token_count: eb.ref("excluded.token_count"),
          is_summary: eb.ref("excluded.is_summary"),
          checkpointed: 1,
        })),
      )
      .execute();
  }
}

/** Of a row that a checkpoint makes: nobody knows who said a user's message that had none. */
export function originOf({ role }: Pick<MirrorMessage, "role">): Origin | null {
  return role === "user" ? null : "agent";
}

function columnsOf(message: MirrorMessage) {
  return {
    role: message.role,
    content: message.content,
    tool_calls: message.tool_calls === null ? null : JSON.stringify(message.tool_calls),
    token_count: message.token_count,
    is_summary: message.is_summary ? 1 : 0,
  };
}
