import { Command } from "commander";

import { MAX_NAME_LENGTH } from "../../../core/limits.ts";
import type { PatchSessionRequest } from "../../../core/schemas/patch-session.ts";
import { titleLine } from "../../../core/text/terminal-text.ts";
import { isStorableText } from "../../../core/text/text.ts";
import { patchSession } from "../../../store/records/sessions/patch.ts";
import { type CliContext, printJson, printLine } from "../../process/context.ts";
import { openDatabase, withStore } from "../../process/database.ts";
import { wrongUsage } from "../../process/wrong-usage.ts";
import { localPrincipal } from "../../../core/principal.ts";

interface JsonOption {
  readonly json?: true;
}

/** `sessions rename <id> [name]`: the user's own title; without one, the first message's again. */
export function renameCommand(cli: CliContext): Command {
  const command = commandOf("rename", "give a session a name, which lists show as its title");
  command
    .argument("[name]", "1 to 255 characters; none for the title that the session had at first")
    .action(async (reference: string, text: string | undefined, options: JsonOption) => {
      const change = { name: text === undefined ? null : nameOf(text) };
      await label(cli, command, { reference, change, options, done: "Renamed" });
    });
  return withStore(command);
}

/** `sessions archive <id>`: the list in a terminal leaves it out. */
export function archiveCommand(cli: CliContext): Command {
  const command = commandOf("archive", "leave a session out of the list in a terminal");
  return labelling(cli, command, { change: { archived: true }, done: "Archived" });
}

/** `sessions unarchive <id>` */
export function unarchiveCommand(cli: CliContext): Command {
  const command = commandOf("unarchive", "take a session out of the archive");
  return labelling(cli, command, { change: { archived: false }, done: "Not archived" });
}

/** `sessions pin <id>`: the picker has it first, and prune never deletes it. */
export function pinCommand(cli: CliContext): Command {
  const command = commandOf("pin", "keep a session first in the picker, and from prune");
  return labelling(cli, command, { change: { pinned: true }, done: "Pinned" });
}

/** `sessions unpin <id>` */
export function unpinCommand(cli: CliContext): Command {
  const command = commandOf("unpin", "take the pin of a session away");
  return labelling(cli, command, { change: { pinned: false }, done: "Not pinned" });
}

/** Makes a command whose sessions get one change. */
function labelling(
  cli: CliContext,
  command: Command,
  what: Pick<Labelling, "change" | "done">,
): Command {
  command.action((reference: string, options: JsonOption) =>
    label(cli, command, { reference, options, ...what }),
  );
  return withStore(command);
}

function commandOf(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .argument("<id>", "an id, or the first 6 or more characters of it")
    .option("--json", "print the session as JSON");
}

function nameOf(text: string): string {
  const { length } = Array.from(text);
  if (length === 0 || length > MAX_NAME_LENGTH || !isStorableText(text)) {
    throw wrongUsage(`A name has 1 to ${MAX_NAME_LENGTH} characters; leave it out to remove it.`);
  }
  return text;
}

interface Labelling {
  readonly reference: string;
  readonly change: PatchSessionRequest;
  readonly options: JsonOption;
  /** Beginning of the line. */
  readonly done: string;
}

async function label(
  cli: CliContext,
  command: Command,
  { reference, change, options, done }: Labelling,
): Promise<void> {
  await using store = await openDatabase(cli, command);
  const principal = localPrincipal("terminal", null);
  const session = await store.write(patchSession, {
    reference,
    change,
    project_key: null,
    principal,
  });
  if (options.json === true) {
    printJson(cli, session);
  } else {
    printLine(cli, `${done}: ${session.id}  ${titleLine(session)}`);
  }
}
