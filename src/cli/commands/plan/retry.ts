import { Command } from "commander";

import { readRun } from "../../../store/records/plans/read-runs.ts";
import { retryPhases } from "../../../store/records/plans/retry.ts";
import type { CliContext } from "../../process/context.ts";
import { openDatabase, withStore } from "../../process/database.ts";
import { addAllowed } from "../permission-options.ts";
import { runForeground } from "./foreground.ts";

/** `plan retry <run> [phase…]`: gives phases that failed another attempt, and continues the run. */
export function retryCommand(cli: CliContext): Command {
  const command = new Command("retry")
    .description("try phases that failed once more, and continue the run")
    .argument(
      "<run>",
      "id of its session, the first 6 or more characters of it, or the plan's runId",
    )
    .argument("[phase...]", "keys of phases that failed (default: all of them)")
    .option("--allow <call>", "permit such calls in this process; can be repeated", addAllowed)
    .option("--json", "print one JSON document, for programs")
    .action(
      async (
        reference: string,
        keys: readonly string[],
        { allow = [], json = false }: { allow?: readonly string[]; json?: boolean },
      ) => {
        await using store = await openDatabase(cli, command);
        const { session_id } = await store.read(readRun, { reference });
        await store.write(retryPhases, { session_id, keys });
        await runForeground(cli, { store, command, session_id, allow, json });
      },
    );
  return withStore(command);
}
