import { sql } from "kysely";

import { RepriseError } from "../../../core/errors.ts";
import type { Tx } from "../../store.ts";
import { choicesOf } from "./waiting.ts";

/**
 * 0 for a session whose model, persona and folder all came with authentication or were confirmed. Part of a statement
 * that runs anyway: only a session for which it is 1 costs more.
 */
export const MAY_BE_UNCONFIRMED =
  sql<number>`case when (sessions.authenticated = 0 and sessions.accepted_at is null) or exists (
  select 1 from session_changes
  where session_changes.session_id = sessions.id and session_changes.authenticated = 0
  and session_changes.accepted_at is null
) then 1 else 0 end`.as("may_be_unconfirmed");

/** True for a session that no service uses: its model, persona or folder is to be confirmed by a person. */
export async function isUnconfirmed(tx: Tx, session_id: string): Promise<boolean> {
  const { choices } = await choicesOf(tx, session_id);
  return Object.keys(choices).length > 0;
}

/** For an exchange of a service in a session of `isUnconfirmed`: a service can ask nobody. */
export function notConfirmed(session_id: string): RepriseError {
  return new RepriseError(
    "not_confirmed",
    `The session's model, persona or folder came over HTTP without authentication and was not confirmed, so no service uses it. Confirm it in a terminal with \`reprise --session ${session_id}\`, or create another session with the token, then send the message again.`,
  );
}
