import { PLAN_AGENT } from "../../../core/plan-runs.ts";
import type { RunPhase } from "../../../core/schemas/plan-run-schemas.ts";
import { isRepriseError } from "../../../core/errors.ts";
import type { QuestionRecord } from "../../../core/sessions.ts";
import { readQuestion } from "../questions/read.ts";
import type { Operation, Tx } from "../../store.ts";
import { type LiveSnapshot, type ReadLive, readLive } from "./read-live.ts";

export interface ReadLiveFeed extends ReadLive {
  /** Questions that were open when the feed was read before. */
  readonly asked: readonly string[];
  /** Called for a session that runs a plan. */
  readonly readPhases: ReadPhases;
}

/** Reads the phases of a run in the order of its plan; none if it is gone. */
export type ReadPhases = Operation<{ readonly session_id: string }, readonly RunPhase[]>;

export interface LiveFeedSnapshot extends LiveSnapshot {
  /** Questions of `asked` that are not open any more. */
  readonly ended: readonly QuestionRecord[];
  /** Phases of the run; none in a session that runs no plan. */
  readonly phases: readonly RunPhase[];
}

/** As `readLive`, of the same moment. */
export const readLiveFeed: Operation<ReadLiveFeed, LiveFeedSnapshot> = async (tx, input) => {
  const snapshot = await readLive(tx, input);
  const open = new Set(snapshot.questions.map(({ id }) => id));
  const ended: QuestionRecord[] = [];
  for (const id of input.asked.filter((each) => !open.has(each))) {
    ended.push(...(await questionIfThere(tx, id)));
  }
  const isRun = snapshot.session.agent === PLAN_AGENT;
  const phases = isRun ? await input.readPhases(tx, input) : [];
  return { ...snapshot, ended, phases };
};

async function questionIfThere(tx: Tx, id: string): Promise<readonly QuestionRecord[]> {
  try {
    return [await readQuestion(tx, id)];
  } catch (error) {
    if (isRepriseError(error, "question_not_found")) {
      return [];
    }
    throw error;
  }
}
