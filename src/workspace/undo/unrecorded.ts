import type { Entry, UnrecordedEntry, UnrecordedReason } from "../../core/files/file-entries.ts";
import { plural } from "../../core/text/text.ts";
import type { NetChange } from "./net-changes.ts";

const REASONS: Readonly<Record<UnrecordedReason, string>> = {
  ignored: "git ignores it, so its content before the command was not recorded",
  type: "it is a pipe or a socket, cannot be read, or has a name that is not UTF-8, so it was not recorded",
  late: "it was changed after Reprise was killed, perhaps not by the command",
  limit:
    "the folder has more than 20,000 files or 256 MiB, so only files that the session had changed before were recorded",
  unkept:
    "nothing could be written to the folder of the user's state, so what the command changed is not recorded",
};

/**
 * Why undo leaves a path as it is; null if it can be undone. It is refused if that could be another program's work,
 * otherwise it counts as done: nothing will ever undo it.
 */
export function unrecordedReason({
  changes,
}: NetChange): { readonly outcome: "refused" | "unchanged"; readonly reason: string } | null {
  const found = changes.flatMap(({ before, after }) => [before, after]).find(isUnrecorded);
  if (found === undefined) {
    return null;
  }
  const { reason, others = 0 } = found;
  const more = others === 0 ? "" : `; so are ${plural(others, "other path")} that changed`;
  return {
    outcome: reason === "late" ? "refused" : "unchanged",
    reason: `${REASONS[reason]}${more}`,
  };
}

function isUnrecorded(entry: Entry | null): entry is UnrecordedEntry {
  return entry?.kind === "unrecorded";
}
