import { historyFile } from "../config.ts";
import { createFolderFiles } from "../conversation/folder-files.ts";
import { type History, openHistory } from "../conversation/history.ts";
import { commandUsages } from "../conversation/slash.ts";
import { slashValues, type ValuesContext } from "../conversation/slash-values.ts";
import type { Secrets } from "../../core/secrets.ts";
import { firstOf } from "./completion.ts";
import { createEditor, type Editor, type EditorOptions } from "./editor.ts";
import { externalEditor } from "./external-editor.ts";
import { fileCompletions } from "./file-completions.ts";
import type { Screen } from "./screen.ts";
import { slashCompletions } from "./slash-completions.ts";

export interface OpenEditorOptions extends Pick<EditorOptions, "theme" | "on"> {
  readonly talk: ValuesContext;
  readonly screen: Pick<Screen, "changed" | "outside">;
  /** A message with one of them is not written into the history. */
  readonly secrets: Secrets;
  readonly leaving: AbortSignal;
}

/**
 * The editor of a conversation, with the history and the files of its folder, which is read. Wait for `history.written()` before the
 * program ends.
 */
export async function openEditor({
  talk: { cli, conversation },
  screen,
  theme,
  secrets,
  leaving,
  on,
}: OpenEditorOptions): Promise<{ readonly editor: Editor; readonly history: History }> {
  const folder = conversation.planned().repo_path;
  const cwd = folder ?? cli.cwd;
  const history = openHistory({ file: await historyFile(cli, cwd), secrets });
  // the first key may be Up
  await history.written();
  const changed = (): void => screen.changed();
  const completions = firstOf([
    slashCompletions({
      commands: commandUsages(),
      values: slashValues({ cli, conversation }),
      changed,
    }),
    fileCompletions(createFolderFiles({ folder, changed })),
  ]);
  const edit = externalEditor({ screen, env: cli.env, leaving });
  return { editor: createEditor({ theme, history, completions, changed, edit, on }), history };
}
