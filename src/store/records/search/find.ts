import { sql } from "kysely";

import {
  comparedText,
  hasWords,
  queryGrams,
  type SearchedRole,
  searchedLabels,
  searchedText,
} from "../../../core/search/search.ts";
import { excerptOf } from "../../../core/search/excerpt.ts";
import type { Role } from "../../../core/sessions.ts";
import type { SearchDocumentTable } from "../../tables/search.ts";
import type { Operation, Tx } from "../../store.ts";
import { rowsThatFit } from "../messages/stream-page.ts";

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
  const { words, before, limit } = input;
  const candidates = await candidatesOf(tx, input);
  const results: SearchResult[] = [];
  let last = before;
  let documents = 0;
  for (const batch of await readable(tx, candidates, input)) {
    const rows = new Map((await readTexts(tx, batch)).map((row) => [row.id, row]));
    for (const { id, seq } of batch) {
      const row = rows.get(id);
      last = id;
      documents += 1;
      if (row === undefined) {
        continue;
      }
      const text =
        seq === 0
          ? searchedLabels(row.name, row.session_title)
          : searchedText({ content: row.content ?? "", tool_calls: row.tool_calls });
      if (!hasWords(comparedText(text), words)) {
        continue;
      }
      results.push({
        session_id: row.session_id,
        seq: seq === 0 ? null : seq,
        role: row.role,
        ts: row.ts ?? row.last_activity_at,
        title: row.name ?? row.session_title,
        ...excerptOf(text, words),
      });
      if (results.length === limit) {
        return { results, documents, next: last };
      }
    }
  }
  const isEnd = candidates.length < input.documents;
  return {
    results,
    documents: candidates.length,
    next: isEnd ? null : (candidates.at(-1)?.id ?? null),
  };
};

/** The documents that may have the words; all of them if the words are too short for the index. */
function candidatesOf(
  tx: Tx,
  { words, before, documents: limit }: FindInput,
): Promise<readonly SearchDocumentTable[]> {
  const grams = queryGrams(words);
  return grams.length > 0
    ? tx.dialect.search.find(tx.db, { grams, before, limit })
    : tx.db
        .selectFrom("search_documents")
        .select(["id", "session_id", "seq"])
        .where("id", "<", before)
        .orderBy("id", "desc")
        .limit(limit)
        .execute();
}

/** Bytes of messages that are read at a time. */
const READ_BYTES = 4 * 1024 * 1024;

/** Documents that pass the filters, in batches that fit into memory. */
async function readable(
  tx: Tx,
  candidates: readonly SearchDocumentTable[],
  filters: SearchFilters,
): Promise<SearchDocumentTable[][]> {
  if (candidates.length === 0) {
    return [];
  }
  const { role, since, project_key, archived = false } = filters;
  let query = documentRows(tx, candidates).select([
    "d.id",
    sql<number>`coalesce(octet_length(m.content), 0) + coalesce(octet_length(m.tool_calls), 0)`.as(
      "bytes",
    ),
  ]);
  if (role !== undefined) {
    query = query.where("m.role", "=", role);
  }
  if (since !== undefined) {
    query = query.where(({ eb, fn }) => eb(fn.coalesce("m.ts", "s.last_activity_at"), ">=", since));
  }
  if (project_key !== undefined) {
    query = query.where("s.project_key", "=", project_key);
  }
  if (!archived) {
    query = query
      .where("s.archived_at", "is", null)
      .where(({ eb, fn }) => eb(fn.coalesce("m.archived", sql.lit(0)), "=", 0));
  }
  const bytes = new Map((await query.execute()).map((row) => [row.id, row.bytes]));
  const passing = candidates.filter(({ id }) => bytes.has(id));
  const found: SearchDocumentTable[][] = [];
  while (passing.length > 0) {
    const sizes = passing.map(({ id }) => bytes.get(id) ?? 0);
    const fitting = rowsThatFit(sizes, { max_rows: passing.length, max_bytes: READ_BYTES });
    found.push(passing.splice(0, fitting));
  }
  return found;
}

function documentRows({ db }: Tx, documents: readonly SearchDocumentTable[]) {
  return db
    .selectFrom("search_documents as d")
    .innerJoin("sessions as s", "s.id", "d.session_id")
    .leftJoin("messages as m", (join) =>
      join.onRef("m.session_id", "=", "d.session_id").onRef("m.seq", "=", "d.seq"),
    )
    .where(
      "d.id",
      "in",
      documents.map(({ id }) => id),
    )
    .where(({ or, eb }) => or([eb("d.seq", "=", 0), eb("m.seq", "is not", null)]));
}

function readTexts(tx: Tx, documents: readonly SearchDocumentTable[]) {
  return documentRows(tx, documents)
    .select([
      "d.id",
      "d.session_id",
      "m.role",
      "m.ts",
      "m.content",
      "m.tool_calls",
      "s.name",
      "s.title as session_title",
      "s.last_activity_at",
    ])
    .execute();
}
