import type { Command } from "commander";

import { isRepriseError } from "../../core/errors.ts";
import type { ChangeSource } from "../../exchange/undo/show-changes.ts";
import type { Store } from "../../store/store.ts";
import { databaseLocation, undoFolderPath } from "../process/config.ts";
import { type CliContext, note } from "../process/context.ts";
import { databaseOption } from "../process/database.ts";
import { ownSecrets } from "../process/own-secrets.ts";

export interface ChangeReading {
  readonly cli: CliContext;
  readonly command: Command;
  readonly store: Store;
}

/**
 * Reads changes of files with their diffs. If the config cannot be read, nobody knows which secrets are to be replaced
 * in a diff: then there are none, and a note says so.
 */
export async function readChanges<Changes>(
  { cli, command, store }: ChangeReading,
  read: (source: ChangeSource) => Promise<Changes>,
): Promise<{ readonly changes: Changes; readonly withheld: boolean }> {
  const { keptBytesIn } = await import("../../workspace/undo/kept-bytes.ts");
  const secrets = ownSecrets(cli, { location: databaseLocation(cli, databaseOption(command)) });
  const kept = keptBytesIn(undoFolderPath(cli));
  try {
    return { changes: await read({ store, kept, secrets }), withheld: false };
  } catch (error) {
    if (!isRepriseError(error, "config_invalid")) {
      throw error;
    }
    note(cli, `Diffs are left out, because the config cannot be read. ${error.message}`);
    return { changes: await read({ store, kept: null }), withheld: true };
  }
}
