import { type ExpressionBuilder, sql } from "kysely";

import type { Dialect } from "../../dialect.ts";
import type { Database, SessionTable } from "../../tables/database.ts";

/**
 * The columns of a record that ends: what the session has then, and what the exchange used. One that
 * never began, or stored nothing, has no messages.
 */
export function endColumns(eb: ExpressionBuilder<Database, "exchanges">, dialect: Dialect) {
  const isAny = eb.and([
    eb("begun_at", "is not", null),
    eb("first_seq", "<=", ofSession("last_seq")),
  ]);
  return {
    revision: eb("revision", "+", 1),
    ended_at: dialect.now(),
    first_seq: eb.case().when(isAny).then(eb.ref("first_seq")).end(),
    last_seq: eb.case().when(isAny).then(ofSession("last_seq")).end(),
    input_tokens: used("total_input_tokens", "input_before"),
    output_tokens: used("total_output_tokens", "output_before"),
  };
}

function ofSession(column: keyof SessionTable) {
  const name = sql.ref(`sessions.${column}`);
  return sql<number>`(select ${name} from sessions where sessions.id = exchanges.session_id)`;
}

/** Never negative: a repair may have lowered the total meanwhile. */
function used(column: keyof SessionTable, before: "input_before" | "output_before") {
  const tokens = sql`${ofSession(column)} - ${sql.ref(`exchanges.${before}`)}`;
  return sql<number | null>`case when ${tokens} < 0 then 0 else ${tokens} end`;
}
