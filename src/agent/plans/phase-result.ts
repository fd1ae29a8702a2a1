import { oneLine } from "../../core/text/terminal-text.ts";
import type { PlannedPhase } from "../../plans/plan-of-run.ts";
import type { StoredAttempt } from "../../store/records/plans/attempt.ts";
import { keepChecked, type StoredPhase } from "../../store/records/plans/phases.ts";
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

export interface Answered {
  readonly phase: PlannedPhase;
  readonly row: StoredPhase;
  readonly attempt: StoredAttempt;
  readonly signal: AbortSignal;
}

/**
 * Finds out what a phase lacks whose sub-agent has answered; null if it is done. What its checks did is stored.
 *
 * Error codes: as `RunChecks.run` and `keepChecked`.
 */
export async function lackOf(context: RunContext, answered: Answered): Promise<Lack | null> {
  const missing = await artifactLack(context, answered);
  const { checks, store, thread } = context;
  const { row, attempt, signal } = answered;
  const { key } = row;
  if (missing !== null || checks === null || !checks.has(key)) {
    return missing;
  }
  const { results, failed } = await checks.run(row, attempt, signal);
  const checked = {
    attempt: row.attempt,
    corrections: attempt.prompts - 1,
    artifact_hash: attempt.artifact_hash,
    commands: results,
  };
  await store.write(keepChecked, { fence: thread.held.fence, key, checked });
  // a check may change files
  return failed === null ? artifactLack(context, answered) : checkLack(failed);
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
  const shown = oneLine(path);
  return {
    code: "artifact_missing",
    sentence: isMissing
      ? `The artifact ${shown} was not handed in.`
      : `The artifact ${shown} is not the one that was handed in: it was changed or removed.`,
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
