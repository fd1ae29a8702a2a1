import { RepriseError } from "../../core/errors.ts";
import type { Caller } from "../../core/origins.ts";
import type { Session } from "../../core/sessions.ts";
import type { Operation } from "../store.ts";
import { refuseEnded } from "./change.ts";
import { lockSession } from "./lock.ts";
import { readSession } from "./read.ts";
import { recordChanges } from "./record-changes.ts";

export interface TakeFolder {
  readonly id: string;
  /** Absolute. */
  readonly repo_path: string;
  /** See `projectKeyOf`. */
  readonly project_key: string;
  readonly caller: Caller;
}

/**
 * Gives a session that began without a folder one. It keeps it: of two that take one at the same
 * moment the second is refused.
 *
 * Error codes: `session_not_found`, `session_ended`; `invalid_usage` if it has another folder.
 */
export const takeFolder: Operation<TakeFolder, Session> = async (tx, input) => {
  const { id, repo_path, project_key, caller } = input;
  await lockSession(tx, id);
  const session = await readSession(tx, { id });
  refuseEnded(session);
  if (session.repo_path !== null) {
    if (session.project_key === project_key) {
      return session;
    }
    throw otherFolder();
  }
  await tx.db
    .updateTable("sessions")
    .set({ repo_path, project_key })
    .where("id", "=", id)
    .execute();
  await recordChanges(tx, { session_id: id, caller, changes: { repo_path } });
  tx.touch(id);
  return readSession(tx, { id });
};

export function otherFolder(): RepriseError {
  return new RepriseError(
    "invalid_usage",
    "A session keeps the folder that it began with; leave --repo out, or begin a new session there.",
  );
}
