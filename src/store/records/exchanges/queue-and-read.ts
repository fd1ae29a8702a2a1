import type { ExchangeRecord } from "../../../core/sessions.ts";
import { type OpenQuestion, openQuestionsOf } from "../questions/read.ts";
import type { Operation } from "../../store.ts";
import { readSessionNodes, type SessionNodes } from "./nodes.ts";
import { type QueueExchange, queueExchange } from "./queue.ts";

/** A queued exchange with all that the answer to its caller says. */
export interface Queued {
  readonly record: ExchangeRecord;
  /** Questions of its session. */
  readonly open: readonly OpenQuestion[];
  /** Facts that decide which node runs it; null if it need not be run. */
  readonly nodes: SessionNodes | null;
}

/**
 * As `queueExchange`. Everything is read in its transaction: a read after the commit may fail, and a caller who
 * was refused would send the message twice.
 */
export const queueAndRead: Operation<QueueExchange, Queued> = async (tx, input) => {
  const record = await queueExchange(tx, input);
  const { session_id, state } = record;
  return {
    record,
    open: await openQuestionsOf(tx, session_id),
    nodes: state === "queued" ? await readSessionNodes(tx, { session_id }) : null,
  };
};
