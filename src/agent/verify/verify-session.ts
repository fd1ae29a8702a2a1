import { type Verification, readVerification } from "../../store/verify/read.ts";
import type { Store } from "../../store/store.ts";
import { compareMirror } from "./compare.ts";
import { type ExpectedMirror, expectedMirror } from "./expected.ts";
import type { Difference } from "./difference.ts";
import { matchRows } from "./match.ts";
import { checkpointMessages } from "./checkpoint-messages.ts";

/** What came out of comparing a session's mirror with its checkpoints. */
export interface VerifiedSession {
  readonly proof: Verification;
  readonly desired: ExpectedMirror;
  readonly findings: readonly Difference[];
  /** User messages that wait for the agent or were archived before it got them. */
  readonly pending: number;
}

/**
 * Compares a session's mirror with its checkpoints, both of one moment, even while an exchange is
 * at work. Linear in the session's messages. Error codes: `session_not_found`, `database_*`.
 */
export async function verifySession(store: Store, session_id: string): Promise<VerifiedSession> {
  const proven = await prove(store, { session_id, removed: false });
  const isExplained = proven.findings.every(
    ({ kind, seq }) =>
      kind !== "title" &&
      (seq === null || !["extra", "pending", "checkpoint_missing"].includes(kind)),
  );
  // what the agent took out of a thread is looked up only where a row asks for it
  return isExplained ? proven : prove(store, { session_id, removed: true });
}

async function prove(
  store: Store,
  input: { readonly session_id: string; readonly removed: boolean },
): Promise<VerifiedSession> {
  const proof = await store.read(readVerification, input);
  const truth = checkpointMessages(proof);
  const match = matchRows(proof.rows, truth);
  const desired = expectedMirror(proof, match);
  const findings = compareMirror({ mirror: proof, truth, match, desired });
  return { proof, desired, findings, pending: match.pending.length };
}
