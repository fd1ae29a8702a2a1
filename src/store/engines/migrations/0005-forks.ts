import type { Migration } from "./migration.ts";

/** Sessions that continue from a message of another one, and threads that refer to the bodies and lists of others. */
export const forks: Migration = {
  version: 5,
  name: "forks",
  statements: ({ column, keyedTable }) => {
    const { key, integer } = column;
    return [
      `ALTER TABLE sessions ADD COLUMN forked_from_session_id ${key}`,
      `ALTER TABLE sessions ADD COLUMN forked_from_seq ${integer}`,
      `CREATE INDEX sessions_by_origin ON sessions (forked_from_session_id)
        WHERE forked_from_session_id IS NOT NULL`,
      `CREATE TABLE families (
        thread ${integer} NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
        owner ${integer} NOT NULL REFERENCES threads (id),
        last_body ${integer} NOT NULL,
        last_list ${integer} NOT NULL,
        PRIMARY KEY (thread, owner)
      )${keyedTable}`,
      `CREATE INDEX families_by_owner ON families (owner)`,
    ];
  },
};
