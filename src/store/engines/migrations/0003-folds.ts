import type { Migration } from "./migration.ts";

/** Up to where a thread's checkpoints are folded; see `checkpoints/fold.ts`. */
export const folds: Migration = {
  version: 3,
  name: "folds",
  statements: ({ column }) =>
    ["folded_checkpoint", "folded_body", "folded_list"].map(
      (name) =>
        `ALTER TABLE checkpoint_threads ADD COLUMN ${name} ${column.integer} NOT NULL DEFAULT 0`,
    ),
};
