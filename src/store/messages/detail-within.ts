import { MESSAGES_PER_READ } from "../../core/limits.ts";
import { type Given, prepared, type QueryParts } from "../prepared.ts";
import { resolveSession } from "../sessions/read.ts";
import type { Operation, Tx } from "../store.ts";
import type { Detail, DetailInput } from "./read.ts";
import { messageOf, selectMessages } from "./rows.ts";
import { messageBytes, rowsThatFit } from "./stream-page.ts";

export interface DetailWithinInput extends DetailInput {
  /** Bytes of content and tool calls; the last message may be larger and then comes alone. */
  readonly max_bytes: number;
}

/**
 * A session and its last messages, as many as fit: 200 messages of 1 MiB would be an answer that
 * no client can read. Error codes: as `resolveSession`.
 */
export const readDetailWithin: Operation<DetailWithinInput, Detail> = async (tx, input) => {
  const session = await resolveSession(tx, { reference: input.reference });
  const where = {
    session_id: session.id,
    before_seq: input.before_seq,
    archived: input.all ? undefined : 0,
  };
  const [extent] = await tx.rows(extentBefore, { ...where, rows: MESSAGES_PER_READ + 1 });
  const count = extent?.count ?? 0;
  const fitting =
    (extent?.bytes ?? 0) <= input.max_bytes ? count : await fittingOf(tx, where, input);
  const limit = Math.min(fitting, MESSAGES_PER_READ);
  const rows = limit === 0 ? [] : await tx.rows(lastMessages, { ...where, rows: limit });
  return { session, messages: rows.map(messageOf).reverse(), has_earlier: count > limit };
};

interface Where {
  readonly session_id: string;
  readonly before_seq: number | undefined;
  readonly archived: number | undefined;
}

interface WhereValues extends Where {
  readonly rows: number;
}

/** Only where not all fit is each message's size of interest. */
async function fittingOf(tx: Tx, where: Where, input: DetailWithinInput): Promise<number> {
  const sizes = await tx.rows(sizesBefore, { ...where, rows: MESSAGES_PER_READ + 1 });
  return rowsThatFit(
    sizes.map(({ bytes }) => bytes),
    { max_rows: MESSAGES_PER_READ, max_bytes: input.max_bytes },
  );
}

const OPTIONAL = ["archived", "before_seq"] as const;

const lastMessages = prepared((parts, given: Given<WhereValues>) => {
  let query = selectMessages(parts, given("session_id"))
    .orderBy("seq", "desc")
    .limit(given("rows"));
  if (given.has("archived")) {
    query = query.where("archived", "=", given("archived"));
  }
  return given.has("before_seq") ? query.where("seq", "<", given("before_seq")) : query;
}, OPTIONAL);

/** How many messages there are, and how large they are together: one row, whatever they are. */
const extentBefore = prepared(
  (parts, given: Given<WhereValues>) =>
    parts.db
      .selectFrom(sizesQuery(parts, given).as("sizes"))
      .select((eb) => [
        eb.fn.countAll<number>().as("count"),
        eb.fn.sum<number>("bytes").as("bytes"),
      ]),
  OPTIONAL,
);

const sizesBefore = prepared(sizesQuery, OPTIONAL);

/** Sizes come first, from the last message backwards: the rows are read once it is known how many. */
function sizesQuery({ db }: QueryParts, given: Given<WhereValues>) {
  let query = db
    .selectFrom("messages")
    .select(messageBytes())
    .where("session_id", "=", given("session_id"))
    .orderBy("seq", "desc")
    .limit(given("rows"));
  if (given.has("archived")) {
    query = query.where("archived", "=", given("archived"));
  }
  return given.has("before_seq") ? query.where("seq", "<", given("before_seq")) : query;
}
