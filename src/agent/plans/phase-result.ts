import type { CheckResult } from "../../core/plan-runs.ts";
import { oneLine } from "../../core/text/terminal-text.ts";
import type { PlannedPhase } from "../../plans/plan-of-run.ts";
import type { StoredAttempt } from "../../store/records/plans/attempt.ts";
import type { StoredPhase } from "../../store/records/plans/phases.ts";
import type { Checked } from "./run-checks.ts";
import type { RunContext } from "./run-context.ts";

/** Reason for which an attempt is not done although its sub-agent has answered. */
export interface Lack {
  readonly code: "artifact_missing" | "check_failed";
  /** For a person. */
  readonly sentence: string;
  /** For the sub-agent, which may correct it. */
  readonly message: string;
}

export interface PhaseResult {
  /** Null if the phase is done. */
  readonly lack: Lack | null;
  /** The checks that were run; null for none. */
  readonly checked: readonly CheckResult[] | null;
}

export interface Answered {
  readonly phase: PlannedPhase;
  readonly row: StoredPhase;
  readonly attempt: StoredAttempt;
  readonly signal: AbortSignal;
}

/** Finds out whether a phase is done whose sub-agent has answered. Error codes: as `RunChecks.run`. */
export async function resultOf(context: RunContext, answered: Answered): Promise<PhaseResult> {
  const missing = await artifactLack(context, answered);
  const { checks } = context;
  if (missing !== null || checks === null || !checks.has(answered.row.key)) {
    return { lack: missing, checked: null };
  }
  const { results, failed } = await checks.run(answered.row, answered.attempt, answered.signal);
  // a check may change files
  const lack = failed === null ? await artifactLack(context, answered) : checkLack(failed);
  return { lack, checked: results };
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

function checkLack({ shown, how, output }: NonNullable<Checked["failed"]>): Lack {
  const command = oneLine(shown);
  return {
    code: "check_failed",
    sentence: `The check \`${command}\` did not pass: ${how}.`,
    message: [
      `This phase is not done: the check \`${command}\`, which you cannot change, did not pass (${how}). Correct the work. The end of its output:`,
      output === "" ? "(it wrote nothing)" : output,
    ].join("\n\n"),
  };
}
