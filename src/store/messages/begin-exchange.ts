import type { Caller } from "../../core/origins.ts";
import type { Message, Session } from "../../core/sessions.ts";
import { type Fence, holdFence } from "../leases/fence.ts";
import { NO_FAILURE } from "../sessions/failures.ts";
import { readSession } from "../sessions/read.ts";
import { recordChanges } from "../sessions/record-changes.ts";
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
  /** Who runs it; unknown callers count as authenticated. */
  readonly caller?: Caller | undefined;
}

export interface BegunExchange {
  readonly session: Session;
  /** What `readPending` finds, the new one last. */
  readonly pending: readonly Message[];
}

/**
 * Stores the user's message and marks the exchange as begun, in one transaction: from here until
 * `releaseLease` with `finished` the session counts as interrupted unless its lease is alive.
 *
 * Error codes: `lease_lost`, `session_ended`.
 */
export const beginExchange: Operation<BeginExchange, BegunExchange> = async (tx, input) => {
  const { fence, caller } = input;
  await holdFence(tx, fence);
  const before = await readSession(tx, { id: fence.session_id });
  await tx.db
    .updateTable("sessions")
    .set(({ fn, val }) => ({
      exchange_open: 1,
      ...NO_FAILURE,
      model: fn.coalesce("model", val(input.model)),
      persona_name: fn.coalesce("persona_name", val(input.persona_name)),
    }))
    .where("id", "=", fence.session_id)
    .execute();
  await recordChanges(tx, {
    session_id: fence.session_id,
    caller,
    changes: {
      model: before.model === null ? input.model : undefined,
      persona_name: before.persona_name === null ? input.persona_name : undefined,
    },
  });
  if (input.content !== null) {
    const { session_id: reference } = fence;
    await appendUserMessage(tx, {
      reference,
      content: input.content,
      fence,
      ...(caller === undefined ? {} : { caller }),
    });
  }
  return {
    session: await readSession(tx, { id: fence.session_id }),
    pending: await readPending(tx, { session_id: fence.session_id }),
  };
};
