import type { Metadata } from "../../../core/labels.ts";
import { holdTree } from "../../records/sessions/delete-tree.ts";
import { endSession } from "../../records/sessions/change.ts";
import { indexFamily } from "../../records/search/forget.ts";
import { readMetadataOf, storeMetadata } from "../../records/sessions/labels.ts";
import { treeIdsOf } from "../../records/sessions/tree-ids.ts";
import { batches } from "../../records/threads/bodies.ts";
import type { Operation, Tx } from "../../store.ts";
import { type PortableSession, type SessionTree, sessionsOf } from "../export-schema.ts";
import { areHeld } from "./outline.ts";

/** The time at which each label was last set or taken away, and the label. */
const LABELS = [
  ["named_at", "name"],
  ["archive_changed_at", "archived_at"],
  ["pin_changed_at", "pinned_at"],
  ["metadata_changed_at", "metadata"],
] as const;
type Group = (typeof LABELS)[number];
type LabelFields = Pick<PortableSession, Group[number]>;

/** Facts about a session that both databases have in the end, whichever history it gets. */
export interface Labels {
  readonly id: string;
  /** When it ended; null as long as neither has ended it. */
  readonly ended_at: string | null;
  readonly fields: LabelFields;
}

/**
 * Labels of each session of a history that the other one has, too, and that differ: the earlier end, and each label of
 * the history in which it was changed last.
 */
export function labelsToSet(main: SessionTree, other: SessionTree): readonly Labels[] {
  const others = new Map([...sessionsOf(other)].map(({ session }) => [session.id, session]));
  return [...sessionsOf(main)].flatMap(({ session }) => {
    const found = others.get(session.id);
    const labels = found === undefined ? null : mergedLabels(session, found);
    return labels === null || hasLabels(session, labels) ? [] : [labels];
  });
}

function mergedLabels(main: PortableSession, other: PortableSession): Labels {
  const ends = [main.ended_at, other.ended_at].filter((at) => at !== null);
  const fields = LABELS.map((group) =>
    fieldsOf(textOf(main, group) < textOf(other, group) ? other : main, group),
  );
  return {
    id: main.id,
    ended_at: ends.toSorted()[0] ?? null,
    fields: Object.assign({}, ...fields) as LabelFields,
  };
}

function fieldsOf(session: PortableSession, group: Group): LabelFields {
  return Object.fromEntries(
    group.filter((name) => session[name] !== undefined).map((name) => [name, session[name]]),
  );
}

/** Text that is greater for a later change, and the same for the same label in every database. */
function textOf(session: LabelFields, [time, label]: Group): string {
  const value = session[label] ?? "";
  const sorted =
    typeof value === "string"
      ? value
      : Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `${session[time] ?? ""} ${JSON.stringify(sorted)}`;
}

function hasLabels(session: PortableSession, { ended_at, fields }: Labels): boolean {
  return (
    session.ended_at === ended_at &&
    LABELS.every((group) => textOf(session, group) === textOf(fields, group))
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
  for (const { id, ended_at, fields } of labels) {
    const { metadata = {}, ...columns } = fields;
    await tx.db
      .updateTable("sessions")
      .set({ ...NO_LABELS, ...columns })
      .where("id", "=", id)
      .execute();
    await replaceMetadata(tx, id, metadata);
    // the index has what a fork and its archived origin share once
    await indexFamily(tx, id);
    if (ended_at !== null) {
      await endSession(tx, { id });
      await tx.db.updateTable("sessions").set({ ended_at }).where("id", "=", id).execute();
    }
    tx.touch(id);
  }
  return true;
};

const NO_LABELS = {
  name: null,
  named_at: null,
  archived_at: null,
  archive_changed_at: null,
  pinned_at: null,
  pin_changed_at: null,
  metadata_changed_at: null,
} as const;

async function replaceMetadata(tx: Tx, id: string, metadata: Metadata): Promise<void> {
  const before = Object.keys(await readMetadataOf(tx, id)).map((key) => [key, null] as const);
  await storeMetadata(tx, id, { ...Object.fromEntries(before), ...metadata });
}

async function isHeld(tx: Tx, root: string): Promise<boolean> {
  for (const batch of batches(await treeIdsOf(tx, root))) {
    if (await areHeld(tx, batch)) {
      return true;
    }
  }
  return false;
}
