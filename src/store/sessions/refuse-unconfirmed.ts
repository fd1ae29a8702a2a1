import { RepriseError } from "../../core/errors.ts";
import type { Operation } from "../store.ts";
import { choicesOf } from "./waiting.ts";

/**
 * Refuses exchanges of a service in a session whose model, persona or folder came over HTTP without authentication
 * and was not confirmed: a service can ask nobody.
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
      `The session's model, persona or folder came over HTTP without authentication and was not confirmed, so no service uses it. Confirm it in a terminal with \`reprise --session ${session_id}\`, or create another session with the token, then send the message again.`,
    );
  }
};
