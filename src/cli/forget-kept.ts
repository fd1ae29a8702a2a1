import { type CliContext, note } from "./context.ts";
import { undoFolderPath } from "./config.ts";

/** Deletes what this machine keeps of the files that the agent changed in these sessions. */
export async function forgetKept(
  cli: CliContext,
  deleted: readonly { readonly session: { readonly id: string } }[],
): Promise<void> {
  const { keptBytesIn } = await import("../exchange/undo/kept-bytes.ts");
  const kept = keptBytesIn(undoFolderPath(cli));
  if ((await kept?.forget(deleted.map(({ session }) => session.id))) === false) {
    note(
      cli,
      "What was kept of files that the agent changed could not all be deleted. Check who owns reprise/undo in XDG_STATE_HOME or ~/.local/state, and delete the folders of these sessions in it.",
    );
  }
}
