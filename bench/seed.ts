import { DatabaseSync } from "node:sqlite";

import { makeDatabase } from "./services.ts";

export interface Seed {
  readonly sessions: number;
  /** Messages of each session. */
  readonly messages: number;
}

const MESSAGE_BYTES = 200;

/** 1 to the first parameter. */
const SERIES =
  "series(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM series WHERE value < ?1)";

/** Makes a database with sessions that were talked in, each in a different order. */
export async function makeSeeded(path: string, { sessions, messages }: Seed): Promise<string> {
  await makeDatabase(path);
  const db = new DatabaseSync(path);
  try {
    db.exec("PRAGMA synchronous = OFF; PRAGMA cache_size = -200000; BEGIN");
    db.prepare(
      `WITH RECURSIVE ${SERIES} INSERT INTO sessions (id, title, model, persona_name, repo_path, project_key, last_seq,
          created_at, last_message_at)
        SELECT printf('%08x-0000-4000-8000-%012x', (value * 2654435761) % 4294967296, value),
          'A question about part ' || value || ' of the work', 'demo:demo', 'assistant',
          '/home/somebody/projects/part-' || value, printf('%016x', value), ?2,
          '2026-01-01T00:00:00.000Z',
          strftime('%Y-%m-%dT%H:%M:%fZ', '2026-01-02', ((value * 7919) % ?1) || ' seconds')
        FROM series`,
    ).run(sessions, messages);
    db.exec("UPDATE sessions SET root_session_id = id");
    db.prepare(
      `WITH RECURSIVE ${SERIES} INSERT INTO messages (session_id, seq, message_id, role, content, token_count, checkpointed)
        SELECT id, value, printf('%08x-0000-4000-9000-%012x', value, sessions.rowid),
          iif(value % 2 = 1, 'user', 'assistant'), printf('%-${MESSAGE_BYTES}s', 'message ' || value),
          ${MESSAGE_BYTES / 4}, 1
        FROM sessions, series ORDER BY id, value`,
    ).run(messages);
    db.exec("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)");
  } finally {
    db.close();
  }
  return path;
}

/** Ids of sessions that lie far from one another in the database. */
export function someIds(path: string, count: number): string[] {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    const rows = db.prepare("SELECT id FROM sessions ORDER BY rowid LIMIT 10000").all();
    const ids = rows.map(({ id }) => String(id));
    const step = Math.max(1, Math.floor(ids.length / count));
    return ids.filter((_, index) => index % step === 0);
  } finally {
    db.close();
  }
}
