import type { Migration } from "./migration.ts";

export const checkpoints: Migration = {
  version: 2,
  name: "checkpoints",
  statements: () => [],
};
