import { DatabaseSync } from "node:sqlite";

import { makeEmptyFile } from "./empty-file.ts";

/** Makes a file with `sessions` empty sessions and some ballast: of an older version for a program of a later one. */
export async function makeOlderDatabase(
  path: string,
  { sessions = 3, ballastBytes = 0 } = {},
): Promise<void> {
  await makeEmptyFile(path);
  const raw = new DatabaseSync(path);
  for (let index = 0; index < sessions; index += 1) {
    raw
      .prepare("INSERT INTO sessions (id, root_session_id, title) VALUES (?1, ?1, ?2)")
      .run(`0000000${index}-0000-4000-8000-000000000000`, "x".repeat(ballastBytes / sessions));
  }
  raw.close();
}

export interface FoundTables {
  readonly version: unknown;
  readonly sessions: unknown;
  readonly integrity: unknown;
}

/** What a file holds, read by SQLite alone. */
export function readTables(path: string): FoundTables {
  const raw = new DatabaseSync(path, { readOnly: true });
  try {
    const value = (query: string): unknown => Object.values(raw.prepare(query).get() ?? {})[0];
    return {
      version: value("PRAGMA user_version"),
      sessions: value("SELECT count(*) FROM sessions"),
      integrity: value("PRAGMA integrity_check"),
    };
  } finally {
    raw.close();
  }
}
