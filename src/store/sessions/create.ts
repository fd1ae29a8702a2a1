import { newId } from "../../core/ids.ts";
import type { Session } from "../../core/sessions.ts";
import { RepriseError } from "../../core/errors.ts";
import { MAX_DEPTH } from "../../core/limits.ts";
import type { Operation } from "../store.ts";
import { readSession } from "./read.ts";

export interface NewSession {
  /** A full id that the caller chose; a fresh one where none is given. */
  readonly id?: string;
  readonly persona_name?: string | null;
  readonly model?: string | null;
  /** Absolute. `project_key` belongs to it: see `projectKeyOf`. */
  readonly repo_path?: string | null;
  readonly project_key?: string | null;
  readonly plan_mode?: boolean;
  readonly parent_session_id?: string | null;
  /** 0..3; refused beyond with `depth_exceeded`. */
  readonly depth?: number;
}

/** Inserts a session without messages and returns it. */
export const createSession: Operation<NewSession, Session> = async (tx, input) => {
  const { plan_mode, id: chosen, ...columns } = input;
  if ((input.depth ?? 0) > MAX_DEPTH) {
    throw new RepriseError(
      "depth_exceeded",
      `Sub-agents may be nested ${MAX_DEPTH} deep at most; let the parent do this task itself.`,
    );
  }
  const id = chosen ?? newId();
  await tx.db
    .insertInto("sessions")
    .values({ ...columns, id, plan_mode: plan_mode === true ? 1 : 0 })
    .execute();
  tx.touch(id);
  return readSession(tx, { id });
};
