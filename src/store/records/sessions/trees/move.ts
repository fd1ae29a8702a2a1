import { RepriseError } from "../../../../core/errors.ts";
import { PLAN_AGENT } from "../../../../core/plan-runs.ts";
import type { Principal } from "../../../../core/principal.ts";
import { isRoot } from "../../../../core/session-tree.ts";
import type { Session } from "../../../../core/sessions.ts";
import type { Operation, Tx } from "../../../store.ts";
import { indexFamily } from "../../search/forget.ts";
import { batches } from "../../threads/bodies.ts";
import { refuseEnded } from "../change.ts";
import { holdTree } from "../delete-tree.ts";
import { readSession } from "../read.ts";
import { recordChanges } from "../record-changes.ts";
import { treeIdsOf } from "../tree-ids.ts";

export interface MoveSession {
  readonly id: string;
  /** Absolute, with the key and the id that belong to it: see `projectOfFolder`. */
  readonly repo_path: string;
  readonly project_key: string;
  readonly project_id: string | null;
  readonly principal: Principal;
}

/**
 * Gives a session and its sub-agents another folder, all or nothing. What a person allowed was allowed in the old
 * folder: the mode is `ask` again and given rules are gone. Changes of files keep the folder in which they were made,
 * so undo finds them there.
 *
 * Error codes: `session_not_found`, `session_ended`; `session_busy` while an exchange of one of them runs, waits or is
 * queued; `invalid_usage` for a sub-agent and for the run of a plan.
 */
export const moveSession: Operation<MoveSession, Session> = async (tx, input) => {
  const { id, repo_path, project_key, project_id, principal } = input;
  await holdTree(tx, id);
  const session = await readSession(tx, { id });
  refuseEnded(session);
  refuseOthers(session);
  const ids = await treeIdsOf(tx, id);
  await refuseOpen(tx, ids);
  for (const each of ids) {
    const changed = await tx.db
      .updateTable("sessions")
      .set({ repo_path, project_key, project_id, permission_mode: "ask", permission_rules: null })
      .where("id", "=", each)
      .where("state", "=", "active")
      .returning("id")
      .executeTakeFirst();
    if (changed !== undefined) {
      await indexFamily(tx, each);
      await recordChanges(tx, { session_id: each, principal, changes: { repo_path } });
      tx.touch(each);
    }
  }
  return readSession(tx, { id });
};

function refuseOthers(session: Session): void {
  if (!isRoot(session)) {
    throw new RepriseError(
      "invalid_usage",
      `This session is a sub-agent, and is moved with its parent ${session.parent_session_id ?? ""}.`,
    );
  }
  if (session.agent === PLAN_AGENT) {
    throw new RepriseError(
      "invalid_usage",
      "This session runs a plan, whose files are in its folder. Begin a new run in the other folder.",
    );
  }
}

/** An exchange that is interrupted continues with a new message, so it may move. */
async function refuseOpen(tx: Tx, ids: readonly string[]): Promise<void> {
  for (const batch of batches(ids)) {
    for (const each of batch) {
      const { activity } = await readSession(tx, { id: each });
      if (activity === "running") {
        throw new RepriseError(
          "session_busy",
          "An exchange is running in this session or in one of its sub-agents. Wait until it is done or stop it, then move the session.",
        );
      }
    }
    const open = await tx.db
      .selectFrom("exchanges")
      .select("state")
      .where("session_id", "in", batch)
      .where("state", "in", ["queued", "waiting"])
      .limit(1)
      .executeTakeFirst();
    if (open !== undefined) {
      throw new RepriseError(
        "session_busy",
        open.state === "queued"
          ? "A message of this session is queued. Wait until it was answered or withdraw it, then move the session."
          : "An exchange of this session waits for an answer. Answer its question or stop it, then move the session.",
      );
    }
  }
}
