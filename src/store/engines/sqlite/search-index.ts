import { sql } from "kysely";

import type { SearchIndex } from "../../dialect.ts";

/** Pages that one step of a merge writes. */
const MERGE_PAGES = 200;

/**
 * FTS5 without the texts and without positions: that takes a quarter of the bytes, about as many as the texts have, and what it finds
 * is read and compared anyway. A deletion writes one mark; a merge of all then leaves nothing of what was deleted.
 */
export const sqliteSearchIndex: SearchIndex = {
  columns: "",
  statements: [
    `CREATE VIRTUAL TABLE search_index USING fts5 (text, content = '', contentless_delete = 1,
      detail = none, tokenize = 'trigram case_sensitive 1')`,
    `CREATE TRIGGER search_documents_deleted AFTER DELETE ON search_documents BEGIN
      DELETE FROM search_index WHERE rowid = OLD.id;
      UPDATE search_state SET unmerged = 1 WHERE unmerged <> 1;
    END`,
  ],
  server: sql<string>`''`,
  store: async (db, documents) => {
    for (const { id, session_id, seq, text } of documents) {
      await sql`insert into search_documents (id, session_id, seq) values (${id}, ${session_id}, ${seq})`.execute(
        db,
      );
      await sql`insert into search_index (rowid, text) values (${id}, ${text})`.execute(db);
    }
  },
  // a trigram is a text in quotes: nothing in it is an operator
  match: (grams) => grams.map((gram) => `"${gram.replaceAll('"', '""')}"`).join(" AND "),
  find: ({ match, after, before, limit }) => sql`(
    select f.id, f.session_id, f.seq from search_index as i
      cross join search_documents as f on f.id = i.rowid
    where i.search_index match ${match} and i.rowid > ${after} and i.rowid < ${before}
    order by i.rowid desc limit ${limit})`,
  merge: async (db, isFirst) => {
    const changes = async (): Promise<number> => {
      const { rows } = await sql<{ n: number }>`select total_changes() as n`.execute(db);
      return rows[0]?.n ?? 0;
    };
    const before = await changes();
    const pages = isFirst ? -MERGE_PAGES : MERGE_PAGES;
    await sql`insert into search_index (search_index, rank) values ('merge', ${pages})`.execute(db);
    // the documentation of FTS5: fewer than two changes mean that nothing was merged
    return (await changes()) - before >= 2;
  },
};
