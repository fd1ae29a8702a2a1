import { RepriseError } from "../core/errors.ts";
import { choicesOf } from "../store/sessions/waiting.ts";
import type { Operation } from "../store/store.ts";

/**
 * Refuses to run a session whose model, persona or folder came over HTTP without authentication and
 * was not confirmed: here nobody can be asked.
 *
 * Error codes: `not_confirmed`.
 */
export const refuseUnconfirmed: Operation<{ readonly session_id: string }, void> = async (
  tx,
  { session_id },
) => {
  const { choices } = await choicesOf(tx, session_id);
  if (Object.keys(choices).length > 0) {
    throw new RepriseError(
      "not_confirmed",
      "The session's model, persona or folder came over HTTP without authentication and was not confirmed, so no service uses it. Open the session in a terminal and confirm it, then send the message again.",
    );
  }
};
