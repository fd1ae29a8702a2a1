import type { Command } from "commander";

import { type ExchangeState, isFinal } from "../../../core/exchanges.ts";
import { RepriseError } from "../../../core/errors.ts";
import type { FollowStep } from "../../../core/live/follow-exchange.ts";
import type { ExchangeRecord } from "../../../core/sessions.ts";
import { exactLine, visible } from "../../../core/text/terminal-text.ts";
import { isPassing } from "../../../exchange/exchange-failure.ts";
import { followElsewhere } from "../../../exchange/live/follow-exchange.ts";
import { createStoredReport } from "../../../exchange/report-stored-exchange.ts";
import { type Runnable, whetherRuns } from "../../../exchange/runnable.ts";
import { readExchange } from "../../../store/records/exchanges/read.ts";
import { waitsFor } from "../../../store/records/exchanges/waits-for.ts";
import { readMessagesAfter } from "../../../store/records/messages/read.ts";
import { listOpenQuestions, type OpenQuestion } from "../../../store/records/questions/read.ts";
import { failureLine } from "../../../store/records/sessions/failures.ts";
import type { Store } from "../../../store/store.ts";
import {
  type CliContext,
  noticeLine,
  noticeNow,
  printJson,
  printLine,
} from "../../process/context.ts";
import { ASKS } from "../../process/exit-code.ts";
import { createFollowedThoughts } from "../../lines/thought-lines.ts";
import { GRAPH_ASKS, questionLines, reasonLine } from "../../output/question-lines.ts";
import { answerCommandLine, databaseWords, resumeCommand } from "../../process/resume-command.ts";
import { onSignals } from "../../process/signals.ts";
import { startOf } from "../../process/started-as.ts";

/** Returns the exit code of a command that has followed the exchange to this state. */
export function exitCodeAfter(state: ExchangeState): number {
  if (!isFinal(state)) {
    return ASKS;
  }
  return state === "done" ? 0 : 1;
}

/** The questions that have to be answered before the session's exchange continues. */
export async function openQuestions(
  store: Store,
  { session_id }: ExchangeRecord,
): Promise<readonly OpenQuestion[]> {
  const open = await store.read(listOpenQuestions, { reference: session_id });
  return open.filter(({ kind }) => kind !== "messages");
}

interface Stored {
  readonly command: Command;
  /** `message` or `answer`. */
  readonly what: string;
  /** The exchange that is followed. */
  readonly exchange: ExchangeRecord;
  readonly json: boolean;
}

/**
 * Follows what was stored. A signal ends only the command, which then says that the exchange stays. If the database goes away meanwhile, the error says that it is stored: who reads a
 * refusal sends the message again.
 *
 * Error codes: `follow_failed`, and as `follow`.
 */
export async function followStored(
  cli: CliContext,
  { command, what, exchange, json }: Stored,
  follow: () => Promise<void>,
): Promise<void> {
  const { session_id, n } = exchange;
  const onSession = (name: string): string =>
    `${startOf(cli)} ${name} ${session_id}${databaseWords(cli, command)}`;
  const stopListening = onSignals(cli, (signal) => {
    noticeNow(cli, `The ${what} stays queued for a service: exchange ${n} of ${session_id}.`);
    noticeNow(cli, exactLine(`Follow it with: ${onSession("follow")}`));
    noticeNow(cli, exactLine(`Stop what the session runs with: ${onSession("stop")}`));
    stopListening();
    process.kill(cli.pid, signal);
  });
  try {
    await follow();
  } catch (error) {
    if (!isPassing(error)) {
      throw error;
    }
    if (json) {
      printJson(cli, exchange);
    }
    noticeLine(cli, exactLine(`Follow the session with: ${onSession("follow")}`));
    throw new RepriseError(
      "follow_failed",
      `The ${what} is stored, so do not send it again. Exchange ${n} of ${session_id} cannot be followed, because the database cannot be read now.`,
      { cause: error },
    );
  } finally {
    stopListening();
  }
}

interface Asked {
  readonly exchange: ExchangeRecord;
  readonly open: readonly OpenQuestion[];
}

