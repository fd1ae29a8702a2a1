import { plural } from "../../../core/text/text.ts";
import { type Check, failedBy, ok } from "../../../store/check.ts";
import { undoFolderPath } from "../../process/config.ts";
import type { CliContext } from "../../process/context.ts";

const MIB = 1024 * 1024;

/** How much is kept of files that the agent changed; no check if that is nothing. */
export async function checkUndo(cli: CliContext): Promise<Check[]> {
  const { keptBytesIn } = await import("../../../workspace/undo/kept-bytes.ts");
  const kept = keptBytesIn(undoFolderPath(cli));
  try {
    const { bytes, sessions } = (await kept?.usage()) ?? { bytes: 0, sessions: 0 };
    return kept === null || sessions === 0
      ? []
      : [
          ok(
            "undo",
            `${(bytes / MIB).toFixed(1)} MiB of changed files are kept for ${plural(sessions, "session")}, of ${kept.limits.all / MIB} MiB at most.`,
          ),
        ];
  } catch (error) {
    return [failedBy(error, "undo")];
  }
}
