import { RepriseError } from "../../../core/errors.ts";
import type { ReadOnlyStore } from "../../store.ts";
import type { SessionTree } from "../export-schema.ts";
import { commonLength } from "./compare-trees.ts";
import { idsOf, readHistory } from "./history.ts";
import { type KeptFork, keptFork } from "./kept-fork.ts";
import { readDeleted, refuseTaken } from "./outline.ts";

/** A database in which a fork may be. */
type Side = Pick<ReadOnlyStore, "read"> & { readonly name: string };

interface ForkSides {
  readonly here: Side;
  readonly there: Side;
  /** The time at which exchanges count as stopped that were never begun. */
  readonly now: string;
  /** Called with the id of a fork that one of them lacks. */
  readonly onFork: (id: string) => void;
}

/** The fork for the history that loses the id. */
export interface FoundFork {
  readonly kept: KeptFork;
  /** True if it was deleted in one of them: its id says exactly which history somebody deleted. */
  readonly isDeleted: boolean;
}

/**
 * Finds the fork for the history that loses the id. One that is there already may have been continued, and is taken as
 * it is.
 *
 * Error codes: `session_exists`.
 */
export async function findFork(
  input: ForkSides,
  lost: SessionTree,
  main: SessionTree,
): Promise<FoundFork> {
  const kept = keptFork(lost, main);
  const { id } = kept.tree.session;
  const found: SessionTree[] = [];
  for (const side of [input.here, input.there]) {
    await side.read(refuseTaken, { ids: idsOf(kept.tree), root: id });
    if ((await side.read(readDeleted, [id])).size > 0) {
      return { kept, isDeleted: true };
    }
    const history = await readHistory(side, { id, now: input.now });
    found.push(...(history === null ? [] : [history.tree]));
    if (history !== null && commonLength(kept.tree, history.tree) < kept.tree.messages.length) {
      throw new RepriseError(
        "session_exists",
        `The two histories of this session went apart, and ${side.name} has another session with the id of the fork for one of them. Delete it.`,
      );
    }
  }
  if (found.length < 2) {
    input.onFork(id);
  }
  return { kept: { ...kept, tree: found[0] ?? kept.tree }, isDeleted: false };
}

/**
 * Refuses to take a pinned session's history away.
 *
 * Error codes: `session_exists`.
 */
export function refusePinned({ name }: Side, lost: SessionTree, kept: KeptFork): void {
  if (lost.session.pinned_at !== undefined) {
    throw new RepriseError(
      "session_exists",
      `The history that ${name} has of this session was deleted as the fork ${kept.tree.session.id}, and is pinned in ${name}. Unpin it to delete it there, too.`,
    );
  }
}
