import type { Command } from "commander";

import { exactLine } from "../../../core/text/terminal-text.ts";
import { localPrincipal } from "../../../core/principal.ts";
import type { ExchangeRecord } from "../../../core/sessions.ts";
import { whetherRuns } from "../../../exchange/runnable.ts";
import { readRunDetail } from "../../../plans/run-detail.ts";
import { localUser } from "../../../store/records/leases/local-user.ts";
import type { Store } from "../../../store/store.ts";
import { type CliContext, noticeLine, printJson, printLine } from "../../process/context.ts";
import { databaseWords } from "../../process/resume-command.ts";
import { startOf } from "../../process/started-as.ts";
import { wrongUsage } from "../../process/wrong-usage.ts";

/** Error codes: `invalid_usage` for what only a process that runs the run itself can do. */
export function refuseDetached({
  detach,
  allow,
  trust,
  "json=events": events,
}: {
  readonly detach?: true;
  readonly allow?: readonly string[];
  readonly trust?: true;
  readonly "json=events"?: true;
}): void {
  if (detach === true && allow !== undefined) {
    throw wrongUsage(
      "--allow permits calls in this process only, and --detach hands the run to a service. Leave one of them out.",
    );
  }
  if (detach === true && trust === true) {
    throw wrongUsage(
      "--trust counts in this process only, and --detach hands the run to a service. Use `reprise trust add` in the folder, which counts for the service too, or leave one of them out.",
    );
  }
  if (detach === true && events === true) {
    throw wrongUsage(
      "--json=events prints what this process runs, and --detach hands the run to a service. Use `reprise follow <id> --json=events` for a run of a service.",
    );
  }
}

/** Returns who asks for a run that a service begins or continues. */
export function detachedBy(cli: CliContext) {
  const origin = cli.stdin.isTTY === true ? "terminal" : "prompt";
  return { asked_by: "prompt", principal: localPrincipal(origin, localUser()) } as const;
}

/** Says what was queued, and how to start a service if none takes it. */
export async function showDetached(
  cli: CliContext,
  store: Store,
  detached: {
    readonly command: Command;
    readonly exchange: Pick<ExchangeRecord, "session_id" | "state">;
    readonly json: boolean;
  },
): Promise<void> {
  const { command, exchange, json } = detached;
  const { session_id } = exchange;
  if (json) {
    printJson(cli, await store.read(readRunDetail, { reference: session_id }), 2);
  } else {
    printLine(cli, `Queued: run ${session_id}`);
  }
  const words = databaseWords(cli, command);
  const { command: start } = await whetherRuns(store, exchange, { besides: false });
  if (start !== null) {
    noticeLine(
      cli,
      `No running service takes it. Start one with: ${exactLine(`${start}${words}`)}`,
    );
  }
  noticeLine(cli, `Watch it with: ${startOf(cli)} plan status ${session_id} --watch${words}`);
}
