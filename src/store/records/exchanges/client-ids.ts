import { createHash } from "node:crypto";

import { isUuid } from "../../../core/ids.ts";
import type { Message } from "../../../core/sessions.ts";
import type { Operation } from "../../store.ts";

/** The key under which a client's message is queued once. */
export function keyOfMessage(id: string): string {
  return createHash("sha256").update(`ui ${id}`).digest("hex");
}

/** Ids that are remembered at most: a client sends all that it shows. */
const MAX_IDS = 200;

/**
 * The ids that a client has given to messages of users, by their `seq`. Under another id it would show them twice.
 */
export const readClientIds: Operation<
  {
    readonly session_id: string;
    readonly ids: readonly string[];
    /** Ascending, as `readDetail` returns them. */
    readonly messages: readonly Message[];
  },
  ReadonlyMap<number, string>
> = async (tx, { session_id, ids, messages }) => {
  const byKey = new Map(ids.slice(-MAX_IDS).map((id) => [keyOfMessage(id), id]));
  const rows =
    byKey.size === 0
      ? []
      : await tx.db
          .selectFrom("exchanges")
          .select(["idempotency_key", "first_seq"])
          .where("session_id", "=", session_id)
          .where("idempotency_key", "in", [...byKey.keys()])
          .execute();
  return new Map(
    rows.flatMap(({ idempotency_key, first_seq }): [number, string][] => {
      const seq = lastOfUser(messages, first_seq);
      const id = byKey.get(idempotency_key ?? "");
      return seq === null || id === undefined ? [] : [[seq, id]];
    }),
  );
};

/** True if a user's message was sent before, under the client's id or under the one that the session shows. */
export const isSentMessage: Operation<
  { readonly session_id: string; readonly id: string },
  boolean
> = async ({ db }, { session_id, id }) => {
  const queued = await db
    .selectFrom("exchanges")
    .select("n")
    .where("session_id", "=", session_id)
    .where("idempotency_key", "=", keyOfMessage(id))
    .executeTakeFirst();
  const stored = await db
    .selectFrom("messages")
    .select("seq")
    .where("session_id", "=", session_id)
    // PostgreSQL refuses texts with NUL
    .where("message_id", "=", isUuid(id) ? id : "")
    .executeTakeFirst();
  return queued !== undefined || stored !== undefined;
};

/**
 * Returns the last message of the user: of the messages with which an exchange begins, its own comes last, after the
 * pending ones.
 */
function lastOfUser(messages: readonly Message[], first_seq: number | null): number | null {
  const at = messages.findIndex(({ seq }) => seq === first_seq);
  const own = at < 0 ? [] : messages.slice(at);
  const end = own.findIndex(({ role }) => role !== "user");
  return own.at(end < 0 ? own.length - 1 : end - 1)?.seq ?? null;
}
