import type { Expression, Selectable, SelectQueryBuilder } from "kysely";

import { RepriseError } from "../../../core/errors.ts";
import { MESSAGE_FIELDS, type ToolCall } from "../../../core/sessions.ts";
import { columnNames, fieldReader } from "../../columns.ts";
import type { QueryParts } from "../../prepared.ts";
import type { Database, MessageTable } from "../../tables/database.ts";

const NAMES = columnNames(MESSAGE_FIELDS);

export type MessageRow = Pick<Selectable<MessageTable>, (typeof NAMES)[number]>;

export function selectMessages(
  { db }: Pick<QueryParts, "db">,
  sessionId: string | Expression<string>,
): SelectQueryBuilder<Database, "messages", MessageRow> {
  return db.selectFrom("messages").select(NAMES).where("session_id", "=", sessionId);
}

export const messageOf = fieldReader<typeof MESSAGE_FIELDS, MessageRow>(MESSAGE_FIELDS, {
  tool_calls: ({ tool_calls }) => (tool_calls === null ? null : toolCallsOf(tool_calls)),
});

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
