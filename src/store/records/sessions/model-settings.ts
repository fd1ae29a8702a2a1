import type { ModelChoice } from "../../../core/model-settings.ts";
import type { Session } from "../../../core/sessions.ts";
import type { Operation } from "../../store.ts";
import { holdActive } from "./change.ts";
import { readSession } from "./read.ts";

/**
 * Sets what is given of the effort and the cache of a session, for its next exchange. Error codes: `session_not_found`,
 * `session_ended`.
 */
export const setModelSettings: Operation<
  { readonly id: string; readonly settings: Partial<ModelChoice> },
  Session
> = async (tx, { id, settings }) => {
  await holdActive(tx, id);
  const { effort, cache } = settings;
  await tx.db
    .updateTable("sessions")
    .set(({ ref }) => ({
      ...(effort === undefined ? {} : { effort }),
      ...(cache === undefined ? {} : { cache }),
      // so that it counts as a change of what lists show
      plan_mode: ref("plan_mode"),
    }))
    .where("id", "=", id)
    .execute();
  tx.touch(id);
  return readSession(tx, { id });
};
