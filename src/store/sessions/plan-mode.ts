import type { Session } from "../../core/sessions.ts";
import type { Operation } from "../store.ts";
import { refuseEnded } from "./change.ts";
import { lockSession } from "./lock.ts";
import { readSession } from "./read.ts";

/** Turns planning mode on or off. Error codes: `session_not_found`, `session_ended`. */
export const setPlanMode: Operation<
  { readonly id: string; readonly plan_mode: boolean },
  Session
> = async (tx, input) => {
  await lockSession(tx, input.id);
  refuseEnded(await readSession(tx, { id: input.id }));
  await tx.db
    .updateTable("sessions")
    .set({ plan_mode: input.plan_mode ? 1 : 0 })
    .where("id", "=", input.id)
    .execute();
  return readSession(tx, { id: input.id });
};
