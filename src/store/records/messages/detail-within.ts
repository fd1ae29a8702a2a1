import { MESSAGES_PER_READ } from "../../../core/limits.ts";
import type { Usage } from "../../../core/cost/model-calls.ts";
import type { Message } from "../../../core/sessions.ts";
import { type Parameter, prepared, type QueryParts } from "../../prepared.ts";
import { resolveSession } from "../sessions/read.ts";
import { readSummaryWithUsage } from "../sessions/summaries.ts";
import type { Operation, Tx } from "../../store.ts";
import { messagesText } from "./messages-text.ts";
import type { DetailInput } from "./read.ts";
import { messageOf, selectMessages } from "./rows.ts";
import { messageBytes, rowsThatFit } from "./stream-page.ts";

export interface DetailWithinInput extends DetailInput {
  /** Bytes of content and tool calls; the last message may be larger and then comes alone. */
  readonly max_bytes: number;
  /** False for the session alone. */
  readonly messages?: boolean;
}

export interface DetailText {
  /** The JSON of a SessionSummary. */
  readonly summary: string;
  readonly usage: Usage;
  /** A JSON array of MessageInfo, ascending by `seq`, 200 at most: the database writes it. */
  readonly json: string;
  /** True if there are messages before the first one that this read would show. */
  readonly has_earlier: boolean;
}

/**
 * A session and its last messages, as many as fit: 200 messages of 1 MiB would be an answer that
 * no client can read. Error codes: as `resolveSession`; `database_corrupt`.
 */
export const readDetailWithin: Operation<DetailWithinInput, DetailText> = async (tx, input) => {
  const where = await whereOf(tx, input);
  return textIn(tx, where, await extentOf(tx, where, input));
};

/** Reads the same, or returns null if not all of the messages fit: then only their sizes were read. */
export const readWholeDetail: Operation<DetailWithinInput, DetailText | null> = async (
  tx,
  input,
) => {
  const where = await whereOf(tx, input);
  const extent = await wholeExtentOf(tx, where, input);
  return extent === null ? null : textIn(tx, where, extent);
};

/** Reads the messages of a detail as rows. Error codes: as `resolveSession`; `database_corrupt`. */
export const readMessagesWithin: Operation<DetailWithinInput, readonly Message[]> = async (
  tx,
  input,
) => {
  const where = await whereOf(tx, input);
  const { from_seq } = await extentOf(tx, where, input);
  if (from_seq === null) {
    return [];
  }
  const rows = await selectMessages(tx, where.session_id)
    .where("seq", ">=", from_seq)
    .where("seq", "<", where.before_seq)
    .where("archived", "<=", where.max_archived)
    .orderBy("seq")
    .limit(MESSAGES_PER_READ)
    .execute();
  return rows.map(messageOf);
};

async function whereOf(tx: Tx, { reference, before_seq, all }: DetailInput): Promise<Where> {
  const { id } = await resolveSession(tx, { reference });
  return {
    session_id: id,
    before_seq: before_seq ?? Number.MAX_SAFE_INTEGER,
    max_archived: Number(all),
  };
}

async function textIn(
  tx: Tx,
  where: Where,
  { from_seq, has_earlier }: Extent,
): Promise<DetailText> {
  const shown = await readSummaryWithUsage(tx, { id: where.session_id });
  const json =
    from_seq === null ? "[]" : await messagesText(tx, { ...where, from_seq, order: "asc" });
  return { ...shown, json, has_earlier };
}

interface Where {
  readonly session_id: string;
  readonly before_seq: number;
  /** 0 for what was not archived, 1 for all. */
  readonly max_archived: number;
}

interface Extent {
  /** The first message that fits; null if there is none. */
  readonly from_seq: number | null;
  readonly has_earlier: boolean;
}

type Limits = Pick<DetailWithinInput, "messages" | "max_bytes">;

/** Null if not all of the messages fit. */
async function wholeExtentOf(
  tx: Tx,
  where: Where,
  { messages, max_bytes }: Limits,
): Promise<Extent | null> {
  if (messages === false) {
    const [last] = await tx.rows(sizesBefore, { ...where, rows: 1 });
    return { from_seq: null, has_earlier: last !== undefined };
  }
  const [all] = await tx.rows(extentBefore, { ...where, rows: MESSAGES_PER_READ + 1 });
  const first = all?.first_seq ?? null;
  if (all === undefined || first === null) {
    return { from_seq: null, has_earlier: false };
  }
  const has_earlier = all.count > MESSAGES_PER_READ;
  // the first is one too many; archived messages after it are left out again
  const from_seq = has_earlier ? first + 1 : first;
  return all.bytes <= max_bytes ? { from_seq, has_earlier } : null;
}

/** The size of each message matters only if not all fit. */
async function extentOf(tx: Tx, where: Where, limits: Limits): Promise<Extent> {
  const whole = await wholeExtentOf(tx, where, limits);
  if (whole !== null) {
    return whole;
  }
  const sizes = await tx.rows(sizesBefore, { ...where, rows: MESSAGES_PER_READ + 1 });
  const fitting = rowsThatFit(
    sizes.map(({ bytes }) => bytes),
    { max_rows: MESSAGES_PER_READ, max_bytes: limits.max_bytes },
  );
  return { from_seq: sizes[fitting - 1]?.seq ?? null, has_earlier: sizes.length > fitting };
}

/** How many messages there are, how large together, and where they begin: one row in any case. */
const extentBefore = prepared((parts, given: Parameter<Where & { rows: number }>) =>
  parts.db
    .selectFrom(sizesQuery(parts, given).as("sizes"))
    .select((eb) => [
      eb.fn.countAll<number>().as("count"),
      eb.fn.sum<number>("bytes").as("bytes"),
      eb.fn.min<number | null>("seq").as("first_seq"),
    ]),
);

const sizesBefore = prepared(sizesQuery);

/**
 * Sizes come first, from the last message backwards: the rows are read once it is known how many.
 */
function sizesQuery({ db }: QueryParts, given: Parameter<Where & { rows: number }>) {
  return db
    .selectFrom("messages")
    .select(["seq", messageBytes()])
    .where("session_id", "=", given("session_id"))
    .where("seq", "<", given("before_seq"))
    .where("archived", "<=", given("max_archived"))
    .orderBy("seq", "desc")
    .limit(given("rows"));
}
