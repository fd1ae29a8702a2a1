import { RepriseError } from "../../core/errors.ts";
import type { SessionTree } from "../../store/portable/export-schema.ts";
import { writeSessionTree } from "../../store/portable/write-tree.ts";
import type { Store, Tx } from "../../store/store.ts";
import { LEFT_ALONE } from "./difference.ts";
import { verifySession } from "./verify-session.ts";

/**
 * Stores what an export holds, in one transaction, and keeps it only if `sessions verify` finds
 * nothing in it: the messages have to be those of the checkpoints. Returns the ids of the sessions,
 * each behind its parent's.
 *
 * Error codes: as `writeSessionTree`; `export_invalid` with the first difference.
 */
export function importTree(store: Store, tree: SessionTree): Promise<readonly string[]> {
  return store.write(
    async (tx, input) => {
      const ids = await writeSessionTree(tx, input);
      for (const id of ids) {
        await refuseDifference(inside(store, tx), id);
      }
      return ids;
    },
    { tree },
  );
}

/** A store that reads what the open transaction has written. */
function inside(store: Store, tx: Tx): Store {
  return { ...store, read: (operation, input) => operation(tx, input) };
}

async function refuseDifference(store: Store, id: string): Promise<void> {
  const difference = await firstDifference(store, id);
  if (difference !== null) {
    throw new RepriseError(
      "export_invalid",
      "The messages of this export are not those of its checkpoints, so nothing was imported; repair the session where it comes from (`reprise sessions repair`) and export it again.",
      { faults: [{ pointer: id, message: difference }] },
    );
  }
}

/** The first thing that `sessions verify` would say of a session; null where it says nothing. */
export async function firstDifference(store: Store, id: string): Promise<string | null> {
  const proven = await verifySession(store, id);
  // what nothing tells the right value of, a session of an older program may have
  const findings = proven.findings.filter(({ kind }) => !LEFT_ALONE.has(kind));
  return findings[0]?.sentence ?? null;
}
