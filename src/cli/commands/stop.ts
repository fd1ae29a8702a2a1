import { Command } from "commander";

import { stopCurrent } from "../../store/records/exchanges/change.ts";
import { type CliContext, printJson, printLine } from "../process/context.ts";
import { openDatabase, withStore } from "../process/database.ts";

/** `stop <id>`: stops the exchange that runs, or else the first that is queued. */
export function stopCommand(cli: CliContext): Command {
  const command = new Command("stop")
    .description("stop the exchange of a session that is running, or else the first that is queued")
    .argument("<id>", "an id, or the first 6 or more characters of it")
    .option("--json", "print the exchange as the HTTP API returns it")
    .action(async (reference: string, options: { json?: true }) => {
      await using store = await openDatabase(cli, command);
      const exchange = await store.write(stopCurrent, { reference });
      if (options.json === true) {
        printJson(cli, exchange);
      } else {
        const { session_id, n, state } = exchange;
        const what = state === "running" ? "Stopping" : "Stopped";
        printLine(cli, `${what}: exchange ${n} of ${session_id}`);
      }
    });
  return withStore(command);
}
