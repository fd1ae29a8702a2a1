import { open, rm } from "node:fs/promises";
import { resolve } from "node:path";

import { isRepriseError, RepriseError, systemCode } from "../../../core/errors.ts";
import { NOTHING_CLEANED } from "../../../core/redact/clean.ts";
import { oneLine } from "../../../core/text/terminal-text.ts";
import type { Store } from "../../../store/store.ts";
import { type CliContext, noticeLine } from "../../process/context.ts";
import { transcriptText } from "../../output/transcript-text.ts";
import { wrongUsage } from "../../process/wrong-usage.ts";
import type { Talk } from "../talk.ts";

interface ExportInput {
  readonly store: Store;
  readonly session_id: string;
  /** Relative to the working folder; empty for `reprise-<id>.md`. */
  readonly file: string;
  readonly signal: AbortSignal;
}

/** `/export <file>`. */
export async function exportCommand(
  {
    cli,
    conversation,
    store,
    signal,
  }: Pick<Talk, "cli" | "conversation"> & Pick<ExportInput, "store" | "signal">,
  file: string,
): Promise<void> {
  const session_id = conversation.current()?.id;
  if (session_id === undefined) {
    throw wrongUsage("No session was stored yet, so there is nothing to export.");
  }
  const path = await exportSession(cli, { store, session_id, file, signal });
  noticeLine(cli, `Exported: ${oneLine(path)}`);
}

/**
 * Writes a session with its sub-agents as Markdown, or as HTML if its name ends with `.html`, into a file that is not
 * there yet and that the user alone can read. Returns its path. Error codes: `invalid_usage` if there
 * is such a file, `file_unwritable`, `database_*`.
 */
async function exportSession(
  cli: CliContext,
  { store, session_id, file, signal }: ExportInput,
): Promise<string> {
  const home = cli.env["HOME"] ?? cli.cwd;
  const named = file === "" ? `reprise-${session_id.slice(0, 8)}.md` : file;
  const path = resolve(cli.cwd, named.replace(/^~(?=\/)/, home));
  const format = path.endsWith(".html") ? "html" : "md";
  const shown = { cli, store, id: session_id, cleaner: NOTHING_CLEANED };
  const text = await transcriptText(shown, format);
  const handle = await open(path, "wx", 0o600).catch((error: unknown) => {
    throw notWritten(path, error);
  });
  try {
    for await (const piece of text) {
      signal.throwIfAborted();
      await handle.appendFile(piece);
    }
    await handle.close();
  } catch (error) {
    await handle.close().catch(() => undefined);
    // half a session must not look like all of it
    await rm(path, { force: true });
    throw notWritten(path, error);
  }
  return path;
}

function notWritten(path: string, error: unknown): unknown {
  const code = systemCode(error);
  if (isRepriseError(error) || code === undefined) {
    return error;
  }
  return code === "EEXIST"
    ? new RepriseError("invalid_usage", `${oneLine(path)} is there already; name another file.`)
    : new RepriseError("file_unwritable", `${oneLine(path)} cannot be written (${code}).`, {
        cause: error,
      });
}
