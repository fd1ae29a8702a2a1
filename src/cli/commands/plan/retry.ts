import { Command } from "commander";

import { oneLine } from "../../../core/text/terminal-text.ts";
import { localPrincipal } from "../../../core/principal.ts";
import { resumeRun } from "../../../store/records/plans/queue-run.ts";
import { readRun } from "../../../store/records/plans/read-runs.ts";
import { readRetryable, retryPhases } from "../../../store/records/plans/retry.ts";
import type { Store } from "../../../store/store.ts";
import { undoLines } from "../../output/change-lines.ts";
import { databaseLocation, undoFolderPath } from "../../process/config.ts";
import { type CliContext, noticeLine } from "../../process/context.ts";
import { databaseOption, openDatabase, withStore } from "../../process/database.ts";
import { ownSecrets } from "../../process/own-secrets.ts";
import { addAllowed } from "../permission-options.ts";
import { TRUST_HELP, trustHere } from "../trust/trust-here.ts";
import { detachedBy, refuseDetached, showDetached } from "./detach.ts";
import { confirmImported } from "./plan-checks.ts";
import { runForeground } from "./foreground.ts";

interface RetryOptions {
  readonly undo?: true;
  readonly detach?: true;
  readonly allow?: readonly string[];
  readonly trust?: true;
  readonly json?: true;
}

/** `plan retry <run> [phase…]`: gives phases that failed or were refused another attempt, and continues the run. */
export function retryCommand(cli: CliContext): Command {
  const command = new Command("retry")
    .description("try phases that failed or were refused once more, and continue the run")
    .argument(
      "<run>",
      "id of its session, the first 6 or more characters of it, or the plan's runId",
    )
    .argument("[phase...]", "keys of such phases (default: all of them)")
    .option("--undo", "first take back what their attempts changed in files")
    .option("--detach", "let a service continue it")
    .option("--allow <call>", "permit such calls in this process; can be repeated", addAllowed)
    .option("--trust", TRUST_HELP)
    .option("--json", "print one JSON document, for programs")
    .action(async (reference: string, keys: readonly string[], options: RetryOptions) => {
      refuseDetached(options);
      trustHere(cli, options);
      await using store = await openDatabase(cli, command);
      const { allow = [], json = false } = options;
      const run = await store.read(readRun, { reference });
      const { session_id } = run;
      const asks = cli.stdin.isTTY === true && !json;
      const database = databaseOption(command);
      if (!(await confirmImported(cli, run, { store, database, allow, asks }))) {
        return;
      }
      const chosen = { session_id, keys };
      if (options.undo === true && !(await undoAttempts(cli, store, { command, chosen }))) {
        noticeLine(cli, "No phase is tried again. Restore these files, or retry without --undo.");
        cli.exitCode = 1;
        return;
      }
      if (options.detach === true) {
        const asked = { reference: session_id, retry: keys, ...detachedBy(cli) };
        const { record } = await store.write(resumeRun, asked);
        await showDetached(cli, store, { command, exchange: record, json });
        return;
      }
      await store.write(retryPhases, chosen);
      await runForeground(cli, { store, command, session_id, allow, json });
    });
  return withStore(command);
}

interface Undone {
  readonly command: Command;
  readonly chosen: { readonly session_id: string; readonly keys: readonly string[] };
}

/** Takes back what the last attempts of phases changed. False if a file was refused. Error codes: as `readRetryable`, `undoExchange`. */
async function undoAttempts(
  cli: CliContext,
  store: Store,
  { command, chosen }: Undone,
): Promise<boolean> {
  const phases = await store.read(readRetryable, chosen);
  const [{ undoSession }, { keptBytesIn }, { localUser }] = await Promise.all([
    import("../../../exchange/undo/undo-session.ts"),
    import("../../../workspace/undo/kept-bytes.ts"),
    import("../../../store/records/leases/local-user.ts"),
  ]);
  const location = databaseLocation(cli, databaseOption(command));
  const options = {
    store,
    kept: keptBytesIn(undoFolderPath(cli)),
    secrets: ownSecrets(cli, { location }),
    command: "reprise plan retry",
  };
  const principal = localPrincipal("terminal", localUser());
  let isWhole = true;
  for (const { key, child } of phases.toReversed()) {
    const outcomes = child === null ? [] : await undoSession(options, { id: child, principal });
    for (const outcome of outcomes) {
      for (const line of undoLines(outcome, "undo", { diffs: false })) {
        noticeLine(cli, `${oneLine(key)}: ${line}`);
      }
      isWhole &&= outcome.files.every((file) => file.outcome !== "refused");
    }
  }
  return isWhole;
}
