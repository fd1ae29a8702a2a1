import { Command } from "commander";

import type { Direction } from "../../../workspace/undo/restore.ts";
import { undoLines } from "../../output/change-lines.ts";
import { databaseLocation, undoFolderPath } from "../../process/config.ts";
import { type CliContext, printJson, printLines } from "../../process/context.ts";
import { databaseOption, openDatabase, withStore } from "../../process/database.ts";
import { ownSecrets } from "../../process/own-secrets.ts";
import { wholeNumber } from "../../process/wrong-usage.ts";
import { localPrincipal } from "../../../core/principal.ts";

interface UndoCommandOptions {
  readonly exchange?: number;
  readonly files?: readonly string[];
  readonly dryRun?: true;
  readonly json?: true;
}

/** `sessions undo <id>`: takes back what an exchange changed in files. Exit code 1 if a file was refused. */
export function undoCommand(cli: CliContext): Command {
  return command(cli, "undo", "take back what an exchange changed in files");
}

/** `sessions redo <id>`: makes it again. */
export function redoCommand(cli: CliContext): Command {
  return command(cli, "redo", "make again what was undone");
}

function command(cli: CliContext, direction: Direction, description: string): Command {
  const which =
    direction === "undo" ? "the last one that changed files" : "the one that was undone last";
  const made = new Command(direction)
    .description(description)
    .argument("<id>", "an id, or the first 6 or more characters of it")
    .option("--exchange <n>", `the exchange (default: ${which})`, wholeNumber("--exchange", 0))
    .option("--files <path...>", "only these files, as `sessions changes` prints them")
    .option("--dry-run", "only show what would be done")
    .option("--json", "print a JSON object: the exchange and the outcome of each file")
    .action(async (reference: string, options: UndoCommandOptions) => {
      await using store = await openDatabase(cli, made);
      const [{ undoExchange }, { keptBytesIn }, { localUser }] = await Promise.all([
        import("../../../exchange/undo/undo-exchange.ts"),
        import("../../../workspace/undo/kept-bytes.ts"),
        import("../../../store/records/leases/local-user.ts"),
      ]);
      const location = databaseLocation(cli, databaseOption(made));
      const undone = await undoExchange(
        {
          store,
          kept: keptBytesIn(undoFolderPath(cli)),
          secrets: ownSecrets(cli, { location }),
          command: `reprise sessions ${direction}`,
        },
        {
          reference,
          direction,
          n: options.exchange,
          files: options.files,
          dry_run: options.dryRun === true,
          principal: localPrincipal("terminal", localUser()),
        },
      );
      if (options.json === true) {
        printJson(cli, undone);
      } else {
        const lines = undoLines(undone, direction, { diffs: undone.dry_run });
        printLines(cli, [`exchange ${undone.n}`, ...lines]);
      }
      cli.exitCode = undone.files.some(({ outcome }) => outcome === "refused") ? 1 : 0;
    });
  return withStore(made);
}
