import { isRepriseError } from "../../core/errors.ts";
import type { Store } from "../store.ts";
import { about, type Difference } from "./difference.ts";
import { type VerifiedSession, verifySession } from "./verify-session.ts";

/** Result of comparing a session, as programs read it. */
export interface Verification {
  readonly session_id: string;
  readonly ok: boolean;
  readonly messages: number;
  readonly pending: number;
  readonly threads: number;
  readonly findings: readonly Difference[];
}

/**
 * Compares a session's messages with its checkpoints. That they cannot be read is a finding, too.
 * Error codes: `session_not_found`, `database_*` but `database_corrupt`.
 */
export async function verificationOf(store: Store, id: string): Promise<Verification> {
  try {
    return asVerification(await verifySession(store, id));
  } catch (error) {
    if (isRepriseError(error, "database_corrupt")) {
      return damaged(id, about("checkpoint_damaged", error.message));
    }
    throw error;
  }
}

export function asVerification({ state, findings, pending }: VerifiedSession): Verification {
  return {
    session_id: state.session_id,
    ok: findings.length === 0,
    messages: state.rows.length,
    pending,
    threads: state.threads.length,
    findings,
  };
}

/** Makes the result for a session of which no more is known than this. */
export function damaged(session_id: string, finding: Difference, messages = 0): Verification {
  return { session_id, ok: false, messages, pending: 0, threads: 0, findings: [finding] };
}
