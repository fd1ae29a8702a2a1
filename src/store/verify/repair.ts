import type { Selectable } from "kysely";

import type { Usage } from "../../core/cost/model-calls.ts";
import { RepriseError } from "../../core/errors.ts";
import { batches } from "../records/threads/bodies.ts";
import { type Fence, holdFence } from "../records/leases/fence.ts";
import type { ReleaseLease } from "../records/leases/lease.ts";
import { forgetIndexed } from "../records/search/forget.ts";
import { lockSession } from "../records/sessions/lock.ts";
import type { SessionTable } from "../tables/database.ts";
import type { Operation, Store, Tx } from "../store.ts";
import { BEYOND_REPAIR, type Difference, LEFT_ALONE } from "./difference.ts";
import { type MirrorCounters, type MirrorRow, mirrorVersion, readMirror } from "./mirror.ts";
import { movedRecords, type RecordPositions } from "./moved-records.ts";
import { expectedEnd } from "./record.ts";
import { rewriteUsage } from "./usage.ts";
import { type VerifiedSession, verifySession } from "./verify-session.ts";

export interface RepairInput {
  readonly store: Store;
  readonly session_id: string;
  /** Takes the session's lease and keeps it until it is released; not asked of an ended session. */
  readonly hold: () => Promise<LeaseHold>;
}

interface LeaseHold {
  readonly fence: Fence;
  release(end: Omit<ReleaseLease, "fence">): Promise<void>;
}

export interface Repair {
  /** Differences before; empty if nothing was to be done. */
  readonly findings: readonly Difference[];
  /** Differences that are left: no checkpoint says what would be right. */
  readonly left: readonly Difference[];
  /** Rows that were deleted, inserted, changed at the same position, and moved to another one. */
  readonly rows: {
    readonly removed: number;
    readonly added: number;
    readonly changed: number;
    readonly moved: number;
  };
}

/**
 * Rebuilds a session's mirror from its checkpoints in one transaction; does nothing if the two
 * agree. What no checkpoint holds, a pending message, stays unchanged. Ended sessions too.
 *
 * Error codes: `session_not_found`; `session_busy` while an exchange is running;
 * `database_corrupt` if a checkpoint is damaged or gone, so that the mirror may be the only
 * copy: then nothing is changed.
 */
export async function repairSession(input: RepairInput): Promise<Repair> {
  const { store, session_id } = input;
  const { state, findings } = await verifySession(store, session_id);
  const { repairable, left } = partition(findings);
  if (repairable.length === 0 && state.activity !== "running") {
    return nothing(left);
  }
  if (state.state === "ended") {
    return repairUnder(input, null);
  }
  const held = await input.hold();
  try {
    return await repairUnder(input, held.fence);
  } finally {
    await held.release({ finished: false, end: null });
  }
}

/** Messages may still be appended through the API while somebody repairs. */
const ATTEMPTS = 5;

async function repairUnder(input: RepairInput, fence: Fence | null): Promise<Repair> {
  const { store, session_id } = input;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const verified = await verifySession(store, session_id);
    refuseDamaged(verified);
    const { repairable, left } = partition(verified.findings);
    if (repairable.length === 0) {
      return nothing(left);
    }
    const change = { ...changeOf(verified), session_id, fence };
    if ((await store.write(rewriteMirror, change)) === "rewritten") {
      return { findings: repairable, left, rows: countRows(verified, change) };
    }
  }
  throw new RepriseError(
    "session_busy",
    "The session takes messages faster than it can be repaired; try again when it is quiet.",
  );
}

function refuseDamaged({ findings }: VerifiedSession): void {
  const damaged = findings.find(({ kind }) => BEYOND_REPAIR.has(kind));
  if (damaged !== undefined) {
    throw new RepriseError(
      "database_corrupt",
      `${damaged.sentence} Nothing was changed, because the messages may be the only copy; \`reprise sessions verify\` shows all.`,
    );
  }
}

type Change = Pick<
  RewriteMirror,
  "version" | "remove" | "insert" | "columns" | "records" | "usage"
>;

