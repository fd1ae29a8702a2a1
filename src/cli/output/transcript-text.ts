import type { Command } from "commander";

import { isRepriseError } from "../../core/errors.ts";
import type { Cleaner } from "../../core/redact/clean.ts";
import type { Store } from "../../store/store.ts";
import { databaseLocation, undoFolderPath } from "../process/config.ts";
import type { CliContext } from "../process/context.ts";
import { databaseOption } from "../process/database.ts";
import { ownSecrets } from "../process/own-secrets.ts";

interface Shown {
  readonly cli: CliContext;
  /** Names the database, whose password is left out of diffs. */
  readonly command?: Command;
  readonly store: Store;
  readonly id: string;
  readonly cleaner: Cleaner;
}

/** A session for people, with the diffs of this machine. Error codes: as `readTranscript`. */
export async function transcriptText(
  { cli, command, store, id, cleaner }: Shown,
  format: "md" | "html",
): Promise<AsyncGenerator<string>> {
  const { keptBytesIn } = await import("../../workspace/undo/kept-bytes.ts");
  const { readTranscript } = await import("../../exchange/transcript/read-transcript.ts");
  const named = command === undefined ? null : databaseOption(command);
  const location = databaseLocation(cli, named ?? undefined);
  const secrets = await ownSecrets(cli, { location })().catch(unlessUnreadable);
  // without the secrets that are to be replaced in diffs there are none
  const kept = secrets === null ? null : keptBytesIn(undoFolderPath(cli));
  const changes = { store, kept, secrets: async () => secrets ?? [] };
  const items = readTranscript({ store, changes }, { id });
  if (format === "md") {
    const { markdownOf } = await import("../../exchange/transcript/markdown.ts");
    return markdownOf(items, cleaner);
  }
  const { htmlOf } = await import("../../exchange/transcript/html.ts");
  return htmlOf(items, cleaner);
}

function unlessUnreadable(error: unknown): null {
  if (isRepriseError(error, "config_invalid")) {
    return null;
  }
  throw error;
}
