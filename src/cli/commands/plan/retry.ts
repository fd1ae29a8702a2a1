import { Command } from "commander";

import type { ScopedLimits } from "../../../core/cost/limits.ts";
import type { StoredPhase } from "../../../store/records/plans/phases.ts";
import { type ResumeRun, resumeRun } from "../../../store/records/plans/queue-run.ts";
import { readRun, type StoredRun } from "../../../store/records/plans/read-runs.ts";
import { readRetryable, retryPhases } from "../../../store/records/plans/retry.ts";
import { setLimits } from "../../../store/records/sessions/limits.ts";
import type { Operation, Store } from "../../../store/store.ts";
import { personaFolderPaths, settingsOf } from "../../process/config.ts";
import { type CliContext, noticeLine } from "../../process/context.ts";
import { databaseOption, openDatabase, withStore } from "../../process/database.ts";
import { EVENTS_OPTION } from "../chat/chat-options.ts";
import { addTokenLimit } from "../limit-options.ts";
import { addAllowed } from "../permission-options.ts";
import { TRUST_HELP, trustHere } from "../trust/trust-here.ts";
import { detachedBy, refuseDetached, showDetached } from "./detach.ts";
import { confirmImported, type Starting, startSource } from "./plan-checks.ts";
import { runForeground } from "./foreground.ts";
import { undoAttempts } from "./undo-attempts.ts";

interface RetryOptions {
  readonly undo?: true;
  readonly detach?: true;
  readonly allow?: readonly string[];
  readonly tokenLimit?: ScopedLimits;
  readonly trust?: true;
  readonly json?: true;
  readonly "json=events"?: true;
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
    .option(
      "--token-limit <what=n>",
      "tokens that the run may use from now on; can be repeated",
      addTokenLimit,
    )
    .option("--json", "print one JSON document, for programs")
    .option(EVENTS_OPTION, "print one line of JSON for each event")
    .action(async (reference: string, keys: readonly string[], options: RetryOptions) => {
      refuseDetached(options);
      trustHere(cli, options);
      await using store = await openDatabase(cli, command);
      const { allow = [], tokenLimit: token_limits } = options;
      const events = options["json=events"] === true;
      const json = options.json === true || events;
      const run = await store.read(readRun, { reference });
      const { session_id } = run;
      const asks = cli.stdin.isTTY === true && !json;
      const starting = { store, database: databaseOption(command), allow };
      if (!(await confirmImported(cli, run, { ...starting, asks }))) {
        return;
      }
      if (token_limits !== undefined) {
        await store.write(setLimits, { id: session_id, tokens: token_limits });
      }
      const detached = { reference: session_id, retry: keys, ...detachedBy(cli) };
      if (options.undo === true) {
        const phases = await store.read(readRetryable, { session_id, keys });
        await refuseUntried(cli, { run, phases, starting });
        if (options.detach === true) {
          await refuseUnqueued(store, detached);
        }
        if (!(await undoAttempts(cli, { store, command, phases }))) {
          noticeLine(cli, "No phase is tried again. Restore these files, or retry without --undo.");
          cli.exitCode = 1;
          return;
        }
      }
      if (options.detach === true) {
        const { record } = await store.write(resumeRun, detached);
        await showDetached(cli, store, { command, exchange: record, json });
        return;
      }
      await store.write(retryPhases, { session_id, keys });
      await runForeground(cli, { store, command, session_id, allow, json, events });
    });
  return withStore(command);
}

interface Untried {
  readonly run: StoredRun;
  readonly phases: readonly StoredPhase[];
  readonly starting: Starting;
}

/** Refuses attempts that could not begin, before anything is taken back. Error codes: as `checkRetry`. */
async function refuseUntried(cli: CliContext, { run, phases, starting }: Untried): Promise<void> {
  const { models } = await settingsOf(cli).at(run.session.repo_path);
  const { checkRetry } = await import("../../../plans/retry-start.ts");
  await checkRetry(starting.store, run, {
    keys: new Set(phases.map(({ key }) => key)),
    roles: { personas: personaFolderPaths(cli), models },
    start: startSource(cli, starting),
  });
}

class NotKept extends Error {}

/** Refuses what `resumeRun` would refuse, and stores nothing. */
async function refuseUnqueued(store: Store, asked: ResumeRun): Promise<void> {
  const unkept: Operation<ResumeRun, never> = async (tx, input) => {
    await resumeRun(tx, input);
    throw new NotKept();
  };
  await store.write(unkept, asked).catch((error: unknown) => {
    if (!(error instanceof NotKept)) {
      throw error;
    }
  });
}
