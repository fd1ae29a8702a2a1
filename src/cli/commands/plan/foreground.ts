import type { Command } from "commander";

import { isRepriseError } from "../../../core/errors.ts";
import { localPrincipal } from "../../../core/principal.ts";
import type { ExchangeListener } from "../../../exchange/events.ts";
import type { Exchanger } from "../../../exchange/exchanger.ts";
import type { RunDetail } from "../../../core/schemas/plan-run-schemas.ts";
import { readRunDetail } from "../../../plans/run-detail.ts";
import { readCurrentExchange } from "../../../store/records/exchanges/current.ts";
import { localUser } from "../../../store/records/leases/local-user.ts";
import { listOpenQuestions } from "../../../store/records/questions/read.ts";
import type { Store } from "../../../store/store.ts";
import { databaseLocation, exchangerConfig } from "../../process/config.ts";
import { type CliContext, noticeLine, printJson } from "../../process/context.ts";
import { databaseOption } from "../../process/database.ts";
import { ownSecrets } from "../../process/own-secrets.ts";
import { onSignals } from "../../process/signals.ts";
import { answeredHere } from "./answer-here.ts";
import { RunFollower } from "./follow-run.ts";
import { showRunEnd } from "./run-end.ts";

export interface Foreground {
  readonly store: Store;
  readonly command: Command;
  readonly session_id: string;
  /** Rules of `--allow`. */
  readonly allow: readonly string[];
  readonly json: boolean;
  /** Prints the events of its exchange as lines of JSON, and nothing else; `json` is true then. */
  readonly events: boolean;
}

/**
 * Runs a run in this process until it has ended, or only people can help. The exit code is 0 if all phases are done, 7 if
 * a person is asked, else 1.
 *
 * Error codes: as `Exchanger.exchange`, but for phases that failed.
 */
export async function runForeground(cli: CliContext, run: Foreground): Promise<void> {
  const { store, command, session_id, json, events } = run;
  const read = (): Promise<RunDetail> => store.read(readRunDetail, { reference: session_id });
  const exchanger = await openedExchanger(cli, run);
  for (;;) {
    const follow = json ? null : new RunFollower(cli, store, { session_id, read });
    let end: Ended;
    try {
      end = await runUntilEnd(cli, run, exchanger);
    } finally {
      await follow?.end();
    }
    const asked =
      end === "waiting" ? await store.read(listOpenQuestions, { reference: session_id }) : [];
    // a person at a terminal answers at once
    const asks = !json && cli.stdin.isTTY === true;
    const { isAnswered, shown } = asks
      ? await answeredHere(cli, store, asked)
      : { isAnswered: false, shown: 0 };
    if (!isAnswered) {
      const detail = await read();
      showRunEnd(cli, { command, end, detail, asked, shown, json, events, isOwn: true });
      return;
    }
  }
}

async function openedExchanger(
  cli: CliContext,
  { store, command, allow }: Foreground,
): Promise<Exchanger> {
  const location = databaseLocation(cli, databaseOption(command));
  return cli.openExchanger({
    ...exchangerConfig(cli, store, { location }),
    secrets: ownSecrets(cli, { location }),
    permission: { allow, asks: true },
  });
}

type Ended = "done" | "failed" | "stopped" | "waiting";

async function runUntilEnd(
  cli: CliContext,
  { store, session_id, json, events }: Foreground,
  exchanger: Exchanger,
): Promise<Ended> {
  const stop = new AbortController();
  // a second signal ends the program in the system's own way
  const stopListening = onSignals(cli, () => {
    stopListening();
    stop.abort();
  });
  const principal = localPrincipal(cli.stdin.isTTY === true ? "terminal" : "prompt", localUser());
  const { signal } = stop;
  const listener: ExchangeListener = (event) => (events ? printJson(cli, event) : undefined);
  try {
    for (;;) {
      const request = { session_id, text: null, principal };
      const { state } = await exchanger.exchange(request, { listener, signal });
      const open =
        state === "waiting" ? await store.read(listOpenQuestions, { reference: session_id }) : [];
      const current = await store.read(readCurrentExchange, { session_id });
      // an answer that came while the run parked lets it continue
      if (state !== "waiting" || (open.length > 0 && current?.state !== "queued")) {
        return state;
      }
    }
  } catch (error) {
    if (!isRepriseError(error, "phase_failed")) {
      throw error;
    }
    if (!json) {
      noticeLine(cli, error.message);
    }
    return "failed";
  } finally {
    stopListening();
  }
}
