import { RepriseError } from "../../core/errors.ts";
import type { Operation } from "../store.ts";
import { checksumOf } from "./checksum.ts";
import type { SessionTree } from "./export-schema.ts";
import { readSessionTree } from "./read-tree.ts";
import { writeTree } from "./write-tree.ts";

export interface CopyTree {
  /** One that `readWatchedTree` gave: a session that is nobody's sub-agent. */
  readonly tree: SessionTree;
  /** Its `checksumOf`. */
  readonly sha256: string;
}

/**
 * Stores a session as it is elsewhere, with its sub-agents, reads all of it again in the same
 * transaction and keeps it only if that has the same checksum. One that is there already with the
 * same checksum is left alone: `present`.
 *
 * Error codes: `session_exists` where one that differs has the id of one of them; `internal` where
 * the database gives back something else than it was given.
 */
export const copyTree: Operation<CopyTree, "copied" | "present"> = async (tx, { tree, sha256 }) => {
  const { id } = tree.session;
  const found = await tx.db
    .selectFrom("sessions")
    .select("id")
    .where("id", "=", id)
    .executeTakeFirst();
  if (found !== undefined) {
    if (checksumOf(await readSessionTree(tx, { id })) === sha256) {
      return "present";
    }
    throw new RepriseError(
      "session_exists",
      "The target has another session under this id, or has gone on with it, so it was left as it is; delete it there if the source's is the right one, and copy again.",
    );
  }
  await writeTree(tx, tree);
  if (checksumOf(await readSessionTree(tx, { id })) !== sha256) {
    throw new RepriseError(
      "internal",
      "The target gives this session back otherwise than it was given it, so nothing of it was kept there; report it.",
    );
  }
  return "copied";
};
