import { type RawBuilder, sql } from "kysely";

import {
  comparedText,
  documentNumbers,
  hasWords,
  queryGrams,
  type SearchedRole,
  searchedLabels,
  searchedText,
} from "../../../core/search/search.ts";
import { excerptOf } from "../../../core/search/excerpt.ts";
import type { Role } from "../../../core/sessions.ts";
import type { SearchDocumentTable } from "../../tables/search.ts";
import { type Parameter, prepared, type QueryParts } from "../../prepared.ts";
import type { Operation, Tx } from "../../store.ts";
import { rowsThatFit } from "../messages/stream-page.ts";
import { changedSince } from "./index-step.ts";

export interface SearchFilters {
  readonly role?: SearchedRole | undefined;
  /** ISO 8601 in UTC: the earliest time of a message. */
  readonly since?: string | undefined;
  readonly project_key?: string | undefined;
  /** True for what was archived, too: messages by the clear action, and sessions with all of theirs. */
  readonly archived?: boolean | undefined;
}

export interface FindInput extends SearchFilters {
  /** As `searchWords` returns them. */
  readonly words: readonly string[];
  /** Only documents below this number. */
  readonly before: number;
  /** Results, and documents that are read, at most. */
  readonly limit: number;
  readonly documents: number;
}

export interface SearchResult {
  readonly session_id: string;
  /** Null for the name or the title of a session. */
  readonly seq: number | null;
  readonly role: Role | null;
  readonly ts: string;
  /** The name of the session, else its title. */
  readonly title: string | null;
  readonly excerpt: string;
  readonly marks: readonly (readonly [from: number, to: number])[];
}

export interface Found {
  readonly results: readonly SearchResult[];
  /** Documents that were read. */
  readonly documents: number;
  /** The number of the last of them; null if there are no more. */
  readonly next: number | null;
}

/** Finds the messages that have all of the words in some of the documents. Error codes: none. */
export const findMessages: Operation<FindInput, Found> = async (tx, input) => {
  const { candidates } = await readCandidates(tx, input);
  return messagesOf(tx, input, candidates);
};

/**
 * Finds them if nothing has to be done first, which one query says with the documents; else null. Most searches find everything
 * indexed. Error codes: none.
 */
export const findIfIndexed: Operation<FindInput, Found | null> = async (tx, input) => {
  const { isDue, candidates } = await readCandidates(tx, input);
  return isDue ? null : messagesOf(tx, input, candidates);
};

async function messagesOf(
  tx: Tx,
  { words, before, limit, documents: most }: FindInput,
  read: readonly Candidate[],
): Promise<Found> {
  const results: SearchResult[] = [];
  let last = before;
  let documents = 0;
  for (const batch of batchesOf(read)) {
    const texts = await readTexts(tx, batch);
    for (const row of batch) {
      last = row.id;
      documents += 1;
      const text = textOf(row, texts.get(row.id));
      const compared = comparedText(text);
      if (row.bytes === null || !hasWords(compared, words)) {
        continue;
      }
      results.push({
        session_id: row.session_id,
        seq: row.seq === 0 ? null : row.seq,
        role: row.role,
        ts: row.ts ?? row.last_activity_at ?? "",
        title: row.name ?? row.session_title,
        ...excerptOf({ text, compared }, words),
      });
      if (results.length === limit) {
        return { results, documents, next: last };
      }
    }
  }
  return { results, documents, next: read.length < most ? null : (read.at(-1)?.id ?? null) };
}

type Candidate = Awaited<ReturnType<typeof readCandidates>>["candidates"][number];

/** Bytes of a message that is read with its document; longer ones are read after, as many as fit into memory. */
const SHORT_BYTES = 8 * 1024;

interface CandidateValues extends SearchFilters {
  /** What the index is asked for; empty to read all documents. */
  readonly match: string;
  readonly after: number;
  readonly before: number;
  readonly documents: number;
}

/**
 * The documents that may have the words, in the order of results; all of them if the words are too short for the index.
 * `bytes` is null for those that the filters leave out. `isDue` is true if the index may need work before.
 */
async function readCandidates(tx: Tx, { words, before, documents, ...filters }: FindInput) {
  const grams = queryGrams(words);
  const match = grams.length === 0 ? "" : tx.dialect.search.match(grams);
  const { role, since, project_key, archived = false } = filters;
  const { after, end } = documentNumbers(role);
  const rows = await tx.rows(grams.length === 0 ? allCandidates : indexedCandidates, {
    match,
    after,
    before: Math.min(before, end),
    documents,
    role,
    since,
    project_key,
    // each choice is a separate query
    archived: archived || undefined,
  });
  const candidates = rows.flatMap(({ id, session_id, seq, ...row }) =>
    id === null || session_id === null || seq === null ? [] : [{ ...row, id, session_id, seq }],
  );
  return {
    isDue: rows.some(({ changed_at, unmerged }) => changed_at !== null || unmerged !== 0),
    candidates,
  };
}

const OPTIONAL = ["role", "since", "project_key", "archived"] as const;

const indexedCandidates = prepared(
  (parts, given: Parameter<CandidateValues>) =>
    candidatesIn(parts, given, parts.dialect.search.find(findIn(given))),
  OPTIONAL,
);

