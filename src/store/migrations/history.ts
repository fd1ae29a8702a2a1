import { folds } from "./0003-folds.ts";
import { checkpoints } from "./0002-checkpoints.ts";
import { sessions } from "./0001-sessions.ts";
import type { Migration } from "./migration.ts";

/** The whole history, in order. The last version is the one this program writes. */
export const migrations: readonly Migration[] = [sessions, checkpoints, folds];
