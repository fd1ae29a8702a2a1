import type { Expression, Selectable, SelectQueryBuilder } from "kysely";

import { RepriseError } from "../../core/errors.ts";
import type { Message, ToolCall } from "../../core/sessions.ts";
import type { QueryParts } from "../engines/prepared.ts";
import type { Database, MessageTable } from "../schema.ts";

export type MessageRow = Omit<
  Selectable<MessageTable>,
  "checkpointed" | "idempotency_key" | "origin" | "authenticated" | "accepted_at"
>;

export function selectMessages(
  { db }: Pick<QueryParts, "db">,
  sessionId: string | Expression<string>,
): SelectQueryBuilder<Database, "messages", MessageRow> {
  return db
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

/** Field by field, because that is several times as fast as copying a row and changing some. */
export function messageOf(row: MessageRow): Message {
  return {
    session_id: row.session_id,
    seq: row.seq,
    message_id: row.message_id,
    role: row.role,
    content: row.content,
    tool_calls: row.tool_calls === null ? null : toolCallsOf(row.tool_calls),
    token_count: row.token_count,
    is_summary: row.is_summary === 1,
    archived: row.archived === 1,
    ts: row.ts,
  };
}

/** Error codes: `database_corrupt`. */
export function toolCallsOf(json: string): ToolCall[] {
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
