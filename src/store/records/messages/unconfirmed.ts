import { sql } from "kysely";

import { TITLE_LENGTH } from "../../../core/limits.ts";
import { titleOf } from "../../../core/text/text.ts";
import type { ChangedField } from "../../tables/database.ts";
import type { Operation, Tx } from "../../store.ts";
import { CHOICE_FIELDS, choicesOf } from "./waiting.ts";

export interface UnconfirmedInput {
  readonly session_id: string;
  /** The first and the last message that are asked about. */
  readonly from_seq: number;
  readonly through_seq: number;
}

export interface MessageSource {
  /** No exchange has handed it to the agent. */
  readonly pending: boolean;
  readonly authenticated: boolean;
  /** Somebody let it reach the agent, although its caller was not authenticated. */
  readonly accepted: boolean;
}

export interface Unconfirmed {
  /** Settings that a caller without authentication made and nobody accepted. */
  readonly settings: readonly ChangedField[];
  /** By `seq`: the messages that are pending, or whose caller was not authenticated. */
  readonly messages: ReadonlyMap<number, MessageSource>;
}

/** Reads what somebody who accepts has to judge. Error codes: none. */
export const readUnconfirmed: Operation<UnconfirmedInput, Unconfirmed> = async (tx, input) => {
  const { choices } = await choicesOf(tx, input.session_id);
  const fields: ChangedField[] = CHOICE_FIELDS.filter((field) => choices[field] !== undefined);
  return {
    settings: (await isTitleUnconfirmed(tx, input.session_id)) ? [...fields, "title"] : fields,
    messages: await sourcesOf(tx, input),
  };
};

async function sourcesOf(
  tx: Tx,
  { session_id, from_seq, through_seq }: UnconfirmedInput,
): Promise<Map<number, MessageSource>> {
  const rows = await tx.db
    .selectFrom("messages")
    .select(["seq", "checkpointed", "archived", "authenticated", "accepted_at"])
    .where("session_id", "=", session_id)
    .where("seq", ">=", from_seq)
    .where("seq", "<=", through_seq)
    .where("role", "=", "user")
    .where(({ eb, or }) => or([eb("checkpointed", "=", 0), eb("authenticated", "=", 0)]))
    .execute();
  return new Map(
    rows.map(({ seq, ...row }) => [
      seq,
      {
        pending: row.checkpointed === 0 && row.archived === 0,
        authenticated: row.authenticated === 1,
        accepted: row.accepted_at !== null,
      },
    ]),
  );
}

/** The title is the beginning of the first message. */
async function isTitleUnconfirmed(tx: Tx, session_id: string): Promise<boolean> {
  const first = await tx.db
    .selectFrom("messages")
    .innerJoin("sessions", "sessions.id", "messages.session_id")
    .select([
      "sessions.title",
      "messages.authenticated",
      "messages.accepted_at",
      sql<string>`substr(messages.content, 1, ${sql.lit(TITLE_LENGTH)})`.as("beginning"),
    ])
    .where("messages.session_id", "=", session_id)
    .where("messages.role", "=", "user")
    .orderBy("messages.seq")
    .limit(1)
    .executeTakeFirst();
  return (
    first !== undefined &&
    first.authenticated === 0 &&
    first.accepted_at === null &&
    first.title === titleOf(first.beginning)
  );
}
