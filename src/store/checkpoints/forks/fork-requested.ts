import type { SessionSummary } from "../../../core/schemas/schemas.ts";
import { resolveSession } from "../../records/sessions/read.ts";
import { readSummary } from "../../records/sessions/summaries.ts";
import type { Operation } from "../../store.ts";
import { type ForkSession, forkSession } from "./fork-session.ts";

export interface ForkRequested extends Omit<ForkSession, "session_id"> {
  /** An id, or its first 6 or more characters. */
  readonly reference: string;
}

/** As `forkSession`, with the fork as the API shows it. Error codes: also `ambiguous_id`. */
export const forkRequested: Operation<ForkRequested, SessionSummary> = async (
  tx,
  { reference, ...input },
) => {
  const { id: session_id } = await resolveSession(tx, { reference });
  return readSummary(tx, await forkSession(tx, { ...input, session_id }));
};
