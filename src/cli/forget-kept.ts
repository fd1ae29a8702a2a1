import { type CliContext, note } from "./context.ts";
import { outputFolderPath, undoFolderPath } from "./config.ts";

/** Deletes what this machine keeps of these sessions: bytes of changed files, and outputs of commands. */
export async function forgetKept(
  cli: CliContext,
  deleted: readonly { readonly session: { readonly id: string } }[],
): Promise<void> {
  const [{ keptBytesIn }, { forgetSessions }] = await Promise.all([
    import("../exchange/undo/kept-bytes.ts"),
    import("../exchange/forget-sessions.ts"),
  ]);
  const kept = keptBytesIn(undoFolderPath(cli));
  if (!(await forgetSessions({ kept, outputFolder: outputFolderPath(cli) }, deleted))) {
    note(
      cli,
      "What was kept of changed files and outputs of commands could not all be deleted. Check who owns reprise/undo and reprise/commands in XDG_STATE_HOME or ~/.local/state, and delete what is of these sessions in them.",
    );
  }
}
