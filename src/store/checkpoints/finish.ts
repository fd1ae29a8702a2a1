import type { Message, Session } from "../../core/sessions.ts";
import { pruneHeldThread } from "./prune.ts";
import { type PrunedIds, NOTHING_PRUNED } from "./plan-prune.ts";
import { readMessagesAfter } from "../records/messages/read.ts";
import { readSession } from "../records/sessions/read.ts";
import type { Operation, Tx } from "../store.ts";
import type { Fence } from "../records/leases/fence.ts";
import { releaseHeld, releaseLease, type ReleaseLease } from "../records/leases/lease.ts";

export interface FinishExchange {
  readonly fence: Fence;
  /** The thread that the exchange ran in. */
  readonly thread_id: string;
  /** The `seq` before its first message; without it no messages are read. */
  readonly after_seq?: number;
  /** As of `releaseLease`; `done` if it is not given. */
  readonly end?: ReleaseLease["end"];
}

/** Rows that an exchange left behind. */
export interface ExchangeRows {
  readonly session: Session;
  /** Messages after `after_seq`, in order; the first 1,000. */
  readonly messages: readonly Message[];
}

/**
 * Releases the lease of an exchange that ended and prunes its checkpoints to one, in one
 * transaction. `pruned` is what was deleted: nothing if the lease was lost.
 */
export const finishExchange: Operation<
  FinishExchange,
  ExchangeRows & { readonly pruned: PrunedIds }
> = async (tx, { fence, thread_id, after_seq, end = "done" }) => {
  const held = await releaseHeld(tx, { fence, end });
  if (held === null) {
    await releaseLease(tx, { fence, finished: true, end });
  }
  return {
    pruned: held === null ? NOTHING_PRUNED : await pruneHeldThread(tx, thread_id),
    session: held ?? (await readSession(tx, { id: fence.session_id })),
    messages: await exchangeMessages(tx, { session_id: fence.session_id, after_seq }),
  };
};

/** Reads what an exchange has left behind so far. Error codes: `session_not_found`. */
export const readExchangeRows: Operation<
  { readonly session_id: string; readonly after_seq?: number },
  ExchangeRows
> = async (tx, input) => ({
  session: await readSession(tx, { id: input.session_id }),
  messages: await exchangeMessages(tx, input),
});

/** Rows of one exchange that its result carries. */
const RESULT_ROWS = 1000;

async function exchangeMessages(
  tx: Tx,
  input: { readonly session_id: string; readonly after_seq?: number | undefined },
): Promise<readonly Message[]> {
  const { session_id, after_seq } = input;
  return after_seq === undefined
    ? []
    : readMessagesAfter(tx, { session_id, after_seq, all: true, limit: RESULT_ROWS });
}
