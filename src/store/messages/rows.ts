import type { Selectable, SelectQueryBuilder } from "kysely";

import type { Message, ToolCall } from "../../core/sessions.ts";
import type { Database, MessageTable } from "../schema.ts";
import type { Tx } from "../store.ts";

export type MessageRow = Omit<Selectable<MessageTable>, "checkpointed" | "idempotency_key">;

export function selectMessages(
  tx: Tx,
  sessionId: string,
): SelectQueryBuilder<Database, "messages", MessageRow> {
  return tx.db
    .selectFrom("messages")
    .select([
      "session_id",
      "seq",
      "message_id",
      "role",
      "content",
      "tool_calls",
      "token_count",
      "is_summary",
      "archived",
      "ts",
    ])
    .where("session_id", "=", sessionId);
}

export function messageOf(row: MessageRow): Message {
  return {
    ...row,
    tool_calls: row.tool_calls === null ? null : (JSON.parse(row.tool_calls) as ToolCall[]),
    is_summary: row.is_summary === 1,
    archived: row.archived === 1,
  };
}
