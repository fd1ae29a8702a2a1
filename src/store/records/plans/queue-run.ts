import { createHash } from "node:crypto";

import type { AskedBy } from "../../../core/exchanges.ts";
import type { Principal } from "../../../core/principal.ts";
import type { Session } from "../../../core/sessions.ts";
import type { Operation } from "../../store.ts";
import { queueAndRead, type Queued } from "../exchanges/queue-and-read.ts";
import { onceByKey, requestHash } from "../sessions/create-once.ts";
import { type LimitChanges, setLimits } from "../sessions/limits.ts";
import { createRun, type CreateRun } from "./create-run.ts";
import { readRun } from "./read-runs.ts";
import { retryPhases } from "./retry.ts";

export interface QueueRun extends CreateRun {
  readonly principal: Principal;
  readonly asked_by: AskedBy;
  /** A repeated request with the same key gets the same run. */
  readonly create_key?: string | undefined;
}

/**
 * Stores a run for the next free node, in one transaction. Error codes: as `createRun`; `idempotency_key_reused` if an
 * earlier request with the key was another one.
 */
export const queueRun: Operation<QueueRun, Session> = async (
  tx,
  { create_key, principal, asked_by, ...input },
) => {
  const create = async (): Promise<Session> => {
    const session = await createRun(tx, input);
    await queueAndRead(tx, { reference: session.id, content: null, asked_by, principal });
    return session;
  };
  const { session, run_id, plan, checks, options } = input;
  const asked = JSON.stringify([requestHash(session), run_id, plan, checks, options]);
  const create_request = createHash("sha256").update(asked).digest("hex");
  return create_key === undefined
    ? create()
    : onceByKey(tx, { create_key, create_request }, create);
};

export interface ResumeRun {
  readonly reference: string;
  readonly principal: Principal;
  readonly asked_by: AskedBy;
  /** Keys of phases to try again, none for all that failed or were refused; null to try none again. */
  readonly retry: readonly string[] | null;
  /** Limits of the run's session from then on; those that are not given stay. */
  readonly token_limits?: LimitChanges | undefined;
}

/** Queues the next exchange of a run, in one transaction. Error codes: as `readRun`, `retryPhases`, `setLimits` and `queueExchange`. */
export const resumeRun: Operation<ResumeRun, Queued> = async (
  tx,
  { reference, principal, asked_by, retry, token_limits },
) => {
  const { session_id } = await readRun(tx, { reference });
  if (token_limits !== undefined) {
    await setLimits(tx, { id: session_id, tokens: token_limits });
  }
  if (retry !== null) {
    await retryPhases(tx, { session_id, keys: retry });
  }
  return queueAndRead(tx, { reference: session_id, content: null, asked_by, principal });
};
