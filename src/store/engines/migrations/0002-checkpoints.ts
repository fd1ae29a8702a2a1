import type { Migration } from "./migration.ts";

/**
 * The agent's checkpoints; see `checkpoints/schema.ts`. Rows refer to bodies without a foreign
 * key: checking one would need an index over every list item to delete a body.
 */
export const checkpoints: Migration = {
  version: 2,
  name: "checkpoints",
  statements: ({ column, tableOptions }) => [
    `CREATE TABLE checkpoint_threads (
      id ${column.serial},
      thread_id ${column.key} NOT NULL UNIQUE
    )${tableOptions}`,
    `CREATE TABLE checkpoint_bodies (
      id ${column.serial},
      thread ${column.integer} NOT NULL REFERENCES checkpoint_threads (id) ON DELETE CASCADE,
      hash ${column.key} NOT NULL,
      body TEXT NOT NULL DEFAULT 'null',
      UNIQUE (thread, hash)
    )${tableOptions}`,
    `CREATE TABLE checkpoint_lists (
      id ${column.serial},
      thread ${column.integer} NOT NULL REFERENCES checkpoint_threads (id) ON DELETE CASCADE,
      base ${column.integer},
      base_length ${column.integer} NOT NULL DEFAULT 0,
      length ${column.integer} NOT NULL DEFAULT 0,
      depth ${column.integer} NOT NULL DEFAULT 0
    )${tableOptions}`,
    `CREATE INDEX checkpoint_lists_by_thread ON checkpoint_lists (thread)`,
    `CREATE TABLE checkpoint_list_items (
      list ${column.integer} NOT NULL REFERENCES checkpoint_lists (id) ON DELETE CASCADE,
      position ${column.integer} NOT NULL,
      body ${column.integer} NOT NULL,
      PRIMARY KEY (list, position)
    )${tableOptions}`,
    `CREATE TABLE checkpoints (
      id ${column.serial},
      thread ${column.integer} NOT NULL REFERENCES checkpoint_threads (id) ON DELETE CASCADE,
      ns ${column.key} NOT NULL DEFAULT '',
      checkpoint_id ${column.key} NOT NULL,
      parent_id ${column.key},
      ts ${column.key} NOT NULL DEFAULT (${column.now}),
      shape ${column.integer} NOT NULL,
      versions TEXT NOT NULL DEFAULT '',
      channels TEXT NOT NULL DEFAULT '{}',
      metadata TEXT NOT NULL DEFAULT '[{}]',
      UNIQUE (thread, ns, checkpoint_id)
    )${tableOptions}`,
    `CREATE INDEX checkpoints_by_order ON checkpoints (thread, ns, id)`,
    `CREATE TABLE checkpoint_writes (
      thread ${column.integer} NOT NULL REFERENCES checkpoint_threads (id) ON DELETE CASCADE,
      ns ${column.key} NOT NULL DEFAULT '',
      checkpoint_id ${column.key} NOT NULL,
      task_id ${column.key} NOT NULL,
      writes TEXT NOT NULL DEFAULT '[]',
      PRIMARY KEY (thread, ns, checkpoint_id, task_id)
    )${tableOptions}`,
  ],
};
