import type { Command, Option } from "commander";

import { PROVIDERS } from "../../../rules/models/providers.ts";
import { PERMISSION_MODES } from "../../../core/permissions.ts";
import { oneLine, titleLine } from "../../../core/text/terminal-text.ts";
import { isPostgres } from "../../../store/location.ts";
import { databaseLocation, mcpFolderPath, personaFolderPaths } from "../../process/config.ts";
import type { CliContext } from "../../process/context.ts";
import { openStoreAt } from "../../process/database.ts";

/** A word that can come next, and what it means. */
interface Candidate {
  readonly value: string;
  readonly about: string;
}

/** The line that asks the shell for names of files. */
const FILES = ":files";

/** More ids than these help nobody. */
const MAX_SESSIONS = 50;

/** Groups and commands whose argument `<id>` is the id of a session. */
const OF_SESSIONS = ["sessions", "send", "follow", "stop", "share"];

/** Values that a shell takes as one word, whatever a folder or a person called them. */
const PLAIN_WORD = /^[\w./:@%+,=-]+$/;

/**
 * Lists what can come after the words, as lines for the scripts of `scripts.ts`; the last word is the one that is
 * being typed. What cannot be found out at once and without a change, such as the ids of an older database, is left
 * out.
 */
export async function candidates(
  cli: CliContext,
  program: Command,
  words: readonly string[],
): Promise<string[]> {
  const { command, option, database } = read(program, words.slice(0, -1));
  const word = words.at(-1) ?? "";
  const found = await next(cli, { command, option, word, database }).catch(() => []);
  const lines = (found === FILES ? [] : found)
    .filter(({ value }) => value.startsWith(word) && PLAIN_WORD.test(value))
    .map(({ value, about }) => `${value}\t${oneLine(about).split("\t").join(" ")}`);
  return found === FILES ? [FILES] : lines;
}

interface Place {
  readonly command: Command;
  /** Whose value comes next; null if a new word begins. */
  readonly option: Option | null;
  readonly word: string;
  readonly database: string | undefined;
}

function read(program: Command, words: readonly string[]): Omit<Place, "word"> {
  let command = program;
  let option: Option | null = null;
  let database: string | undefined;
  for (const word of words) {
    if (option !== null) {
      database = option.long === "--database" ? word : database;
      option = null;
      continue;
    }
    if (word.startsWith("-")) {
      const found = command.options.find(({ long, short }) => word === long || word === short);
      option = found?.required === true ? found : null;
    } else {
      command = command.commands.find((each) => each.name() === word) ?? command;
    }
  }
  return { command, option, database };
}

async function next(cli: CliContext, place: Place): Promise<readonly Candidate[] | typeof FILES> {
  const { command, option, word } = place;
  if (option !== null) {
    return valuesOf(cli, place, option);
  }
  if (word.startsWith("-")) {
    return [...command.options, ...helpOf(command)].flatMap(({ long, description, hidden }) =>
      long === undefined || long === null || hidden ? [] : [{ value: long, about: description }],
    );
  }
  const members = command.commands.filter((each) => each.name() !== "complete");
  if (members.length > 0) {
    return members.map((each) => ({ value: each.name(), about: each.description() }));
  }
  const [argument] = command.registeredArguments;
  if (argument?.argChoices !== undefined) {
    return argument.argChoices.map((value) => ({ value, about: "" }));
  }
  if (command.parent?.name() === "mcp" && argument?.name() === "name") {
    return command.name() === "add" ? [] : servers(cli, command.name());
  }
  const group = command.parent === null ? [] : [command.parent.name(), command.name()];
  if (argument?.name() === "id" && group.some((name) => OF_SESSIONS.includes(name))) {
    return sessions(cli, place);
  }
  return FILES;
}

function helpOf(command: Command): readonly Option[] {
  return command.createHelp().visibleOptions(command).slice(-1);
}

async function valuesOf(
  cli: CliContext,
  place: Place,
  option: Option,
): Promise<readonly Candidate[] | typeof FILES> {
  if (option.argChoices !== undefined) {
    return option.argChoices.map((value) => ({ value, about: "" }));
  }
  switch (option.long) {
    case "--session":
      return sessions(cli, place);
    case "--persona":
      return personas(cli);
    case "--permission":
      return PERMISSION_MODES.map((value) => ({ value, about: "" }));
    case "--model":
    case "--switch":
      return Object.keys(PROVIDERS).map((name) => ({
        value: name === "demo" ? name : `${name}:`,
        about: "",
      }));
    default:
      return /<(?:path|file|folder|location|module|database)>/.test(option.flags) ? FILES : [];
  }
}

async function personas(cli: CliContext): Promise<Candidate[]> {
  const { surveyPersonas } = await import("../../../rules/personas/list.ts");
  const { isBroken } = await import("../../../rules/personas/persona.ts");
  const { entries } = await surveyPersonas({ ...personaFolderPaths(cli), repoPath: cli.cwd });
  return entries.flatMap((entry) =>
    isBroken(entry) ? [] : [{ value: entry.name, about: entry.description }],
  );
}

/** The MCP servers that a command can name. Starts none. */
async function servers(cli: CliContext, command: string): Promise<Candidate[]> {
  if (command === "logout") {
    const { Logins } = await import("../../../mcp/oauth/logins.ts");
    const folder = mcpFolderPath(cli);
    const logins = folder === null ? [] : await new Logins(folder).all();
    return logins.map(({ server }) => ({ value: server, about: "" }));
  }
  const { configured } = await import("../mcp/configured.ts");
  const { here } = await configured(cli, undefined);
  return Object.entries(here.entries).flatMap(([value, { from }]) =>
    command === "remove" && from !== "config" ? [] : [{ value, about: from }],
  );
}

/**
 * Reads the sessions of a SQLite file of this version: a key in a shell must not wait for a server, nor upgrade a
 * file.
 */
async function sessions(cli: CliContext, { database }: Place): Promise<Candidate[]> {
  const location = databaseLocation(cli, database);
  if (isPostgres(location)) {
    return [];
  }
  const { planSqliteUpgrade } =
    await import("../../../store/engines/sqlite/backup/plan-upgrade.ts");
  if (planSqliteUpgrade(location, { backup: false }).steps.length > 0) {
    return [];
  }
  const { listSessions } = await import("../../../store/records/sessions/list.ts");
  await using store = await openStoreAt(cli, { location, notice: () => undefined });
  const { sessions: listed } = await store.read(listSessions, { limit: MAX_SESSIONS });
  return listed.map((each) => ({ value: each.id, about: titleLine(each) }));
}
