import { type Expression, type Selectable, sql } from "kysely";

import { RepriseError } from "../../../core/errors.ts";
import { type AskedPermission, type Choice, QUESTION_FIELDS } from "../../../core/questions.ts";
import type { QuestionRecord } from "../../../core/sessions.ts";
import { columnNames, fieldReader } from "../../columns.ts";
import { type Parameter, prepared, type QueryParts } from "../../prepared.ts";
import type { QuestionTable } from "../../tables/questions.ts";
import { resolveSession } from "../sessions/read.ts";
import type { Operation, Tx } from "../../store.ts";
import type { AskingCall } from "./ask.ts";
import { pathTo, withinDelegation } from "./tree.ts";

const { answered_who: _who, choice: _choice, ...stored } = QUESTION_FIELDS;
const NAMES = columnNames(stored);
interface QuestionRow extends Pick<Selectable<QuestionTable>, (typeof NAMES)[number]> {
  readonly answered_who: string | null;
}

/** Who answered, if that is known: the consent names the question. */
const ANSWERED_WHO = sql<string | null>`case when questions.state = 'answered' then (
  select max(who) from consents
  where consents.session_id = questions.session_id and consents.kind = 'answer' and subject = questions.id
) end`.as("answered_who");

/** The columns of a question as the program sees it. */
export const QUESTION_COLUMNS = [...NAMES, ANSWERED_WHO] as const;

const choicesOf = ({ choices }: Pick<QuestionRow, "choices">): readonly Choice[] | null =>
  choices === null ? null : (JSON.parse(choices) as Choice[]);

/** A row of `QUESTION_COLUMNS`. */
export const questionOf = fieldReader<typeof QUESTION_FIELDS, QuestionRow>(QUESTION_FIELDS, {
  choices: choicesOf,
  permission: ({ permission }) =>
    permission === null ? null : (JSON.parse(permission) as AskedPermission),
  choice: ({ choices, answer }) => (choices === null ? null : answer),
  answer: (row) => choicesOf(row)?.find(({ id }) => id === row.answer)?.label ?? row.answer,
});

const ASKED = [
  "id",
  "number",
  "shown_hash",
  "text",
  "choices",
  "permission",
  "state",
  "answer",
  "note",
  "answered_by",
  "answered_here",
] as const;

/** Reads what a call has asked, in the order of the numbers. */
export const readAsked: Operation<
  AskingCall,
  readonly Pick<Selectable<QuestionTable>, (typeof ASKED)[number]>[]
> = (tx, { session_id, thread_suffix, call_id }) =>
  tx.db
    .selectFrom("questions")
    .select(ASKED)
    .where("session_id", "=", session_id)
    .where("thread_suffix", "=", thread_suffix)
    .where("call_id", "=", call_id)
    .orderBy("number")
    .execute();

/** The questions of one kind that were asked in a thread, in the order of the numbers. */
export const readAskedInThread: Operation<
  Omit<AskingCall, "call_id"> & { readonly kind: "repeat" | "limit" | "approval" },
  readonly Pick<Selectable<QuestionTable>, "call_id" | (typeof ASKED)[number]>[]
> = (tx, { session_id, thread_suffix, kind }) =>
  tx.db
    .selectFrom("questions")
    .select(["call_id", ...ASKED])
    .where(({ and }) => and({ session_id, thread_suffix, kind }))
    .orderBy("number")
    .execute();

/** A question, as a list of open ones shows it. */
export interface OpenQuestion extends QuestionRecord {
  /** The ids of the sessions from the one that was named down to the one that asks. */
  readonly path: readonly string[];
}

/**
 * Lists what is asked in a session and by its sub-agents, the oldest first.
 *
 * Error codes: as `resolveSession`.
 */
export const listOpenQuestions: Operation<
  { readonly reference: string },
  readonly OpenQuestion[]
> = async (tx, { reference }) => {
  const { id } = await resolveSession(tx, { reference });
  return openQuestionsOf(tx, id);
};

/** As `listOpenQuestions`, of a session that is there. */
export async function openQuestionsOf(tx: Tx, id: string): Promise<OpenQuestion[]> {
  return withPaths(tx, id, await tx.rows(openQuestions, { id }));
}

const openQuestions = prepared((parts, given: Parameter<{ readonly id: string }>) =>
  openWithin(parts, given("id")).select(QUESTION_COLUMNS),
);

