import { RepriseError } from "../../../core/errors.ts";

/** Why a run cannot be queued again whose open exchange has this state. */
export function whyNoResume(state: string | undefined): RepriseError {
  if (state === "running") {
    return new RepriseError(
      "session_busy",
      "The run is running. Wait until it has ended, or stop it.",
    );
  }
  return new RepriseError(
    "nothing_to_continue",
    state === undefined
      ? "The run has ended, and nothing of it was interrupted. `reprise plan report` shows it."
      : "The run is queued already, so the next free service runs it.",
  );
}
