import { sql } from "kysely";

import { type Parameter, prepared } from "../../prepared.ts";
import { type LeaseState, leaseStateOf, selectLeaseStates } from "../leases/lease.ts";
import { isFromOutside, NOTHING_WAITS, readWaiting, type Waiting } from "../messages/waiting.ts";
import type { Operation } from "../../store.ts";

/** A session before a person's message is sent. */
export interface ReadToSend {
  /** Null if the session is gone. */
  readonly lease_state: LeaseState | null;
  readonly waiting: Waiting;
}

/** As `readLeaseState` and `readWaiting`, in one statement if nothing waits. */
export const readToSend: Operation<{ readonly session_id: string }, ReadToSend> = async (
  tx,
  { session_id },
) => {
  const [row] = await tx.rows(stateAndHints, { session_id });
  const waits = row?.has_choices === 1 || Boolean(row?.has_messages);
  return {
    lease_state: row === undefined ? null : leaseStateOf(row),
    waiting: waits ? await readWaiting(tx, { session_id }) : NOTHING_WAITS,
  };
};

/** 1 if a model, persona or folder may have come over HTTP that no person has seen or confirmed. */
const HAS_CHOICES = sql<number>`case when (
  sessions.accepted_at is null and (sessions.authenticated = 0 or sessions.origin = 'http')
) or exists (
  select 1 from session_changes
  where session_changes.session_id = sessions.id and session_changes.accepted_at is null
  and (session_changes.authenticated = 0 or session_changes.origin = 'http')
) then 1 else 0 end`.as("has_choices");

const stateAndHints = prepared((parts, given: Parameter<{ readonly session_id: string }>) =>
  selectLeaseStates(parts)
    .select(HAS_CHOICES)
    .select(({ exists, selectFrom }) =>
      exists(
        selectFrom("messages")
          .select("messages.seq")
          .whereRef("messages.session_id", "=", "sessions.id")
          .where(isFromOutside),
      ).as("has_messages"),
    )
    .where("id", "=", given("session_id")),
);
