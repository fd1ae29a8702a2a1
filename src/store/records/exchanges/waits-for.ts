import { RepriseError } from "../../../core/errors.ts";
import { firstOpenQuestion } from "../questions/read.ts";
import { readSession } from "../sessions/read.ts";
import type { Operation } from "../../store.ts";

/**
 * Reads what the exchange of a session waits for that has begun and not ended: a node, which runs it now or continues
 * it; a person who is asked; or, if the process that ran it is dead, a person who resumes it. Else null.
 */
export const waitsFor: Operation<
  { readonly session_id: string },
  "node" | "answer" | "resumption" | null
> = async (tx, { session_id }) => {
  const begun = await tx.db
    .selectFrom("exchanges")
    .select(["state", "queued_at"])
    .where("session_id", "=", session_id)
    .where("ended_at", "is", null)
    .where("begun_at", "is not", null)
    .executeTakeFirst();
  if (begun === undefined) {
    return null;
  }
  if (begun.state === "waiting") {
    return (await firstOpenQuestion(tx, session_id)) === null ? null : "answer";
  }
  if (begun.queued_at !== null) {
    return "node";
  }
  const { activity } = await readSession(tx, { id: session_id });
  return activity === "interrupted" ? "resumption" : null;
};

/** For a message that has waited for its turn: it would withdraw the question, which nobody has seen. */
export function questionBefore(): RepriseError {
  return new RepriseError(
    "question_open",
    "The exchange before it asks a person, and this message would withdraw the question. Answer it with /continue or `reprise sessions answer`, or send the message again.",
  );
}
