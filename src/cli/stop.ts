import { Command } from "commander";

import { isFinal } from "../core/exchanges.ts";
import { nothingToStop, stopExchange } from "../store/exchanges/change.ts";
import { listExchanges } from "../store/exchanges/read.ts";
import { type CliContext, printJson, printLine } from "./context.ts";
import { openDatabase, withStore } from "./database.ts";

/** Exchanges that are searched for one that has not ended. */
const SEARCHED = 1000;

/** `stop <id>`: stops the exchange that runs or waits, whatever process runs it. */
export function stopCommand(cli: CliContext): Command {
  const command = new Command("stop")
    .description("stop the exchange that is running or waiting in a session")
    .argument("<id>", "an id, or the first 6 or more characters of it")
    .option("--json", "print the exchange as the HTTP API returns it")
    .action(async (reference: string, options: { json?: true }) => {
      await using store = await openDatabase(cli, command);
      const records = await store.read(listExchanges, { reference, limit: SEARCHED });
      const open = records.findLast(({ state }) => !isFinal(state));
      if (open === undefined) {
        throw nothingToStop();
      }
      const { session_id, n } = open;
      const exchange = await store.write(stopExchange, { reference: session_id, n });
      if (options.json === true) {
        printJson(cli, exchange);
      } else {
        const what = exchange.state === "running" ? "Stopping" : "Stopped";
        printLine(cli, `${what}: exchange ${n} of ${session_id}`);
      }
    });
  return withStore(command);
}
