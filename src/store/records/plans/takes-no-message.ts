import { RepriseError } from "../../../core/errors.ts";

/** Refuses a message to the session of a run: no model reads there. */
export function runTakesNoMessage(): RepriseError {
  return new RepriseError(
    "run_takes_no_message",
    "This session runs a plan, so no model would read the message. Continue the run with `reprise plan resume`, or write to the session of one of its phases once the run has ended.",
  );
}
