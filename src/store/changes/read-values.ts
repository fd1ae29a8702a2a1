import type { Include } from "../../core/labels.ts";
import { batches } from "../checkpoints/bodies.ts";
import { readRecordsOf } from "../exchanges/read.ts";
import { readQuestions } from "../questions/read.ts";
import { members, readIncluded } from "../sessions/included.ts";
import { summaryColumns, summaryText } from "../sessions/rows.ts";
import type { Tx } from "../store.ts";

/** What a change says, and the event that a reader gets. */
export type ChangeKind = "created" | "changed" | "deleted" | "exchange" | "question";

/** A value to read: of a session or a question by its id, of an exchange by its session and `n`. */
interface Wanted {
  readonly kind: ChangeKind;
  readonly id: string;
  readonly n: number;
}

/** Each with the JSON of its value; without those that are gone. */
export async function readValues<Each extends Wanted>(
  tx: Tx,
  wanted: readonly Each[],
  include: Include | undefined,
): Promise<(Each & { readonly json: string })[]> {
  const ofKind = (...kinds: ChangeKind[]): readonly Each[] =>
    wanted.filter(({ kind }) => kinds.includes(kind));
  const summaries = new Map<string, string>();
  for (const batch of batches(ofKind("created", "changed"))) {
    await addSummaries(tx, { ids: batch.map(({ id }) => id), include, summaries });
  }
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
    }
  };
  return wanted.flatMap((each) => {
    const json = jsonOf(each);
    return json === undefined ? [] : [{ ...each, json }];
  });
}

interface Summaries {
  readonly ids: readonly string[];
  readonly include: Include | undefined;
  /** By id; they are added to it. */
  readonly summaries: Map<string, string>;
}

/** The same as the list of sessions has. */
async function addSummaries(tx: Tx, { ids, include, summaries }: Summaries): Promise<void> {
  const rows = await tx.db
    .selectFrom("sessions")
    .select([...summaryColumns(tx), "id"])
    .where("id", "in", ids)
    .execute();
  const more = include === undefined ? null : await readIncluded(tx, ids, include);
  for (const row of rows) {
    const text = summaryText(row);
    summaries.set(
      row.id,
      more === null ? text : `${text.slice(0, -1)}${members(more.get(row.id) ?? {})}}`,
    );
  }
}
