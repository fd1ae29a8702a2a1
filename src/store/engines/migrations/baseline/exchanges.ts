import type { Dialect } from "../../../dialect.ts";

/**
 * Tables of what happens in sessions: records of exchanges, questions, consents, changed files and the text that is
 * being written.
 */
export function exchangeTables({ column, tableOptions, keyedTable }: Dialect): readonly string[] {
  const { key, integer } = column;
  return [
    `CREATE TABLE exchanges (
      session_id ${key} NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
      n ${integer} NOT NULL,
      id ${key} NOT NULL,
      revision ${integer} NOT NULL DEFAULT 1,
      state TEXT NOT NULL,
      asked_by TEXT NOT NULL,
      parent_n ${integer},
      thread_suffix ${integer},
      epoch ${integer},
      model TEXT,
      persona_name TEXT,
      first_seq ${integer},
      last_seq ${integer},
      input_before ${integer},
      output_before ${integer},
      input_tokens ${integer},
      output_tokens ${integer},
      queued_at ${key},
      begun_at ${key},
      ended_at ${key},
      stop_asked_at ${key},
      attempts ${integer} NOT NULL DEFAULT 0,
      attempts_before ${integer} NOT NULL DEFAULT 0,
      progress ${integer} NOT NULL DEFAULT 0,
      origin TEXT,
      authenticated ${integer} NOT NULL DEFAULT 1,
      idempotency_key ${key},
      request TEXT,
      changed ${integer} NOT NULL DEFAULT 0,
      error_code TEXT,
      error_sentence TEXT,
      content TEXT,
      PRIMARY KEY (session_id, n)
    )${tableOptions}`,
    `CREATE INDEX exchanges_open ON exchanges (session_id, n) WHERE ended_at IS NULL`,
    `CREATE UNIQUE INDEX exchanges_by_key ON exchanges (session_id, idempotency_key)
      WHERE idempotency_key IS NOT NULL`,

    `CREATE TABLE nodes (
      id ${key} NOT NULL PRIMARY KEY,
      agent TEXT,
      folders TEXT NOT NULL,
      seen_at ${key} NOT NULL
    )${keyedTable}`,

    `CREATE TABLE questions (
      session_id ${key} NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
      thread_suffix ${integer} NOT NULL,
      call_id ${key} NOT NULL,
      number ${integer} NOT NULL,
      id ${key} NOT NULL UNIQUE,
      state TEXT NOT NULL,
      kind TEXT NOT NULL,
      shown_hash TEXT NOT NULL,
      default_answer TEXT,
      answer_by ${key},
      asked_at ${key} NOT NULL,
      answered_at ${key},
      answered_by TEXT,
      answered_here ${integer} NOT NULL DEFAULT 0,
      answered_epoch ${integer},
      changed ${integer} NOT NULL DEFAULT 0,
      answer TEXT,
      note TEXT,
      text TEXT NOT NULL,
      choices TEXT,
      permission TEXT,
      PRIMARY KEY (session_id, thread_suffix, call_id, number)
    )${tableOptions}`,
    `CREATE INDEX questions_open ON questions (session_id) WHERE state = 'open'`,
    `CREATE INDEX questions_due ON questions (answer_by)
      WHERE state = 'open' AND answer_by IS NOT NULL`,

    `CREATE TABLE consents (
      session_id ${key} NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
      number ${integer} NOT NULL,
      kind TEXT NOT NULL,
      subject TEXT NOT NULL,
      who TEXT NOT NULL,
      at ${key} NOT NULL,
      PRIMARY KEY (session_id, number)
    )${keyedTable}`,

    `CREATE TABLE file_changes (
      session_id ${key} NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
      number ${integer} NOT NULL,
      n ${integer} NOT NULL,
      call_id ${key} NOT NULL,
      tool TEXT NOT NULL,
      root TEXT NOT NULL,
      path TEXT NOT NULL,
      entry_before TEXT,
      entry_after TEXT,
      state TEXT NOT NULL,
      place TEXT,
      host TEXT NOT NULL,
      ts ${key} NOT NULL,
      undone_at ${key},
      PRIMARY KEY (session_id, number)
    )${tableOptions}`,

    `CREATE TABLE answer_pieces (
      session_id ${key} NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
      message_id ${key} NOT NULL,
      epoch ${integer} NOT NULL,
      position ${integer} NOT NULL,
      n ${integer} NOT NULL,
      text TEXT NOT NULL,
      PRIMARY KEY (session_id, message_id, epoch, position)
    )${tableOptions}`,
    `CREATE TABLE live_states (
      session_id ${key} NOT NULL PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
      n ${integer} NOT NULL,
      epoch ${integer} NOT NULL,
      revision ${integer} NOT NULL,
      message_id ${key},
      value TEXT NOT NULL
    )${tableOptions}`,
  ];
}
