import type { Migration } from "./migration.ts";

/** What a thread's latest checkpoint is; see `checkpoints/head-mark.ts`. No mark before the next put. */
export const threadHeads: Migration = {
  version: 7,
  name: "thread-heads",
  statements: ({ column }) => [
    `ALTER TABLE checkpoint_threads ADD COLUMN head_row ${column.integer} NOT NULL DEFAULT 0`,
    `ALTER TABLE checkpoint_threads ADD COLUMN head_length ${column.integer} NOT NULL DEFAULT 0`,
    `ALTER TABLE checkpoint_threads ADD COLUMN head_hash TEXT NOT NULL DEFAULT ''`,
  ],
};
