import { RepriseError } from "../../../core/errors.ts";
import { isUuid } from "../../../core/ids.ts";
import type { ExchangeRecord } from "../../../core/sessions.ts";
import { toolCallsOf } from "../messages/rows.ts";
import { readSession } from "../sessions/read.ts";
import type { Operation, Tx } from "../../store.ts";
import { readCurrent } from "./current.ts";
import { readRecord } from "./read.ts";

export interface ReadAskingPlace {
  readonly session_id: string;
  /** The id of the exchange, if the client knows it. */
  readonly exchange: string | null;
  /** The calls that the client shows. */
  readonly calls: readonly string[];
}

/**
 * The exchange that asked, and the place from which the client continues: after the last call that it shows. What
 * came since may be more than it has seen, if the questions were answered before.
 *
 * Error codes: `session_not_found`, `nothing_to_continue`.
 */
export const readAskingPlace: Operation<
  ReadAskingPlace,
  { readonly exchange: ExchangeRecord; readonly after_seq: number }
> = async (tx, { session_id, exchange: id, calls }) => {
  const { last_seq } = await readSession(tx, { id: session_id });
  const named = await tx.db
    .selectFrom("exchanges")
    .select("n")
    .where("session_id", "=", session_id)
    // PostgreSQL refuses texts with NUL
    .where("id", "=", id !== null && isUuid(id) ? id : "")
    .executeTakeFirst();
  const { n } = named ?? (await readCurrent(tx, [session_id])).get(session_id) ?? {};
  if (n === undefined) {
    throw new RepriseError(
      "nothing_to_continue",
      "No exchange of this session waits for an answer. Send a message.",
    );
  }
  const exchange = await readRecord(tx, session_id, n);
  const shown = await seqOfCalls(tx, exchange, calls);
  return { exchange, after_seq: shown ?? last_seq };
};

/** Answers with calls in which those of a client are searched. */
const MAX_ROWS = 50;

/** The position of the last answer of an exchange that has one of these calls. */
async function seqOfCalls(
  tx: Tx,
  { session_id, first_seq, last_seq }: ExchangeRecord,
  calls: readonly string[],
): Promise<number | null> {
  if (first_seq === null || calls.length === 0) {
    return null;
  }
  const rows = await tx.db
    .selectFrom("messages")
    .select(["seq", "tool_calls"])
    .where("session_id", "=", session_id)
    .where("seq", ">=", first_seq)
    .where("seq", "<=", last_seq ?? Number.MAX_SAFE_INTEGER)
    .where("tool_calls", "is not", null)
    .orderBy("seq", "desc")
    .limit(MAX_ROWS)
    .execute();
  const known = new Set(calls);
  const row = rows.find(({ tool_calls }) =>
    toolCallsOf(tool_calls ?? "[]").some((call) => known.has(call.id)),
  );
  return row?.seq ?? null;
}
