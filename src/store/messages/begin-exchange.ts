import type { Message, Session } from "../../core/sessions.ts";
import { type Fence, holdFence } from "../leases/fence.ts";
import { readSession } from "../sessions/read.ts";
import type { Operation } from "../store.ts";
import { appendUserMessage } from "./append.ts";
import { readPending } from "./read.ts";

export interface BeginExchange {
  readonly fence: Fence;
  /** The user's new message; null to hand over only what is pending, or to continue. */
  readonly content: string | null;
  /** What the exchange runs with; recorded where the session has none yet. */
  readonly model: string;
  readonly persona_name: string;
}

export interface BegunExchange {
  readonly session: Session;
  /** Every user message that no checkpoint holds, the new one last. */
  readonly pending: readonly Message[];
}

/**
 * Stores the user's message and marks the exchange as begun, in one transaction: from here until
 * `releaseLease` with `finished` the session counts as interrupted unless its lease is alive.
 *
 * Error codes: `lease_lost`, `session_ended`.
 */
export const beginExchange: Operation<BeginExchange, BegunExchange> = async (tx, input) => {
  const { fence } = input;
  await holdFence(tx, fence);
  await tx.db
    .updateTable("sessions")
    .set(({ fn, val }) => ({
      exchange_open: 1,
      model: fn.coalesce("model", val(input.model)),
      persona_name: fn.coalesce("persona_name", val(input.persona_name)),
    }))
    .where("id", "=", fence.session_id)
    .execute();
  if (input.content !== null) {
    await appendUserMessage(tx, { reference: fence.session_id, content: input.content, fence });
  }
  return {
    session: await readSession(tx, { id: fence.session_id }),
    pending: await readPending(tx, { session_id: fence.session_id }),
  };
};
