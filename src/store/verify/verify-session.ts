import type { Store } from "../store.ts";
import { checkpointMessages } from "./checkpoint-messages.ts";
import { type Difference, LEFT_ALONE } from "./difference.ts";
import { compareMirror } from "./compare.ts";
import { type ExpectedMirror, expectedMirror } from "./expected.ts";
import { matchRows } from "./match.ts";
import type { Mirror, MirrorCounters } from "./mirror.ts";
import { readVerification, type Verification } from "./read.ts";
import { compareRecord, keyFindings } from "./record.ts";

/** Session with the result of comparing its mirror with its checkpoints. */
export interface VerifiedSession extends ComparedMirror {
  readonly state: Mirror & Verification;
}

interface ComparedMirror {
  readonly expected: ExpectedMirror;
  readonly findings: readonly Difference[];
  /** User messages that wait for the agent or were archived before it got them. */
  readonly pending: number;
}

/**
 * Compares a session's mirror with its checkpoints, read in one consistent state, even while
 * an exchange is running. Linear in the session's messages. Error codes:
 * `session_not_found`, `database_*`.
 */
export async function verifySession(store: Store, session_id: string): Promise<VerifiedSession> {
  const verified = await verify(store, { session_id, removed: false });
  // removed and changed messages are read only if something asks for them
  return isExplained(verified) ? verified : verify(store, { session_id, removed: true });
}

async function verify(
  store: Store,
  input: { readonly session_id: string; readonly removed: boolean },
): Promise<VerifiedSession> {
  const state = await store.read(readVerification, input);
  const compared = compare(state);
  const record = [...compareRecord(state.record), ...(await keyFindings(state.record))];
  return { ...compared, state, findings: [...compared.findings, ...record] };
}

/** The first problem for which a session is not stored unchanged; null if there is none. */
export async function firstDifference(store: Store, id: string): Promise<string | null> {
  return firstSentence(await verifySession(store, id));
}

/** Finds the first difference of a session that is not stored; `read` gives it with or without removed messages. */
export function firstMirrorDifference(read: (removed: boolean) => Verification): string | null {
  const compared = compare(read(false));
  return firstSentence(isExplained(compared) ? compared : compare(read(true)));
}

/** Computes the counters of a session that is not stored; `read` as of `firstMirrorDifference`. */
export function countersOf(read: (removed: boolean) => Verification): MirrorCounters {
  const compared = compare(read(false));
  return (isExplained(compared) ? compared : compare(read(true))).expected.counters;
}

function compare(state: Verification): ComparedMirror {
  const checkpoints = checkpointMessages(state);
  const match = matchRows(state, checkpoints);
  const expected = expectedMirror(state, match);
  const findings = compareMirror({ mirror: state, damaged: checkpoints.damaged, match, expected });
  return { expected, findings, pending: match.pending.length };
}

function isExplained({ findings }: ComparedMirror): boolean {
  return findings.every(
    ({ kind, seq }) =>
      kind !== "title" &&
      kind !== "totals" &&
      kind !== "order" &&
      (seq === null || !["extra", "pending", "checkpoint_missing"].includes(kind)),
  );
}

/** Without values that nothing shows the right one of. */
function firstSentence({ findings }: ComparedMirror): string | null {
  return findings.find(({ kind }) => !LEFT_ALONE.has(kind))?.sentence ?? null;
}
