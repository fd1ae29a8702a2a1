import type { Migration } from "./migration.ts";

/**
 * Sessions and the message mirror. Every column beyond the key has a default: older rows
 * stay valid.
 */
export const sessions: Migration = {
  version: 1,
  name: "sessions",
  statements: ({ column, tableOptions }) => [
    `CREATE TABLE sessions (
      id ${column.key} NOT NULL PRIMARY KEY,
      state TEXT NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'ended')),
      persona_name TEXT,
      model TEXT,
      repo_path TEXT,
      project_key TEXT,
      title TEXT,
      plan_mode ${column.integer} NOT NULL DEFAULT 0 CHECK (plan_mode IN (0, 1)),
      parent_session_id ${column.key} REFERENCES sessions (id),
      parent_call_id ${column.key},
      depth ${column.integer} NOT NULL DEFAULT 0 CHECK (depth BETWEEN 0 AND 3),
      total_input_tokens ${column.integer} NOT NULL DEFAULT 0,
      total_output_tokens ${column.integer} NOT NULL DEFAULT 0,
      thread_suffix ${column.integer} NOT NULL DEFAULT 0,
      last_seq ${column.integer} NOT NULL DEFAULT 0,
      cleared_seq ${column.integer} NOT NULL DEFAULT 0,
      created_at ${column.key} NOT NULL DEFAULT (${column.now}),
      last_message_at ${column.key},
      last_activity_at ${column.key} GENERATED ALWAYS AS (coalesce(last_message_at, created_at)) STORED,
      ended_at ${column.key},
      lease_owner TEXT,
      lease_epoch ${column.integer} NOT NULL DEFAULT 0,
      lease_expires_at ${column.key},
      exchange_open ${column.integer} NOT NULL DEFAULT 0 CHECK (exchange_open IN (0, 1))
    )${tableOptions}`,
    `CREATE INDEX sessions_by_activity ON sessions (last_activity_at, id)`,
    `CREATE INDEX sessions_by_state ON sessions (state, last_activity_at, id)`,
    `CREATE INDEX sessions_by_project ON sessions (project_key, last_activity_at, id)`,
    `CREATE UNIQUE INDEX sessions_by_parent ON sessions (parent_session_id, parent_call_id)
      WHERE parent_session_id IS NOT NULL`,
    `CREATE TABLE messages (
      session_id ${column.key} NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
      seq ${column.integer} NOT NULL CHECK (seq >= 1),
      message_id ${column.key} NOT NULL DEFAULT (${column.randomId}),
      role TEXT NOT NULL DEFAULT 'user' CHECK (role IN ('user', 'assistant', 'tool', 'system')),
      content TEXT NOT NULL DEFAULT '',
      tool_calls TEXT,
      token_count ${column.integer} NOT NULL DEFAULT 0,
      is_summary ${column.integer} NOT NULL DEFAULT 0 CHECK (is_summary IN (0, 1)),
      archived ${column.integer} NOT NULL DEFAULT 0 CHECK (archived IN (0, 1)),
      ts ${column.key} NOT NULL DEFAULT (${column.now}),
      checkpointed ${column.integer} NOT NULL DEFAULT 0 CHECK (checkpointed IN (0, 1)),
      idempotency_key ${column.key},
      PRIMARY KEY (session_id, seq),
      UNIQUE (session_id, message_id)
    )${tableOptions}`,
    `CREATE INDEX messages_pending ON messages (session_id, seq)
      WHERE checkpointed = 0 AND archived = 0 AND role = 'user'`,
    `CREATE UNIQUE INDEX messages_by_idempotency_key ON messages (session_id, idempotency_key)
      WHERE idempotency_key IS NOT NULL`,
  ],
};
