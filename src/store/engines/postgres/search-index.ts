import { sql } from "kysely";

import { gramsOf } from "../../../core/search/search.ts";
import type { SearchIndex } from "../../dialect.ts";
import { SERVER_LIFE } from "./server-life.ts";

/**
 * The trigrams of each document as numbers, in a GIN index: `pg_trgm` leaves out letters that the database's collation does not know,
 * all but those of ASCII if it is `C`, and not every role may create an extension.
 */
export const postgresSearchIndex: SearchIndex = {
  columns: ", grams INTEGER[] NOT NULL",
  statements: [
    // a search reads all that waits to be merged into the index: 4 MB by default take 10 ms
    `CREATE INDEX search_documents_by_gram ON search_documents USING gin (grams)
      WITH (gin_pending_list_limit = 256)`,
  ],
  server: sql<string>`${sql.raw(SERVER_LIFE)}`,
  store: async (db, documents) => {
    const rows = documents.map(
      ({ id, session_id, seq, text }) =>
        sql`(${id}::bigint, ${session_id}, ${seq}::bigint, ${numbersOf(gramsOf(text))}::integer[])`,
    );
    await sql`insert into search_documents (id, session_id, seq, grams) values ${sql.join(rows)}`.execute(
      db,
    );
  },
  match: (grams) => numbersOf(new Set(grams)),
  find: ({ match, after, before, limit }) => sql`(
    select id, session_id, seq from search_documents
    where grams @> ${match}::integer[] and id > ${after}::bigint and id < ${before}::bigint
    order by id desc limit ${limit}::bigint)`,
  merge: () => Promise.resolve(false),
};

/** An array of PostgreSQL. Two trigrams of one number only make the index find more, which is read and compared. */
function numbersOf(grams: ReadonlySet<string>): string {
  return `{${[...new Set(Array.from(grams, numberOf))].join(",")}}`;
}

/** FNV-1a of the code points. */
function numberOf(gram: string): number {
  let hash = 0x811c9dc5;
  for (const character of gram) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  }
  return hash | 0;
}
