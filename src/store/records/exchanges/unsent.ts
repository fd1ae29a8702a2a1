import type { Operation, Tx } from "../../store.ts";

/** A message whose exchange failed before it began: no agent has got it. */
export interface UnsentMessage {
  readonly n: number;
  readonly content: string;
  readonly queued_at: string | null;
  readonly error_code: string;
}

export interface ReadUnsent {
  readonly session_id: string;
  /** Also those after which another exchange has begun. */
  readonly all: boolean;
  readonly limit: number;
}

/** The last messages of a session that failed before their exchanges began, in their order. */
export const readUnsent: Operation<ReadUnsent, readonly UnsentMessage[]> = async (
  { db },
  { session_id, all, limit },
) => {
  const failed = db
    .selectFrom("exchanges")
    .select(({ ref }) => [
      "n",
      "queued_at",
      ref("content").$notNull().as("content"),
      ref("error_code").$notNull().as("error_code"),
    ])
    .where("session_id", "=", session_id)
    .where("state", "=", "failed")
    .where("content", "is not", null)
    .orderBy("n", "desc")
    .limit(limit);
  const query = all
    ? failed
    : failed.where("n", ">", ({ selectFrom, fn, val }) =>
        selectFrom("exchanges")
          .select(fn.coalesce(fn.max("n"), val(0)).as("n"))
          .where("session_id", "=", session_id)
          .where("begun_at", "is not", null),
      );
  return (await query.execute()).toReversed();
};

/** Why a session cannot be continued whose last message no agent has got; null if there is no such message. */
export async function whyUnsent(tx: Tx, session_id: string): Promise<string | null> {
  const [unsent] = await readUnsent(tx, { session_id, all: false, limit: 1 });
  return unsent === undefined
    ? null
    : `The message of exchange ${unsent.n} was refused before it began (${unsent.error_code}), so there is nothing to continue. Read it with \`reprise sessions show\`, or in the record of the exchange, and send it again.`;
}