/** Only what differs is written: a correct row is left alone. */
function changeOf({ state, expected }: VerifiedSession): Change {
  const { row, root } = state.record;
  const bySeq = new Map(state.rows.map((one) => [one.seq, one]));
  const insert = expected.rows.filter((one) => !sameRow(one, bySeq.get(one.seq)));
  const kept = new Set(expected.rows.map(({ seq }) => seq));
  for (const { seq } of insert) {
    kept.delete(seq);
  }
  return {
    version: mirrorVersion(state),
    remove: state.rows.map(({ seq }) => seq).filter((seq) => !kept.has(seq)),
    insert,
    columns: {
      ...expected.counters,
      root_session_id: root ?? row.root_session_id,
      ended_at: expectedEnd(state.record),
    },
    usage: state.record.usage.expected,
    records: movedRecords(state.record.exchanges, { before: state.rows, after: expected.rows }),
  };
}

function sameRow(row: MirrorRow, there: MirrorRow | undefined): boolean {
  return (
    there !== undefined &&
    Object.entries(there).every(([column, value]) => Reflect.get(row, column) === value)
  );
}

function countRows({ state, expected }: VerifiedSession, { insert }: Change): Repair["rows"] {
  const before = new Set(state.rows.map((row) => row.message_id));
  const added = expected.rows.filter((row) => !before.has(row.message_id)).length;
  return {
    removed: state.rows.length - (expected.rows.length - added),
    added,
    changed: insert.length - added - expected.moved,
    moved: expected.moved,
  };
}

function partition(findings: readonly Difference[]) {
  const left = findings.filter(({ kind }) => LEFT_ALONE.has(kind));
  return { repairable: findings.filter(({ kind }) => !LEFT_ALONE.has(kind)), left };
}

function nothing(left: readonly Difference[]): Repair {
  return { findings: [], left, rows: { removed: 0, added: 0, changed: 0, moved: 0 } };
}

export interface RewriteMirror {
  readonly session_id: string;
  /** The lease of the repair; null for an ended session, which takes no exchange. */
  readonly fence: Fence | null;
  /** `mirrorVersion` of what the change was made of. */
  readonly version: string;
  /** Positions whose rows go, and the rows that come; a row that moves is among both. */
  readonly remove: readonly number[];
  readonly insert: readonly MirrorRow[];
  readonly columns: MirrorCounters & Pick<Selectable<SessionTable>, "root_session_id" | "ended_at">;
  /** Records of exchanges whose messages are at other positions then. */
  readonly records: readonly RecordPositions[];
  /** The sums of its requests of models. */
  readonly usage: Usage;
}

/**
 * Brings a session's mirror into another state, all of it or nothing. The answer is `stale`, and
 * nothing is changed, when the mirror or a checkpoint is no longer what the version says.
 *
 * Error codes: `session_not_found`, `session_busy`, `lease_lost`, `session_ended`.
 */
export const rewriteMirror: Operation<RewriteMirror, "rewritten" | "stale"> = async (tx, input) => {
  await lockSession(tx, input.session_id);
  const mirror = await readMirror(tx, input.session_id);
  if (input.fence !== null) {
    await holdFence(tx, input.fence);
  } else if (mirror.state !== "ended") {
    throw new RepriseError(
      "session_busy",
      "Only the holder of the session may rewrite its messages. Try again.",
    );
  }
  if (mirrorVersion(mirror) !== input.version) {
    return "stale";
  }
  await forgetIndexed(tx, input);
  await removeRows(tx, input);
  for (const rows of batches(input.insert)) {
    await tx.db.insertInto("messages").values(rows).execute();
  }
  await tx.db
    .updateTable("sessions")
    .set(input.columns)
    .where("id", "=", input.session_id)
    .execute();
  await rewriteUsage(tx, input.session_id, input.usage);
  for (const { n, ...positions } of input.records) {
    await tx.db
      .updateTable("exchanges")
      .set((eb) => ({ ...positions, revision: eb("revision", "+", 1) }))
      .where("session_id", "=", input.session_id)
      .where("n", "=", n)
      .execute();
  }
  tx.touch(input.session_id);
  return "rewritten";
};

async function removeRows(tx: Tx, { session_id, remove }: RewriteMirror): Promise<void> {
  for (const positions of batches(remove)) {
    await tx.db
      .deleteFrom("messages")
      .where("session_id", "=", session_id)
      .where("seq", "in", positions)
      .execute();
  }
}
