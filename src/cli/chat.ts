import { join } from "node:path";
import { text as readAll } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

import type { Command } from "commander";

import type { Exchanger } from "../agent/exchange.ts";
import type { PersonaPlaces } from "../agent/personas/places.ts";
import { RepriseError } from "../core/errors.ts";
import type { Store } from "../store/store.ts";
import { type ChatOptions, chooseSession } from "./choose-session.ts";
import { userFolders } from "./config.ts";
import { type CliContext, noticeLine } from "./context.ts";
import { databaseOption, openStore } from "./database.ts";
import { createConversation } from "./interactive/conversation.ts";
import { runLines } from "./interactive/lines.ts";
import { sendOnce } from "./interactive/send.ts";

/** `reprise`: one exchange with `-p`, else a session line by line until its input ends. */
export function chatAction(
  cli: CliContext,
  program: Command,
): (options: ChatOptions) => Promise<void> {
  return async (options) => {
    if (program.args.length > 0) {
      throw new RepriseError(
        "invalid_usage",
        "There is no such command; see `reprise --help`, and send a message with -p.",
      );
    }
    await using store = await openStore(cli, program);
    await chat({ cli, store, command: program, options });
  };
}

/** The way from the options to a session that talks; `sessions resume` comes in here too. */
export async function chat(input: {
  cli: CliContext;
  store: Store;
  command: Command;
  options: ChatOptions;
}): Promise<void> {
  const { cli, store, options } = input;
  const chosen = await chooseSession(cli, store, options);
  const conversation = createConversation({
    store,
    chosen,
    openExchanger: () => openExchanger(cli, store),
    personas: personaPlaces(cli),
  });
  for (const notice of chosen.kind === "existing" ? chosen.notices : []) {
    noticeLine(cli, `note: ${notice}`);
  }
  const json = options.json === true;
  if (options.prompt !== undefined) {
    const text = options.prompt === "-" ? await readAll(cli.stdin) : options.prompt;
    await sendOnce({ cli, conversation, text: messageText(text), json });
  } else {
    await runLines({ cli, conversation, json });
  }
  const session = conversation.current();
  if (session !== null && session.state === "active") {
    const database = databaseOption(input.command);
    const option = database === undefined ? "" : ` --database ${quoted(database)}`;
    noticeLine(cli, `Resume with: reprise --session ${session.id}${option}`);
  }
}

function messageText(text: string): string {
  if (text.trim() === "") {
    throw new RepriseError("invalid_usage", "The message is empty; write something after -p.");
  }
  return text;
}

/** Loads the agent's libraries: only when the first message is sent. */
async function openExchanger(cli: CliContext, store: Store): Promise<Exchanger> {
  const [{ createExchanger }, { modelConfig }, { thisProcess }] = await Promise.all([
    import("../agent/exchange.ts"),
    import("../agent/models/config.ts"),
    import("../agent/this-process.ts"),
  ]);
  const folders = userFolders(cli);
  return createExchanger({
    store,
    models: modelConfig(cli.env),
    personas: personaPlaces(cli),
    protectedPaths: [store.location, folders.data, folders.config],
    owner: thisProcess("reprise"),
  });
}

function personaPlaces(cli: CliContext): PersonaPlaces {
  return {
    userDir: join(userFolders(cli).config, "personas"),
    builtinDir: fileURLToPath(new URL("../../personas", import.meta.url)),
  };
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
