import type { Dialect } from "../../../dialect.ts";

/**
 * The agent's checkpoints; see `checkpoints/schema.ts`. Rows refer to bodies without a foreign
 * key: checking one would need an index over every list item to delete a body.
 */
export function checkpointTables({ column, tableOptions, keyedTable }: Dialect): readonly string[] {
  const { key, integer, serial, now } = column;
  const inThread = `thread ${integer} NOT NULL REFERENCES threads (id) ON DELETE CASCADE`;
  return [
    `CREATE TABLE threads (
      id ${serial},
      thread_id ${key} NOT NULL UNIQUE,
      folded_checkpoint ${integer} NOT NULL DEFAULT 0,
      folded_body ${integer} NOT NULL DEFAULT 0,
      folded_list ${integer} NOT NULL DEFAULT 0,
      head_row ${integer} NOT NULL DEFAULT 0,
      head_length ${integer} NOT NULL DEFAULT 0,
      head_hash TEXT NOT NULL DEFAULT '',
      prunes ${integer} NOT NULL DEFAULT 0
    )${tableOptions}`,

    `CREATE TABLE checkpoint_bodies (
      id ${serial},
      ${inThread},
      hash ${key} NOT NULL,
      body TEXT NOT NULL DEFAULT 'null',
      UNIQUE (thread, hash)
    )${tableOptions}`,

    `CREATE TABLE checkpoint_lists (
      id ${serial},
      ${inThread},
      base ${integer},
      base_length ${integer} NOT NULL DEFAULT 0,
      length ${integer} NOT NULL DEFAULT 0,
      depth ${integer} NOT NULL DEFAULT 0
    )${tableOptions}`,
    `CREATE INDEX checkpoint_lists_by_thread ON checkpoint_lists (thread)`,
    `CREATE TABLE checkpoint_list_items (
      list ${integer} NOT NULL REFERENCES checkpoint_lists (id) ON DELETE CASCADE,
      position ${integer} NOT NULL,
      body ${integer} NOT NULL,
      PRIMARY KEY (list, position)
    )${keyedTable}`,

    `CREATE TABLE checkpoints (
      id ${serial},
      ${inThread},
      ns ${key} NOT NULL DEFAULT '',
      checkpoint_id ${key} NOT NULL,
      parent_id ${key},
      ts ${key} NOT NULL DEFAULT (${now}),
      shape ${integer} NOT NULL,
      versions TEXT NOT NULL DEFAULT '',
      channels TEXT NOT NULL DEFAULT '{}',
      metadata TEXT NOT NULL DEFAULT '[{}]',
      UNIQUE (thread, ns, checkpoint_id)
    )${tableOptions}`,
    `CREATE INDEX checkpoints_by_order ON checkpoints (thread, ns, id)`,

    `CREATE TABLE checkpoint_writes (
      ${inThread},
      ns ${key} NOT NULL DEFAULT '',
      checkpoint_id ${key} NOT NULL,
      task_id ${key} NOT NULL,
      writes TEXT NOT NULL DEFAULT '[]',
      PRIMARY KEY (thread, ns, checkpoint_id, task_id)
    )${keyedTable}`,
  ];
}
