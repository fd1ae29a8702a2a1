import type { PlannedPhase } from "../../plans/plan-of-run.ts";
import type { StoredAttempt } from "../../store/records/plans/attempt.ts";
import type { RunContext } from "./run-context.ts";

/** Why an attempt whose sub-agent has answered is not done. */
export interface Lack {
  readonly code: "artifact_missing" | "check_failed";
  /** For a person. */
  readonly sentence: string;
  /** For the sub-agent, which may correct it. */
  readonly message: string;
}

export interface Answered {
  readonly phase: PlannedPhase;
  readonly attempt: StoredAttempt;
}

/** Returns what the result of a phase lacks; null if the phase is done. */
export async function lackOf(context: RunContext, answered: Answered): Promise<Lack | null> {
  return artifactLack(context, answered);
}

/** The file on the disk must be the one that was handed in. */
async function artifactLack(
  { place }: RunContext,
  { phase, attempt }: Answered,
): Promise<Lack | null> {
  const { expected_artifact: artifact } = phase;
  if (artifact === undefined) {
    return null;
  }
  const { path } = artifact;
  const { artifact_hash: hash } = attempt;
  if (hash !== null && hash === (await place.hashOf(path))) {
    return null;
  }
  const isMissing = hash === null;
  return {
    code: "artifact_missing",
    sentence: isMissing
      ? `The artifact ${path} was not handed in.`
      : `The artifact ${path} is not the one that was handed in: it was changed or removed.`,
    message: isMissing
      ? `This phase is not done: its artifact ${path} is missing. Hand in its whole content with hand_in.`
      : `This phase is not done: ${path} was changed or removed after you handed it in. Hand in its whole content once more with hand_in.`,
  };
}
