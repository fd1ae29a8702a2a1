import { Command } from "commander";

import { changeLines, exchangeLines } from "../../output/change-lines.ts";
import { type CliContext, noticeLine, printJson, printLines } from "../../process/context.ts";
import { openDatabase, withStore } from "../../process/database.ts";
import { readChanges } from "../../output/read-changes.ts";
import { wholeNumber } from "../../process/wrong-usage.ts";

/** `sessions changes <id>`: the exchanges that changed files, and what one of them changed. */
export function changesCommand(cli: CliContext): Command {
  const command = new Command("changes")
    .description("show what the agent changed in files")
    .argument("<id>", "an id, or the first 6 or more characters of it")
    .option(
      "--exchange <n>",
      "only this exchange, with diffs (default: a list, and the last one with diffs)",
      wholeNumber("--exchange", 0),
    )
    .option("--json", "print JSON: the exchanges, or with --exchange its files")
    .action(async (reference: string, options: { exchange?: number; json?: true }) => {
      await using store = await openDatabase(cli, command);
      const { changedExchanges, changesOfExchange } =
        await import("../../../exchange/undo/show-changes.ts");
      const reading = { cli, command, store };
      const { changes: exchanges } = await readChanges(reading, (source) =>
        changedExchanges(source, { reference }),
      );
      const n = options.exchange ?? exchanges[0]?.n;
      if (options.json === true && options.exchange === undefined) {
        printJson(cli, exchanges);
        return;
      }
      const { changes, withheld } = await readChanges(reading, (source) =>
        n === undefined ? Promise.resolve([]) : changesOfExchange(source, { reference, n }),
      );
      if (options.json === true) {
        printJson(cli, changes);
        return;
      }
      if (changes.length === 0) {
        noticeLine(cli, "No file was changed.");
      }
      const list = options.exchange === undefined ? exchangeLines(exchanges) : [];
      printLines(cli, [...list, ...changeLines(changes, { withheld })]);
    });
  return withStore(command);
}