const allCandidates = prepared((parts, given: Parameter<CandidateValues>) => {
  const { after, before, limit } = findIn(given);
  const all = sql<SearchDocumentTable>`(select id, session_id, seq from search_documents
    where id > ${after} and id < ${before} order by id desc limit ${limit})`;
  return candidatesIn(parts, given, all);
}, OPTIONAL);

function findIn(given: Parameter<CandidateValues>) {
  return {
    match: given("match"),
    after: given("after"),
    before: given("before"),
    limit: given("documents"),
  };
}

/** A row for each document, or one without a document: each has what the index needs. */
function candidatesIn(
  parts: QueryParts,
  given: Parameter<CandidateValues>,
  documents: RawBuilder<SearchDocumentTable>,
) {
  const contentBytes = sql<number>`octet_length(m.content)`;
  const callBytes = sql<number>`octet_length(m.tool_calls)`;
  return (
    parts.db
      .selectFrom("search_state")
      .leftJoin(documents.as("d"), (join) => join.onTrue())
      // a document that the filters leave out has no session or no message
      .leftJoin("sessions as s", (join) =>
        join.onRef("s.id", "=", "d.session_id").on(allOf(sessionFilters(given))),
      )
      .leftJoin("messages as m", (join) =>
        join
          .onRef("m.session_id", "=", "d.session_id")
          .onRef("m.seq", "=", "d.seq")
          .on(allOf(messageFilters(given))),
      )
      .select([
        "search_state.unmerged",
        changedSince(parts).as("changed_at"),
        "d.id",
        "d.session_id",
        "d.seq",
        "m.role",
        "m.ts",
        "s.name",
        "s.title as session_title",
        "s.last_activity_at",
        sql<number | null>`case when s.id is not null and ${passing(given)}
          then coalesce(${contentBytes}, 0) + coalesce(${callBytes}, 0) end`.as("bytes"),
        sql<string | null>`case when ${contentBytes} <= ${sql.lit(SHORT_BYTES)}
          then m.content end`.as("content"),
        sql<string | null>`case when ${callBytes} <= ${sql.lit(SHORT_BYTES)}
          then m.tool_calls end`.as("tool_calls"),
      ])
      .orderBy("d.id", "desc")
  );
}

function sessionFilters(given: Parameter<CandidateValues>): RawBuilder<boolean>[] {
  return [
    ...(given.has("project_key") ? [sql<boolean>`s.project_key = ${given("project_key")}`] : []),
    ...(given.has("archived") ? [] : [sql<boolean>`s.archived_at is null`]),
  ];
}

function messageFilters(given: Parameter<CandidateValues>): RawBuilder<boolean>[] {
  return [
    ...(given.has("role") ? [sql<boolean>`m.role = ${given("role")}`] : []),
    ...(given.has("since") ? [sql<boolean>`m.ts >= ${given("since")}`] : []),
    ...(given.has("archived") ? [] : [sql<boolean>`m.archived = 0`]),
  ];
}

/** A condition: the document is a message that is there, or the labels of a session. */
function passing(given: Parameter<CandidateValues>): RawBuilder<boolean> {
  if (given.has("role")) {
    return sql`m.seq is not null`;
  }
  return given.has("since")
    ? sql`(m.seq is not null or d.seq = 0 and s.last_activity_at >= ${given("since")})`
    : sql`(m.seq is not null or d.seq = 0)`;
}

function allOf(conditions: readonly RawBuilder<boolean>[]): RawBuilder<boolean> {
  return conditions.length === 0 ? sql`1 = 1` : sql`(${sql.join(conditions, sql` and `)})`;
}

/** Bytes of messages that are read at a time. */
const READ_BYTES = 4 * 1024 * 1024;

/** Documents in batches whose texts fit into memory. */
function batchesOf(read: readonly Candidate[]): Candidate[][] {
  const left = [...read];
  const found: Candidate[][] = [];
  while (left.length > 0) {
    const sizes = left.map(({ bytes }) => bytes ?? 0);
    const fitting = rowsThatFit(sizes, { max_rows: left.length, max_bytes: READ_BYTES });
    found.push(left.splice(0, fitting));
  }
  return found;
}

/** The texts of messages that were not read with their documents. */
async function readTexts(tx: Tx, batch: readonly Candidate[]) {
  const long = batch.filter(({ bytes }) => (bytes ?? 0) > SHORT_BYTES);
  const rows =
    long.length === 0
      ? []
      : await tx.db
          .selectFrom("search_documents as d")
          .innerJoin("messages as m", (join) =>
            join.onRef("m.session_id", "=", "d.session_id").onRef("m.seq", "=", "d.seq"),
          )
          .select(["d.id", "m.content", "m.tool_calls"])
          .where(
            "d.id",
            "in",
            long.map(({ id }) => id),
          )
          .execute();
  return new Map(rows.map((row) => [row.id, row]));
}

function textOf(
  row: Candidate,
  long: Pick<Candidate, "content" | "tool_calls"> | undefined,
): string {
  const { content, tool_calls } = long ?? row;
  return row.seq === 0
    ? searchedLabels(row.name, row.session_title)
    : searchedText({ content: content ?? "", tool_calls });
}
