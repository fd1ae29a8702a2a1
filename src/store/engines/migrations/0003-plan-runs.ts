import type { Migration } from "./migration.ts";

/** Runs of plans, and what became of their phases. */
export const planRuns: Migration = {
  version: 3,
  name: "plan runs",
  statements: ({ column, tableOptions, keyedTable, numberedPhases }) => {
    const { key, integer } = column;
    return [
      `CREATE TABLE plan_runs (
        session_id ${key} NOT NULL PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
        project_key ${key} NOT NULL,
        run_id ${key} NOT NULL,
        number ${integer} NOT NULL,
        plan TEXT NOT NULL,
        plan_hash ${key} NOT NULL,
        path TEXT,
        checks TEXT,
        checks_accepted ${integer} NOT NULL,
        options TEXT NOT NULL,
        UNIQUE (project_key, run_id, number)
      )${tableOptions}`,
      `CREATE TABLE plan_phases (
        session_id ${key} NOT NULL REFERENCES plan_runs (session_id) ON DELETE CASCADE,
        key ${key} NOT NULL,
        position ${integer} NOT NULL,
        state ${key} NOT NULL CHECK (state IN ('waiting', 'approval', 'running', 'done', 'failed', 'refused')),
        attempt ${integer} NOT NULL,
        approved ${integer} NOT NULL,
        artifact_hash ${key},
        checked TEXT,
        error_code TEXT,
        error_sentence TEXT,
        begun_at ${key},
        ended_at ${key},
        changed ${integer} NOT NULL DEFAULT 0,
        PRIMARY KEY (session_id, key)
      )${keyedTable}`,
      `CREATE INDEX plan_phases_changed ON plan_phases (changed) WHERE changed > 0`,
      ...numberedPhases,
    ];
  },
};
