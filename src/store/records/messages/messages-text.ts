import { sql } from "kysely";

import { MESSAGES_PER_READ } from "../../../core/limits.ts";
import { MESSAGE_FIELDS, type MessageOrder } from "../../../core/sessions.ts";
import { jsonColumns } from "../../columns.ts";
import { type Parameter, prepared, type QueryParts } from "../../prepared.ts";
import { jsonMembers } from "../../sql-json.ts";
import type { Tx } from "../../store.ts";
import { toolCallsOf } from "./rows.ts";

interface Range {
  readonly session_id: string;
  readonly from_seq: number;
  readonly before_seq: number;
  /** 0 for what was not archived, 1 for all. */
  readonly max_archived: number;
}

/**
 * A JSON array of MessageInfo, 200 at most: the database writes it. Error codes: `database_corrupt`.
 */
export async function messagesText(
  tx: Tx,
  { order, ...range }: Range & { readonly order: MessageOrder },
): Promise<string> {
  const [written] = await tx.rows(textOf[order], range);
  checkToolCalls(written?.tool_calls ?? "");
  const messages = written?.messages ?? null;
  return messages === null ? "[]" : `[{${messages}}]`;
}

/** They are copied into the answer unchanged, so they have to be valid JSON. */
function checkToolCalls(texts: string): void {
  for (const json of JSON.parse(`[${texts}]`) as string[]) {
    toolCallsOf(json);
  }
}

const MESSAGE = jsonColumns(MESSAGE_FIELDS);

const textOf = { asc: prepared(textQuery("asc")), desc: prepared(textQuery("desc")) };

/** All in one value: 200 messages in separate values would take twice as long to read. */
function textQuery(order: MessageOrder) {
  return ({ db, dialect }: QueryParts, given: Parameter<Range>) => {
    const shown = db
      .selectFrom("messages")
      .select([jsonMembers(dialect, MESSAGE).as("members"), "tool_calls"])
      .where("session_id", "=", given("session_id"))
      .where("seq", ">=", given("from_seq"))
      .where("seq", "<", given("before_seq"))
      .where("archived", "<=", given("max_archived"))
      .orderBy("seq", order)
      // both engines hand the rows of such a subquery on in its order
      .limit(MESSAGES_PER_READ);
    return db
      .selectFrom(shown.as("shown"))
      .select([
        sql<string | null>`string_agg(members, '},{')`.as("messages"),
        sql<
          string | null
        >`string_agg(${dialect.jsonText(sql.ref("tool_calls"))}, ',') filter (where tool_calls is not null)`.as(
          "tool_calls",
        ),
      ]);
  };
}
