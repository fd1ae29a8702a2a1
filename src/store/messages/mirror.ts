import { newId } from "../../core/ids.ts";
import type { Role, ToolCall } from "../../core/sessions.ts";
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

export interface MirrorInput {
  readonly session_id: string;
  /** The messages that the checkpoint adds or changes, in the checkpoint's order. */
  readonly messages: readonly MirrorMessage[];
}

/**
 * Brings the mirror up to a checkpoint. Part of the checkpoint's own transaction, so that the two
 * cannot drift apart. Messages that have a row keep their `seq` (a pending one is pending no more,
 * and its estimate leaves the total, because the provider counts it from here); new ones are
 * appended. A summary that takes the id of the message it replaces gets a row of its own, and the
 * message keeps its row under a fresh id: the history stays readable. Carried out again, it changes
 * nothing. Does nothing for a session that does not exist.
 */
export const mirrorMessages: Operation<MirrorInput, void> = async (tx, input) => {
  if (input.messages.length === 0) {
    return;
  }
  await lockSession(tx, input.session_id);
  const known = await knownRows(tx, input);
  // a channel without a reducer can hold an id twice: the mirror shows the last
  const messages = new Map(input.messages.map((message) => [message.message_id, message]));
  for (const message of messages.values()) {
    const row = known.get(message.message_id);
    if (row !== undefined && (row.is_summary === 1 || !message.is_summary)) {
      await updateRow({ tx, sessionId: input.session_id, message, row });
    } else {
      if (row !== undefined) {
        await renameRow(tx, input.session_id, row);
      }
      await appendRow(tx, input.session_id, message);
    }
  }
  tx.touch(input.session_id);
};

interface KnownRow {
  readonly message_id: string;
  readonly seq: number;
  readonly role: Role;
  readonly token_count: number;
  readonly is_summary: number;
  readonly checkpointed: number;
}

/** Far below what either engine takes in one statement. */
const IDS_PER_QUERY = 1000;

async function knownRows(tx: Tx, input: MirrorInput): Promise<Map<string, KnownRow>> {
  const known = new Map<string, KnownRow>();
  for (let start = 0; start < input.messages.length; start += IDS_PER_QUERY) {
    const messages = input.messages.slice(start, start + IDS_PER_QUERY);
    const rows = await tx.db
      .selectFrom("messages")
      .select(["message_id", "seq", "role", "token_count", "is_summary", "checkpointed"])
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

async function appendRow(tx: Tx, sessionId: string, message: MirrorMessage): Promise<void> {
  const counter = await tx.db
    .updateTable("sessions")
    .set((eb) => ({
      last_seq: eb("last_seq", "+", 1),
      last_message_at: tx.dialect.now(),
      total_input_tokens: eb("total_input_tokens", "+", message.usage?.input_tokens ?? 0),
      total_output_tokens: eb("total_output_tokens", "+", message.usage?.output_tokens ?? 0),
    }))
    .where("id", "=", sessionId)
    .returning(["last_seq", "last_activity_at"])
    .executeTakeFirst();
  if (counter === undefined) {
    return;
  }
  await tx.db
    .insertInto("messages")
    .values({
      session_id: sessionId,
      seq: counter.last_seq,
      message_id: message.message_id,
      ...columnsOf(message),
      checkpointed: 1,
      // not asked of the clock once more: the row's time and the session's are the same moment
      ts: counter.last_activity_at,
    })
    .execute();
}

async function updateRow(input: {
  tx: Tx;
  sessionId: string;
  message: MirrorMessage;
  row: KnownRow;
}): Promise<void> {
  const { tx, sessionId, message, row } = input;
  await tx.db
    .updateTable("messages")
    .set({ ...columnsOf(message), checkpointed: 1 })
    .where("session_id", "=", sessionId)
    .where("seq", "=", row.seq)
    .execute();
  if (row.checkpointed === 0 && row.role === "user") {
    await tx.db
      .updateTable("sessions")
      .set((eb) => ({ total_input_tokens: eb("total_input_tokens", "-", row.token_count) }))
      .where("id", "=", sessionId)
      .execute();
  }
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
