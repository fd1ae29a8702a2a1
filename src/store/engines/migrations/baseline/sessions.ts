import type { Dialect } from "../../../dialect.ts";

/**
 * Sessions and the message mirror. Every column beyond the key has a default: a row that names nothing else is valid.
 * Long texts come last, so that a read of the others does not walk through them.
 */
export function sessionTables({ column, tableOptions, keyedTable }: Dialect): readonly string[] {
  const { key, integer, now, randomId, lowerCase } = column;
  return [
    `CREATE TABLE sessions (
      id ${key} NOT NULL PRIMARY KEY,
      state TEXT NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'ended')),
      persona_name TEXT,
      model TEXT,
      agent TEXT,
      repo_path TEXT,
      project_key TEXT,
      title TEXT,
      name TEXT,
      plan_mode ${integer} NOT NULL DEFAULT 0 CHECK (plan_mode IN (0, 1)),
      permission_mode TEXT NOT NULL DEFAULT 'ask',
      parent_session_id ${key} REFERENCES sessions (id),
      parent_call_id ${key},
      root_session_id ${key},
      depth ${integer} NOT NULL DEFAULT 0 CHECK (depth BETWEEN 0 AND 3),
      total_input_tokens ${integer} NOT NULL DEFAULT 0,
      input_tokens_ahead ${integer} NOT NULL DEFAULT 0,
      total_output_tokens ${integer} NOT NULL DEFAULT 0,
      exchange_limit ${integer},
      session_limit ${integer},
      tree_limit ${integer},
      thread_suffix ${integer} NOT NULL DEFAULT 0,
      last_seq ${integer} NOT NULL DEFAULT 0,
      cleared_seq ${integer} NOT NULL DEFAULT 0,
      created_at ${key} NOT NULL DEFAULT (${now}),
      last_message_at ${key},
      last_activity_at ${key} GENERATED ALWAYS AS (coalesce(last_message_at, created_at)) STORED,
      archived_at ${key},
      ended_at ${key},
      lease_owner TEXT,
      lease_epoch ${integer} NOT NULL DEFAULT 0,
      lease_expires_at ${key},
      exchange_open ${integer} NOT NULL DEFAULT 0 CHECK (exchange_open IN (0, 1)),
      exchange_count ${integer} NOT NULL DEFAULT 0,
      ready_at ${key},
      origin TEXT,
      authenticated ${integer} NOT NULL DEFAULT 1,
      accepted_at TEXT,
      chosen TEXT,
      create_key TEXT,
      create_request TEXT,
      created_change ${integer} NOT NULL DEFAULT 0,
      changed ${integer} NOT NULL DEFAULT 0,
      failure_code TEXT,
      failure_sentence TEXT,
      permission_rules TEXT
    )${tableOptions}`,
    // the orders and filters of the list
    `CREATE INDEX sessions_by_activity ON sessions (last_activity_at, id)`,
    `CREATE INDEX sessions_by_creation ON sessions (created_at, id)`,
    `CREATE INDEX sessions_by_state ON sessions (state, last_activity_at, id)`,
    `CREATE INDEX sessions_by_project ON sessions (project_key, last_activity_at, id)`,
    ...["last_activity_at", "created_at"].map(
      (time) =>
        `CREATE INDEX sessions_archived_by_${time} ON sessions (${time}, id) WHERE archived_at IS NOT NULL`,
    ),
    ...["name", "title"].map(
      (name) =>
        `CREATE INDEX sessions_by_${name} ON sessions ((${lowerCase(name)})) WHERE ${name} IS NOT NULL`,
    ),
    // trees
    `CREATE UNIQUE INDEX sessions_by_parent ON sessions (parent_session_id, parent_call_id)
      WHERE parent_session_id IS NOT NULL`,
    `CREATE INDEX sessions_by_root ON sessions (root_session_id, id)`,
    // finds what runs and what waits, however many sessions there are
    `CREATE INDEX sessions_by_open_exchange ON sessions (exchange_open) WHERE exchange_open = 1`,
    `CREATE INDEX sessions_held ON sessions (id) WHERE lease_owner IS NOT NULL`,
    `CREATE INDEX sessions_ready ON sessions (ready_at, id) WHERE ready_at IS NOT NULL`,
    `CREATE INDEX sessions_by_create_key ON sessions (create_key) WHERE create_key IS NOT NULL`,

    `CREATE TABLE session_metadata (
      session_id ${key} NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
      key ${key} NOT NULL,
      value ${key} NOT NULL,
      PRIMARY KEY (session_id, key)
    )${keyedTable}`,
    `CREATE INDEX session_metadata_by_value ON session_metadata (key, value, session_id)`,

    `CREATE TABLE session_changes (
      session_id ${key} NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
      number ${integer} NOT NULL,
      field TEXT NOT NULL DEFAULT '',
      value TEXT NOT NULL DEFAULT '',
      origin TEXT,
      authenticated ${integer} NOT NULL DEFAULT 1,
      accepted_at TEXT,
      ts ${key} NOT NULL DEFAULT (${now}),
      PRIMARY KEY (session_id, number)
    )${keyedTable}`,

    `CREATE TABLE messages (
      session_id ${key} NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
      seq ${integer} NOT NULL CHECK (seq >= 1),
      message_id ${key} NOT NULL DEFAULT (${randomId}),
      role TEXT NOT NULL DEFAULT 'user' CHECK (role IN ('user', 'assistant', 'tool', 'system')),
      call_id TEXT,
      status TEXT CHECK (status IN ('ok', 'failed', 'unknown', 'denied', 'not_run')),
      token_count ${integer} NOT NULL DEFAULT 0,
      is_summary ${integer} NOT NULL DEFAULT 0 CHECK (is_summary IN (0, 1)),
      archived ${integer} NOT NULL DEFAULT 0 CHECK (archived IN (0, 1)),
      ts ${key} NOT NULL DEFAULT (${now}),
      checkpointed ${integer} NOT NULL DEFAULT 0 CHECK (checkpointed IN (0, 1)),
      idempotency_key ${key},
      origin TEXT,
      authenticated ${integer} NOT NULL DEFAULT 1,
      accepted_at TEXT,
      content TEXT NOT NULL DEFAULT '',
      tool_calls TEXT,
      PRIMARY KEY (session_id, seq),
      UNIQUE (session_id, message_id)
    )${tableOptions}`,
    `CREATE INDEX messages_pending ON messages (session_id, seq)
      WHERE checkpointed = 0 AND archived = 0 AND role = 'user'`,
    `CREATE UNIQUE INDEX messages_by_idempotency_key ON messages (session_id, idempotency_key)
      WHERE idempotency_key IS NOT NULL`,
  ];
}
