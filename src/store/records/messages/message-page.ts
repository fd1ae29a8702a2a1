import type { MessageOrder } from "../../../core/sessions.ts";
import { type Parameter, prepared, type QueryParts } from "../../prepared.ts";
import { resolveSession } from "../sessions/read.ts";
import type { Operation, Tx } from "../../store.ts";
import { messagesText } from "./messages-text.ts";
import { messageBytes, rowsThatFit } from "./stream-page.ts";

export interface MessagePageInput {
  /** An id or a prefix of 6 or more characters. */
  readonly reference: string;
  /** Only messages after this `seq`, and before that one. */
  readonly after_seq: number;
  readonly before_seq: number;
  readonly order: MessageOrder;
  /** True to see archived messages too. */
  readonly all: boolean;
  /** At most `MESSAGES_PER_READ`. */
  readonly limit: number;
  /** Bytes of content and tool calls; one message may be larger and then comes alone. */
  readonly max_bytes: number;
}

export interface MessagePage {
  readonly session_id: string;
  /** A JSON array of MessageInfo: the database writes it. */
  readonly json: string;
  /** The last `seq` of the page if messages follow it, else null. */
  readonly next: number | null;
}

/** Messages between two positions, as many as fit. Error codes: as `resolveSession`; `database_corrupt`. */
export const readMessagePage: Operation<MessagePageInput, MessagePage> = async (tx, input) =>
  pageOf(tx, input, await sizesIn(tx, input));

/** Reads a page, or null if not all of it fits: then nothing was read but the sizes. */
export const readWholeMessagePage: Operation<MessagePageInput, MessagePage | null> = async (
  tx,
  input,
) => {
  const found = await sizesIn(tx, input);
  const bytes = found.sizes.slice(0, input.limit).reduce((sum, row) => sum + row.bytes, 0);
  return bytes > input.max_bytes ? null : pageOf(tx, input, found);
};

interface FoundSizes {
  readonly session_id: string;
  /** Sizes with one row more than the page may have, if there is one. */
  readonly sizes: readonly { readonly seq: number; readonly bytes: number }[];
}

async function sizesIn(tx: Tx, input: MessagePageInput): Promise<FoundSizes> {
  const { id: session_id } = await resolveSession(tx, input);
  const where = { ...input, session_id, max_archived: Number(input.all) };
  const sizes = await tx.rows(sizesOf[input.order], { ...where, rows: input.limit + 1 });
  return { session_id, sizes };
}

async function pageOf(
  tx: Tx,
  input: MessagePageInput,
  { session_id, sizes }: FoundSizes,
): Promise<MessagePage> {
  const fitting = rowsThatFit(
    sizes.map(({ bytes }) => bytes),
    { max_rows: input.limit, max_bytes: input.max_bytes },
  );
  const [first, last] = [sizes[0], sizes[fitting - 1]];
  if (first === undefined || last === undefined) {
    return { session_id, json: "[]", next: null };
  }
  const json = await messagesText(tx, {
    session_id,
    max_archived: Number(input.all),
    from_seq: Math.min(first.seq, last.seq),
    before_seq: Math.max(first.seq, last.seq) + 1,
    order: input.order,
  });
  return { session_id, json, next: sizes.length > fitting ? last.seq : null };
}

interface Where extends Pick<MessagePageInput, "after_seq" | "before_seq"> {
  readonly session_id: string;
  readonly max_archived: number;
  readonly rows: number;
}

const sizesOf = { asc: prepared(sizesQuery("asc")), desc: prepared(sizesQuery("desc")) };

function sizesQuery(order: MessageOrder) {
  return ({ db }: QueryParts, given: Parameter<Where>) =>
    db
      .selectFrom("messages")
      .select(["seq", messageBytes()])
      .where("session_id", "=", given("session_id"))
      .where("seq", ">", given("after_seq"))
      .where("seq", "<", given("before_seq"))
      .where("archived", "<=", given("max_archived"))
      .orderBy("seq", order)
      .limit(given("rows"));
}