/** Says what the exchange, or one before it, waits for. */
export function showQuestions(cli: CliContext, command: Command, { exchange, open }: Asked): void {
  if (open.length === 0 && exchange.state === "waiting") {
    noticeLine(cli, GRAPH_ASKS);
  }
  if (open.length > 0) {
    noticeLine(cli, "The session waits for the answer of a person:");
    const answer = answerCommandLine(cli, command, exchange.session_id);
    const asked = open.flatMap((each) => [...questionLines(each), ...reasonLine(each)]);
    for (const line of [...asked, `Answer with: ${answer}`]) {
      noticeLine(cli, line);
    }
  }
}

interface Following {
  /** Called once no node runs the exchange any more. */
  readonly warn: ((runs: Runnable) => void) | null;
  /** Called with each step. */
  readonly show: (step: FollowStep<ExchangeRecord>) => Promise<void>;
  /** Called once an exchange before it was interrupted that no node continues. */
  readonly onInterrupted: () => void;
}

/**
 * Follows an exchange until it has ended or waits for a person, or one before it does. Nobody answers while a command
 * waits, but somebody may continue what was interrupted.
 */
export async function whenEnded(
  store: Store,
  { session_id, n }: ExchangeRecord,
  { warn, show, onInterrupted }: Following,
): Promise<ExchangeRecord> {
  let warned = warn === null;
  let wasInterrupted = false;
  for await (const step of followElsewhere(store, { session_id, n, outlastsInterruption: true })) {
    await show(step);
    if (step.event === "over") {
      return step.exchange;
    }
    if (step.event !== "queued") {
      continue;
    }
    const { exchange } = step;
    const isBehind = exchange.begun_at === null;
    if (isBehind && (await openQuestions(store, exchange)).length > 0) {
      return exchange;
    }
    if (isBehind && !wasInterrupted) {
      wasInterrupted = (await store.read(waitsFor, { session_id })) === "resumption";
      if (wasInterrupted) {
        onInterrupted();
      }
    }
    if (!warned) {
      const runs = await whetherRuns(store, exchange, { besides: false });
      warned = !runs.runnable;
      warn?.(runs);
    }
  }
  return store.read(readExchange, { reference: session_id, n });
}

interface Printed {
  readonly json: boolean;
  /** True for a line of JSON for each event. */
  readonly events: boolean;
}

/** Makes what shows the steps of an exchange that is followed: its events, or on a terminal that the model thinks. */
export function createProgress(
  cli: CliContext,
  store: Store,
  { exchange, json, events }: Printed & Pick<Asked, "exchange">,
): Following["show"] {
  if (events) {
    return createStoredReport(store, (event) => printJson(cli, event), exchange);
  }
  const thoughts =
    json || !cli.stderr.isTTY ? null : createFollowedThoughts((line) => noticeNow(cli, line));
  return async (step) => thoughts?.(step);
}

/** Says what has to be started, if anything has. */
export function showCommand(cli: CliContext, command: Command, start: string | null): void {
  if (start !== null) {
    const line = exactLine(`${start}${databaseWords(cli, command)}`);
    noticeNow(cli, `No running service answers this session. Start one with: ${line}`);
  }
}

/** Says that an exchange before it was interrupted, and what continues that. */
export function showInterrupted(cli: CliContext, command: Command, id: string): void {
  const again = resumeCommand(cli, command, id);
  noticeNow(
    cli,
    `The exchange before it was interrupted, and only a person continues it, with: ${again} --continue-exchange`,
  );
}

/** Prints the answer of an exchange that has ended, and why there is none. */
export async function showAnswer(
  cli: CliContext,
  store: Store,
  exchange: ExchangeRecord,
): Promise<void> {
  const { session_id, first_seq, last_seq, state, error_code, error_sentence } = exchange;
  // an exchange that never began has none
  const after_seq = (first_seq ?? 1) - 1;
  const limit = first_seq === null ? 0 : (last_seq ?? 0) - after_seq;
  const messages = await store.read(readMessagesAfter, { session_id, after_seq, all: true, limit });
  const answer = messages.findLast(({ role, is_summary }) => role === "assistant" && !is_summary);
  if (answer !== undefined) {
    printLine(cli, visible(answer.content));
  }
  if (state !== "done") {
    const reason = { code: error_code ?? "", sentence: error_sentence ?? "" };
    const why = error_sentence === null ? "" : ` ${failureLine(reason)}`;
    noticeLine(cli, `The exchange ${state === "failed" ? "failed" : "was stopped"}.${why}`);
  }
}
