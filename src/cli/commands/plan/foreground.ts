import type { Command } from "commander";

import { isRepriseError } from "../../../core/errors.ts";
import { localPrincipal } from "../../../core/principal.ts";
import type { Exchanger } from "../../../exchange/exchanger.ts";
import type { RunDetail } from "../../../core/schemas/plan-run-schemas.ts";
import { readRunDetail } from "../../../plans/run-detail.ts";
import { readCurrentExchange } from "../../../store/records/exchanges/current.ts";
import { localUser } from "../../../store/records/leases/local-user.ts";
import { listOpenQuestions } from "../../../store/records/questions/read.ts";
import type { Store } from "../../../store/store.ts";
import { questionLines, reasonLine } from "../../output/question-lines.ts";
import { databaseLocation, exchangerConfig } from "../../process/config.ts";
import {
  type CliContext,
  noticeLine,
  printJson,
  printLine,
  printLines,
} from "../../process/context.ts";
import { databaseOption } from "../../process/database.ts";
import { ASKS } from "../../process/exit-code.ts";
import { ownSecrets } from "../../process/own-secrets.ts";
import { answerCommandLine, resumeRunCommand } from "../../process/resume-command.ts";
import { onSignals } from "../../process/signals.ts";
import { phaseLine, runLines } from "./run-lines.ts";

export interface Foreground {
  readonly store: Store;
  readonly command: Command;
  readonly session_id: string;
  /** Rules of `--allow`. */
  readonly allow: readonly string[];
  readonly json: boolean;
}

/**
 * Runs a run in this process until it has ended, or only people can help. The exit code is 0 if all phases are done, 7 if
 * a person is asked, else 1.
 *
 * Error codes: as `Exchanger.exchange`, but for phases that failed.
 */
export async function runForeground(cli: CliContext, run: Foreground): Promise<void> {
  const { store, session_id, json } = run;
  const read = (): Promise<RunDetail> => store.read(readRunDetail, { reference: session_id });
  const exchanger = await openedExchanger(cli, run);
  const follow = json ? null : new PhaseLines(cli, store, { session_id, read });
  let end: RunEnd;
  try {
    end = await runUntilEnd(cli, run, exchanger);
  } finally {
    await follow?.end();
  }
  const detail = await read();
  const asked =
    end === "waiting" ? await store.read(listOpenQuestions, { reference: session_id }) : [];
  if (json) {
    printJson(cli, detail, 2);
  } else {
    printLines(cli, runLines(detail));
    for (const each of asked) {
      printLines(cli, [...questionLines(each), ...reasonLine(each)]);
    }
  }
  if (end === "waiting") {
    noticeLine(cli, `Answer with: ${answerCommandLine(cli, run.command, session_id)}`);
  }
  if (end !== "done") {
    noticeLine(cli, `Then continue with: ${resumeRunCommand(cli, run.command, session_id)}`);
  }
  cli.exitCode = end === "done" ? 0 : end === "waiting" ? ASKS : 1;
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

type RunEnd = "done" | "failed" | "stopped" | "waiting";

async function runUntilEnd(
  cli: CliContext,
  { store, session_id, json }: Foreground,
  exchanger: Exchanger,
): Promise<RunEnd> {
  const stop = new AbortController();
  // a second signal ends the program in the system's own way
  const stopListening = onSignals(cli, () => {
    stopListening();
    stop.abort();
  });
  const principal = localPrincipal(cli.stdin.isTTY === true ? "terminal" : "prompt", localUser());
  const { signal } = stop;
  try {
    for (;;) {
      const request = { session_id, text: null, principal };
      const { state } = await exchanger.exchange(request, { listener: () => {}, signal });
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

/** Prints a line whenever what is shown of a phase has changed. */
class PhaseLines {
  readonly #cli: CliContext;
  readonly #read: () => Promise<RunDetail>;
  readonly #shown = new Map<string, string>();
  readonly #stopListening: () => void;
  #reading: Promise<void> = Promise.resolve();
  #isDue = false;

  constructor(
    cli: CliContext,
    store: Store,
    run: { readonly session_id: string; readonly read: () => Promise<RunDetail> },
  ) {
    this.#cli = cli;
    this.#read = run.read;
    this.#stopListening = store.onCommit((ids) => {
      if (ids.has(run.session_id)) {
        this.#update();
      }
    });
  }

  async end(): Promise<void> {
    this.#stopListening();
    await this.#reading;
  }

  /** However many commits come while it reads, it reads once more after them. */
  #update(): void {
    if (this.#isDue) {
      return;
    }
    this.#isDue = true;
    this.#reading = this.#reading.then(async () => {
      this.#isDue = false;
      const { phases } = await this.#read();
      for (const phase of phases) {
        const text = `${phase.shown} ${phase.attempt}`;
        const isNews = !["waiting", "ready"].includes(phase.shown);
        if (isNews && this.#shown.get(phase.key) !== text) {
          printLine(this.#cli, phaseLine(phase));
        }
        this.#shown.set(phase.key, text);
      }
    });
    // what cannot be read now is shown at the end, or is why the run fails
    this.#reading = this.#reading.catch(() => undefined);
  }
}
