import { Command } from "commander";

import { localPrincipal } from "../../../core/principal.ts";
import { titleLine } from "../../../core/text/terminal-text.ts";
import { forkRequested } from "../../../store/checkpoints/forks/fork-requested.ts";
import { type CliContext, printJson, printLine } from "../../process/context.ts";
import { openDatabase, withStore } from "../../process/database.ts";
import { wrongUsage } from "../../process/wrong-usage.ts";

/** `sessions fork <id>`: a session that continues from a message of this one. */
export function forkCommand(cli: CliContext): Command {
  const command = new Command("fork")
    .description("begin another session at a message of a session, which stays unchanged")
    .argument("<id>", "an id, or the first 6 or more characters of it")
    .option(
      "--at <seq>",
      "at the end of the last exchange up to this message (default: the last one)",
    )
    .option("--json", "print the fork as the HTTP API does")
    .action(async (reference: string, options: { at?: string; json?: true }) => {
      const at_seq = options.at === undefined ? undefined : seqOf(options.at);
      await using store = await openDatabase(cli, command);
      const principal = localPrincipal("terminal", null);
      const fork = await store.write(forkRequested, { reference, at_seq, principal });
      if (options.json === true) {
        printJson(cli, fork);
        return;
      }
      const { session_id, seq } = fork.forked_from ?? { session_id: reference, seq: 0 };
      const where = seq === 0 ? "before the first message" : `after message ${seq}`;
      printLine(cli, `Forked: ${fork.id}  ${titleLine(fork)}`);
      printLine(cli, `It begins ${where} of ${session_id}.`);
    });
  return withStore(command);
}

function seqOf(text: string): number {
  const seq = Number(text);
  if (!/^\d{1,15}$/.test(text)) {
    throw wrongUsage(
      "`--at` takes the number of a message, such as 12; `reprise sessions show <id>` lists them.",
    );
  }
  return seq;
}
