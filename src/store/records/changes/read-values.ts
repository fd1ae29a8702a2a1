import { batches } from "../threads/bodies.ts";
import { readRecordsOf } from "../exchanges/read.ts";
import { readQuestions } from "../questions/read.ts";
import { readSummaryTexts } from "../sessions/summaries.ts";
import type { Operation, Tx } from "../../store.ts";

/** Kind of a change, and the event that a reader gets. */
export type ChangeKind = "created" | "changed" | "deleted" | "exchange" | "question" | "phase";

/** Reads the JSON of each phase of a run, in the order of its plan; none of a run that is gone. */
export type PhaseTexts = Operation<{ readonly session_id: string }, readonly string[]>;

/** A value to read: of a session or a question by its id, of an exchange or a phase by its session and `n`. */
interface Wanted {
  readonly kind: ChangeKind;
  readonly id: string;
  readonly n: number;
}

/** Each with the JSON of its value; without those that are gone. */
export async function readValues<Each extends Wanted>(
  tx: Tx,
  wanted: readonly Each[],
  readPhases: PhaseTexts,
): Promise<(Each & { readonly json: string })[]> {
  const ofKind = (...kinds: ChangeKind[]): readonly Each[] =>
    wanted.filter(({ kind }) => kinds.includes(kind));
  const changed = ofKind("created", "changed").map(({ id }) => id);
  const summaries = await readSummaryTexts(tx, changed);
  const exchanges = new Map<string, string>();
  for (const batch of batches(ofKind("exchange"))) {
    for (const record of await readRecordsOf(tx, batch)) {
      exchanges.set(`${record.session_id} ${record.n}`, JSON.stringify(record));
    }
  }
  const questions = new Map<string, string>();
  for (const batch of batches(ofKind("question"))) {
    for (const question of await readQuestions(
      tx,
      batch.map(({ id }) => id),
    )) {
      questions.set(question.id, JSON.stringify(question));
    }
  }
  const phases = new Map<string, readonly string[]>();
  for (const session_id of new Set(ofKind("phase").map(({ id }) => id))) {
    phases.set(session_id, await readPhases(tx, { session_id }));
  }
  const jsonOf = ({ kind, id, n }: Wanted): string | undefined => {
    switch (kind) {
      case "created":
      case "changed":
        return summaries.get(id);
      case "deleted":
        return JSON.stringify({ id });
      case "exchange":
        return exchanges.get(`${id} ${n}`);
      case "question":
        return questions.get(id);
      case "phase":
        return phases.get(id)?.[n];
    }
  };
  return wanted.flatMap((each) => {
    const json = jsonOf(each);
    return json === undefined ? [] : [{ ...each, json }];
  });
}
