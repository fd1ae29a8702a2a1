import type { Fallback, ModelChoice } from "../../../core/model-settings.ts";
import type { Session } from "../../../core/sessions.ts";
import type { Operation } from "../../store.ts";
import { holdActive } from "./change.ts";
import { readSession } from "./read.ts";

/**
 * Sets what is given of the effort, the cache and the fallback of a session, for its next exchange. Error codes: `session_not_found`,
 * `session_ended`.
 */
export const setModelSettings: Operation<
  { readonly id: string; readonly settings: Partial<ModelChoice> },
  Session
> = async (tx, { id, settings }) => {
  await holdActive(tx, id);
  const { effort, cache, fallback } = settings;
  await tx.db
    .updateTable("sessions")
    .set(({ ref }) => ({
      ...(effort === undefined ? {} : { effort }),
      ...(cache === undefined ? {} : { cache }),
      ...(fallback === undefined ? {} : { fallback: fallbackText(fallback) }),
      // so that it counts as a change of what lists show
      plan_mode: ref("plan_mode"),
    }))
    .where("id", "=", id)
    .execute();
  tx.touch(id);
  return readSession(tx, { id });
};

/** Returns a list of fallbacks as its column has it. */
export function fallbackText(fallback: Fallback | null): string | null {
  return fallback === null ? null : JSON.stringify(fallback);
}
