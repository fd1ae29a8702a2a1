import type { CliContext } from "./context.ts";
import { undoFolderPath } from "./config.ts";

/** Deletes what this machine keeps of the files that the agent changed in these sessions. */
export async function forgetKept(
  cli: CliContext,
  deleted: readonly { readonly session: { readonly id: string } }[],
): Promise<void> {
  const { keptBytesIn } = await import("../exchange/undo/kept-bytes.ts");
  await keptBytesIn(undoFolderPath(cli))?.forget(deleted.map(({ session }) => session.id));
}
