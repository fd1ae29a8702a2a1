import { historyFile } from "../../process/config.ts";
import type { CliContext } from "../../process/context.ts";
import { createFolderFiles } from "../../chat/folder-files.ts";
import { type History, openHistory } from "../../chat/history.ts";
import { type KnownServer, knownServers, promptCommands } from "../../chat/slash/known-servers.ts";
import { commandUsages } from "../../chat/slash/slash.ts";
import { slashValues, type ValuesContext } from "../../chat/slash/slash-values.ts";
import type { Secrets } from "../../../core/secrets.ts";
import { firstOf } from "./completion.ts";
import { createEditor, type Editor, type EditorOptions } from "./editor.ts";
import { externalEditor } from "./external-editor.ts";
import { fileCompletions } from "./file-completions.ts";
import { serverCompletions } from "./server-completions.ts";
import type { Screen } from "../screen/screen.ts";
import { slashCompletions } from "./slash-completions.ts";

export interface OpenEditorOptions extends Pick<EditorOptions, "theme" | "on"> {
  readonly talk: ValuesContext;
  readonly screen: Pick<Screen, "changed" | "outside">;
  /** A message with one of them is not written into the history. */
  readonly secrets: Secrets;
  readonly leaving: AbortSignal;
}

export interface OpenedEditor {
  readonly editor: Editor;
  readonly history: History;
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
}: OpenEditorOptions): Promise<OpenedEditor> {
  const folder = conversation.planned().repo_path;
  const cwd = folder ?? cli.cwd;
  const history = openHistory({ file: await historyFile(cli, cwd), secrets });
  // the first key may be Up
  await history.written();
  const changed = (): void => screen.changed();
  // the config may be wrong, which the next exchange says
  const servers = () => knownServers(cli, folder).catch((): readonly KnownServer[] => []);
  const completions = firstOf([
    slashCompletions({
      commands: commandUsages(),
      more: async () => [
        ...(await (
          await import("../../chat/slash/skills.ts")
        ).folderCommands({
          cli,
          conversation,
        })),
        ...promptCommands(await servers()),
      ],
      values: slashValues({ cli, conversation }),
      changed,
    }),
    serverCompletions({
      files: fileCompletions(createFolderFiles({ folder, changed })),
      servers,
      changed,
    }),
  ]);
  const edit = externalEditor({ screen, env: cli.env, leaving });
  return { editor: createEditor({ theme, history, completions, changed, edit, on }), history };
}

/** An editor for an answer: without history and completions. */
export function openAnswerEditor({
  screen,
  theme,
  env,
  leaving,
  on,
}: Pick<EditorOptions, "theme" | "on"> & {
  readonly screen: Pick<Screen, "changed" | "outside">;
  readonly env: CliContext["env"];
  readonly leaving: AbortSignal;
}): Editor {
  return createEditor({
    theme,
    history: { entries: () => [], add: () => undefined },
    completions: firstOf([]),
    changed: () => screen.changed(),
    edit: externalEditor({ screen, env, leaving }),
    on,
  });
}