async function withPaths(
  tx: Tx,
  top: string,
  rows: readonly QuestionRow[],
): Promise<OpenQuestion[]> {
  const paths = new Map<string, readonly string[]>();
  for (const { session_id } of rows) {
    paths.set(session_id, paths.get(session_id) ?? (await pathTo(tx, session_id, top)));
  }
  return rows.map((row) => ({ ...questionOf(row), path: paths.get(row.session_id) ?? [] }));
}

/** Bytes of the texts that `listOpenQuestions` returns, about. Error codes: as `resolveSession`. */
export const openQuestionBytes: Operation<{ readonly reference: string }, number> = async (
  tx,
  { reference },
) => {
  const { id } = await resolveSession(tx, { reference });
  const sizes = await openWithin(tx, id)
    .select(
      sql<number>`octet_length(text) + coalesce(octet_length(choices), 0) + coalesce(octet_length(permission), 0)`.as(
        "bytes",
      ),
    )
    .execute();
  return sizes.reduce((sum, { bytes }) => sum + bytes, 0);
};

/** Answered questions that a list has, the latest ones. */
const MAX_ANSWERED = 100;

/**
 * Lists the open questions, followed by those that were answered, the latest last.
 *
 * Error codes: as `resolveSession`.
 */
export const listWithAnswered: Operation<
  { readonly reference: string },
  readonly OpenQuestion[]
> = async (tx, { reference }) => {
  const { id } = await resolveSession(tx, { reference });
  const open = await openQuestionsOf(tx, id);
  const rows = await tx.db
    .selectFrom("questions")
    .select(QUESTION_COLUMNS)
    .where("state", "=", "answered")
    .where("session_id", "in", withinDelegation(id))
    .orderBy("answered_at", "desc")
    .orderBy("id")
    .limit(MAX_ANSWERED)
    .execute();
  return [...open, ...(await withPaths(tx, id, rows.toReversed()))];
};

/** The id of the question that is open for longest in a session and below it; null if none is. */
export async function firstOpenQuestion(tx: Tx, id: string): Promise<string | null> {
  const row = await openWithin(tx, id)
    .select("questions.id")
    .where("kind", "!=", "messages")
    .limit(1)
    .executeTakeFirst();
  return row?.id ?? null;
}

/**
 * The id of the last question that was asked in a session or below it.
 *
 * Error codes: as `resolveSession`, `question_not_found`.
 */
export const lastQuestion: Operation<{ readonly reference: string }, string> = async (
  tx,
  { reference },
) => {
  const { id } = await resolveSession(tx, { reference });
  const row = await tx.db
    .selectFrom("questions")
    .select("id")
    .where("session_id", "in", withinDelegation(id))
    .orderBy("asked_at", "desc")
    .limit(1)
    .executeTakeFirst();
  if (row === undefined) {
    throw new RepriseError("question_not_found", "Nothing was asked in this session.");
  }
  return row.id;
};

function openWithin({ db }: Pick<QueryParts, "db">, id: string | Expression<string>) {
  return db
    .selectFrom("questions")
    .where("state", "=", "open")
    .where("session_id", "in", withinDelegation(id))
    .orderBy("asked_at")
    .orderBy("call_id")
    .orderBy("number")
    .orderBy("id");
}

/** How many questions of all sessions nobody has answered. Costs as much as there are such questions. */
export const countOpenQuestions: Operation<null, number> = async (tx) => {
  const { count } = await tx.db
    .selectFrom("questions")
    .select(sql<number>`count(*)`.as("count"))
    .where("state", "=", "open")
    .executeTakeFirstOrThrow();
  return count;
};

/** Reads those of these questions that exist. */
export async function readQuestions(tx: Tx, ids: readonly string[]): Promise<QuestionRecord[]> {
  const rows = await tx.db
    .selectFrom("questions")
    .select(QUESTION_COLUMNS)
    .where("id", "in", ids)
    .execute();
  return rows.map(questionOf);
}

/** Reads a question. Error codes: `question_not_found`. */
export async function readQuestion(tx: Tx, id: string): Promise<QuestionRecord> {
  const row = await tx.db
    .selectFrom("questions")
    .select(QUESTION_COLUMNS)
    .where("id", "=", id)
    .executeTakeFirst();
  if (row === undefined) {
    throw questionNotFound();
  }
  return questionOf(row);
}

export function questionNotFound(): RepriseError {
  return new RepriseError(
    "question_not_found",
    "The session and its sub-agents have no question with this id; list its questions to see them.",
  );
}
