import type { ConsentKind } from "../../../core/consents.ts";
import type { Operation, Tx } from "../../store.ts";
import { lockSession } from "./lock.ts";

/** Consent, as it is stored. */
export interface Consent {
  readonly kind: ConsentKind;
  readonly subject: string;
  /** `user@host`, or `token`. */
  readonly who: string;
  readonly at: string;
}

/** Characters of a subject that are kept. */
const MAX_SUBJECT = 500;

export interface GivenConsent extends Pick<Consent, "kind" | "subject"> {
  readonly session_id: string;
  readonly who: string | null | undefined;
}

/** Keeps who consented to what is done outside of the database; nothing if that is unknown. */
export const storeConsent: Operation<GivenConsent, void> = async (tx, consent) => {
  await lockSession(tx, consent.session_id);
  await recordConsent(tx, consent);
};

/** Keeps who consented, in the transaction that stores to what; nothing if that is unknown. The session is held. */
export async function recordConsent(
  tx: Tx,
  { session_id, kind, subject, who }: GivenConsent,
): Promise<void> {
  if (typeof who !== "string") {
    return;
  }
  const last = await tx.db
    .selectFrom("consents")
    .select(({ fn }) => fn.max("number").as("number"))
    .where("session_id", "=", session_id)
    .executeTakeFirst();
  await tx.db
    .insertInto("consents")
    .values({
      session_id,
      number: (last?.number ?? 0) + 1,
      kind,
      subject: Array.from(subject).slice(0, MAX_SUBJECT).join(""),
      who,
      at: tx.dialect.now(),
    })
    .execute();
}

/** The latest consents in a session, the oldest of them first. */
export const readConsents: Operation<
  { readonly session_id: string; readonly limit: number },
  readonly Consent[]
> = async (tx, { session_id, limit }) => {
  const rows = await tx.db
    .selectFrom("consents")
    .select(["kind", "subject", "who", "at"])
    .where("session_id", "=", session_id)
    .orderBy("number", "desc")
    .limit(limit)
    .execute();
  return rows.toReversed();
};
