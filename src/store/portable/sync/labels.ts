import { MAX_METADATA_PAIRS, type Metadata } from "../../../core/labels.ts";
import { holdTree } from "../../records/sessions/delete-tree.ts";
import { endSession } from "../../records/sessions/change.ts";
import { storeMetadata } from "../../records/sessions/labels.ts";
import { treeIdsOf } from "../../records/sessions/tree-ids.ts";
import { batches } from "../../records/threads/bodies.ts";
import type { Operation, Tx } from "../../store.ts";
import { type PortableSession, type SessionTree, sessionsOf } from "../export-schema.ts";
import { areHeld } from "./outline.ts";

/** Facts about a session that both databases have in the end, whichever history it gets. */
export interface Labels {
  readonly id: string;
  readonly name: string | null;
  readonly named_at: string | null;
  /** When it ended; null as long as neither has ended it. */
  readonly ended_at: string | null;
  readonly metadata: Metadata;
}

/**
 * Labels of each session of a history that the other one has, too, and that differ: the earlier end and the later name;
 * metadata of both if `withMetadata`, and of two values that of the first history.
 */
export function labelsToSet(
  main: SessionTree,
  other: SessionTree,
  { withMetadata }: { readonly withMetadata: boolean },
): readonly Labels[] {
  const others = new Map([...sessionsOf(other)].map(({ session }) => [session.id, session]));
  return [...sessionsOf(main)].flatMap(({ session }) => {
    const found = others.get(session.id);
    const merged = found === undefined ? null : mergedLabels(session, found);
    const { metadata = {} } = session;
    const labels = merged === null || withMetadata ? merged : { ...merged, metadata };
    return labels === null || hasLabels(session, labels) ? [] : [labels];
  });
}

function mergedLabels(main: PortableSession, other: PortableSession): Labels {
  const ends = [main.ended_at, other.ended_at].filter((at) => at !== null);
  const named = [main, other].toSorted(byName).at(-1);
  const metadata = { ...other.metadata, ...main.metadata };
  return {
    id: main.id,
    name: named?.name ?? null,
    named_at: named?.named_at ?? null,
    ended_at: ends.toSorted()[0] ?? null,
    metadata: Object.keys(metadata).length > MAX_METADATA_PAIRS ? (main.metadata ?? {}) : metadata,
  };
}

function byName(one: PortableSession, other: PortableSession): number {
  const [a, b] = [one, other].map(({ name = "", named_at = "" }) => `${named_at} ${name}`);
  return (a ?? "") < (b ?? "") ? -1 : 1;
}

function hasLabels(session: PortableSession, labels: Labels): boolean {
  const { name = null, named_at = null, ended_at, metadata = {} } = session;
  const pairs = Object.entries(labels.metadata);
  return (
    name === labels.name &&
    named_at === labels.named_at &&
    ended_at === labels.ended_at &&
    pairs.length === Object.keys(metadata).length &&
    pairs.every(([key, value]) => metadata[key] === value)
  );
}

/**
 * Gives sessions of a tree these labels, each after its parent; one that has not ended ends, with its sub-agents. False
 * if one of the tree runs: nothing was done.
 *
 * Error codes: `session_not_found`.
 */
export const setLabels: Operation<
  { readonly root: string; readonly labels: readonly Labels[] },
  boolean
> = async (tx, { root, labels }) => {
  await holdTree(tx, root);
  if (await isHeld(tx, root)) {
    return false;
  }
  for (const { id, name, named_at, ended_at, metadata } of labels) {
    await tx.db.updateTable("sessions").set({ name, named_at }).where("id", "=", id).execute();
    await storeMetadata(tx, id, metadata);
    if (ended_at !== null) {
      await endSession(tx, { id });
      await tx.db.updateTable("sessions").set({ ended_at }).where("id", "=", id).execute();
    }
    tx.touch(id);
  }
  return true;
};

async function isHeld(tx: Tx, root: string): Promise<boolean> {
  for (const batch of batches(await treeIdsOf(tx, root))) {
    if (await areHeld(tx, batch)) {
      return true;
    }
  }
  return false;
}
