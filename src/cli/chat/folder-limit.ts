import type { FolderLimit } from "../../rules/trust/wide-folder.ts";

/** Follows the path of a session's folder. */
export const FOLDER_MISSING = "which does not exist on this machine";

/** Completes "The folder is …": which file tools the agent does not have there. */
export function limitText(limit: FolderLimit): string {
  switch (limit.kind) {
    case "too_wide":
      return "too wide for file tools; the agent has none.";
    case "git":
      return "git's own folder; the agent has no file tools.";
    case "control":
      return `inside ${limit.name}, which directs other programs; the agent can read files but not write them.`;
  }
}
