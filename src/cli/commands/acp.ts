import { Command } from "commander";

import { localPrincipal } from "../../core/principal.ts";
import type { EditorHost } from "../../acp/host.ts";
import { oneLine } from "../../core/text/terminal-text.ts";
import { localUser } from "../../store/records/leases/local-user.ts";
import {
  databaseLocation,
  exchangerConfig,
  personaFolderPaths,
  settingsOf,
} from "../process/config.ts";
import { type CliContext, noticeNow } from "../process/context.ts";
import { databaseOption, openDatabase, withStore } from "../process/database.ts";
import { ownSecrets } from "../process/own-secrets.ts";
import { onSignals } from "../process/signals.ts";

/** `acp`: serves one editor over standard input and standard output. */
export function acpCommand(cli: CliContext): Command {
  const command = new Command("acp")
    .description("serve an editor that speaks the Agent Client Protocol, over standard input")
    .action(async () => {
      const { serveEditor } = await import("../../acp/serve-editor.ts");
      if (cli.stdin.isTTY === true) {
        noticeNow(cli, "acp: An editor starts this command and writes to it. Ctrl-C ends it.");
      }
      const stop = new AbortController();
      const stopListening = onSignals(cli, () => stop.abort());
      try {
        const isRead = await serveEditor(editorHost(cli, command), {
          input: cli.stdin,
          output: cli.stdout.sink("json"),
          stop: stop.signal,
        });
        if (!isRead) {
          cli.exit(cli.exitCode);
        }
      } finally {
        stopListening();
      }
    });
  return withStore(command);
}

/** Parts of the program that an editor needs; most are loaded with its first session. */
function editorHost(cli: CliContext, command: Command): EditorHost {
  const log = (sentence: string): void => noticeNow(cli, `acp: ${oneLine(sentence)}`);
  const principal = localPrincipal("terminal", localUser());
  return {
    version: cli.version,
    principal,
    settings: settingsOf(cli),
    personas: personaFolderPaths(cli),
    openExchanger: cli.openExchanger,
    openStore: () => openDatabase(cli, command, { notice: log }),
    exchangerConfig: (store) => {
      const location = databaseLocation(cli, databaseOption(command));
      const config = exchangerConfig(cli, store, { location });
      return { ...config, secrets: ownSecrets(cli, { location }) };
    },
    confirmation: async (store) => {
      const { createFromOutside } = await import("../chat/from-outside.ts");
      const isOwn = () => Promise.resolve(false);
      return createFromOutside({ cli, store, accept: false, isOwn });
    },
    newSession: async (repo) => {
      const { newSession } = await import("./chat/new-session.ts");
      return { ...(await newSession(cli, { repo })), principal };
    },
    withheld: async (folder) => {
      const { withheldSentence } = await import("./trust/enter-folder.ts");
      return withheldSentence(cli, folder);
    },
    forget: async (store, deleted) => {
      const [{ forgetKept }, { forgetDeleted }] = await Promise.all([
        import("./forget-kept.ts"),
        import("../../store/search.ts"),
      ]);
      await forgetKept(cli, deleted);
      await forgetDeleted(store);
    },
    log,
    logFailure: async (error) => {
      const { showError } = await import("../process/show-error.ts");
      showError(cli, error, false);
    },
  };
}
