import type { Selectable, SelectQueryBuilder } from "kysely";

import { RepriseError } from "../../core/errors.ts";
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
    tool_calls: row.tool_calls === null ? null : toolCallsOf(row.tool_calls),
    is_summary: row.is_summary === 1,
    archived: row.archived === 1,
  };
}

function toolCallsOf(json: string): ToolCall[] {
  try {
    return JSON.parse(json) as ToolCall[];
  } catch (error) {
    throw new RepriseError(
      "database_corrupt",
      "A message of this session is damaged in the database; `reprise sessions verify` names it and `reprise sessions repair` rebuilds it.",
      { cause: error },
    );
  }
}
