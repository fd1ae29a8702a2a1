import { oneLine } from "../../../core/text/terminal-text.ts";
import { type CliContext, note } from "../../process/context.ts";

/** The file's author chose the folders that tools will work in: the user should know them beforehand. */
export function showFolders(cli: CliContext, repoPaths: readonly (string | null)[]): void {
  for (const folder of new Set(repoPaths)) {
    if (folder !== null) {
      note(cli, `The agent's tools will read and write files in ${oneLine(folder)}`);
    }
  }
}
