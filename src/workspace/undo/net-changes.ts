import { type Entry, isSameEntry } from "../../core/files/file-entries.ts";
import type { FileChange } from "../../store/records/file-changes/read.ts";

/** All that an exchange changed at one path. */
export interface NetChange {
  readonly root: string;
  readonly path: string;
  /** Entry before the first change. */
  readonly before: Entry | null;
  /** Entry after the last change. */
  readonly after: Entry | null;
  /** Entries that may be there instead: a process that was killed may not have made its last change. */
  readonly afterwards: readonly (Entry | null)[];
  /** False if something else changed the path between two of these. */
  readonly isWhole: boolean;
  /** In the order in which they were made. */
  readonly changes: readonly FileChange[];
}

/** Sums changes up, path by path, in the order of the first change of each. */
export function netChanges(changes: readonly FileChange[]): NetChange[] {
  const paths = Map.groupBy(changes, ({ root, path }) => `${root}\0${path}`);
  return [...paths.values()].flatMap((rows) => netOf(rows) ?? []);
}

/**
 * A change counts as not made if the next one found what it had found itself: its process was killed before it, or
 * somebody took it back.
 */
function netOf(changes: readonly FileChange[]): NetChange | null {
  const [first] = changes;
  if (first === undefined) {
    return null;
  }
  const { root, path, before } = first;
  let afterwards: readonly (Entry | null)[] = [before];
  let isWhole = true;
  for (const change of changes) {
    const known = [...afterwards, before];
    isWhole &&= known.some((entry) => isSameEntry(entry, change.before));
    afterwards = change.state === "begun" ? [change.after, change.before] : [change.after];
  }
  const [after = null] = afterwards;
  return { root, path, before, after, afterwards, isWhole, changes };
}
