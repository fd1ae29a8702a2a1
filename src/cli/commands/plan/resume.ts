import { Command } from "commander";

import type { ScopedLimits } from "../../../core/cost/limits.ts";
import { resumeRun } from "../../../store/records/plans/queue-run.ts";
import { readRun } from "../../../store/records/plans/read-runs.ts";
import { setLimits } from "../../../store/records/sessions/limits.ts";
import type { CliContext } from "../../process/context.ts";
import { databaseOption, openDatabase, withStore } from "../../process/database.ts";
import { EVENTS_OPTION } from "../chat/chat-options.ts";
import { addTokenLimit } from "../limit-options.ts";
import { addAllowed } from "../permission-options.ts";
import { TRUST_HELP, trustHere } from "../trust/trust-here.ts";
import { detachedBy, refuseDetached, showDetached } from "./detach.ts";
import { confirmImported } from "./plan-checks.ts";
import { runForeground } from "./foreground.ts";

/** `plan resume <run>`: continues a run after a kill, a stop, an answer or a failure. */
export function resumeCommand(cli: CliContext): Command {
  const command = new Command("resume")
    .description("continue a run that was stopped, killed, failed, or has got its answers")
    .argument(
      "<run>",
      "id of its session, the first 6 or more characters of it, or the plan's runId",
    )
    .option("--detach", "let a service continue it")
    .option("--allow <call>", "permit such calls in this process; can be repeated", addAllowed)
    .option("--trust", TRUST_HELP)
    .option(
      "--token-limit <what=n>",
      "tokens that the run may use from now on; can be repeated",
      addTokenLimit,
    )
    .option("--json", "print one JSON document, for programs")
    .option(EVENTS_OPTION, "print one line of JSON for each event")
    .action(
      async (
        reference: string,
        options: {
          detach?: true;
          allow?: readonly string[];
          trust?: true;
          tokenLimit?: ScopedLimits;
          json?: boolean;
          "json=events"?: true;
        },
      ) => {
        refuseDetached(options);
        trustHere(cli, options);
        const { allow = [], tokenLimit: token_limits } = options;
        const events = options["json=events"] === true;
        const json = options.json === true || events;
        await using store = await openDatabase(cli, command);
        const run = await store.read(readRun, { reference });
        const { session_id } = run;
        const asks = cli.stdin.isTTY === true && !json;
        const database = databaseOption(command);
        if (!(await confirmImported(cli, run, { store, database, allow, asks }))) {
          return;
        }
        if (options.detach === true) {
          const asked = { reference: session_id, retry: null, token_limits, ...detachedBy(cli) };
          const { record } = await store.write(resumeRun, asked);
          await showDetached(cli, store, { command, exchange: record, json });
          return;
        }
        if (token_limits !== undefined) {
          await store.write(setLimits, { id: session_id, tokens: token_limits });
        }
        await runForeground(cli, { store, command, session_id, allow, json, events });
      },
    );
  return withStore(command);
}
