import { type CliContext, note } from "../process/context.ts";
import { outputFolderPath, undoFolderPath } from "../process/config.ts";

type Deleted = readonly { readonly session: { readonly id: string } }[];

/** Deletes what this machine keeps of these sessions: bytes of changed files, and outputs of commands. */
export async function forgetKept(cli: CliContext, deleted: Deleted): Promise<void> {
  const left = await keptAfter(cli, deleted);
  if (left !== null) {
    note(cli, left);
  }
}

/** Returns a sentence for a person if not all of it could be deleted, else null. */
export async function keptAfter(cli: CliContext, deleted: Deleted): Promise<string | null> {
  const [{ keptBytesIn }, { forgetSessions }] = await Promise.all([
    import("../../workspace/undo/kept-bytes.ts"),
    import("../../exchange/undo/forget-sessions.ts"),
  ]);
  const kept = keptBytesIn(undoFolderPath(cli));
  return (await forgetSessions({ kept, outputFolder: outputFolderPath(cli) }, deleted))
    ? null
    : "What was kept of changed files and outputs of commands could not all be deleted. Check who owns reprise/undo and reprise/commands in XDG_STATE_HOME or ~/.local/state, and delete what is of these sessions in them.";
}
