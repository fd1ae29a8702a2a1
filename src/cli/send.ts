import { setTimeout as sleep } from "node:timers/promises";

import { Command } from "commander";

import { type ExchangeState, isFinal } from "../core/exchanges.ts";
import type { ExchangeRecord } from "../core/sessions.ts";
import { exactLine, visible } from "../core/terminal-text.ts";
import { createStoredReport } from "../exchange/report-stored-exchange.ts";
import { type Runnable, whetherRuns } from "../exchange/runnable.ts";
import { queueExchange } from "../store/exchanges/queue.ts";
import { readExchange } from "../store/exchanges/read.ts";
import { waitsFor } from "../store/exchanges/waits-for.ts";
import { listOpenQuestions, type OpenQuestion } from "../store/questions/read.ts";
import { readMessagesAfter } from "../store/messages/read.ts";
import { failureLine } from "../store/sessions/failures.ts";
import type { Store } from "../store/store.ts";
import { EVENTS_OPTION } from "./chat-options.ts";
import { type CliContext, noticeLine, printJson, printLine } from "./context.ts";
import { openDatabase, withStore } from "./database.ts";
import { ASKS } from "./exit-code.ts";
import { promptText } from "./prompt-text.ts";
import { GRAPH_ASKS, questionLines } from "./question-lines.ts";
import { answerCommandLine, databaseWords, resumeCommand } from "./resume-command.ts";
import { noticeWithdrawn } from "./withdrawn.ts";
import { wrongUsage } from "./wrong-usage.ts";

/** How often `--follow` asks whether the exchange has ended. */
const FOLLOW_MS = 250;
/** In how many of these polls it asks once whether a node is there to run it. */
const POLLS_OF_NODES = 40;
/** In how many of them it asks once whether an exchange before it waits for a person. */
const POLLS_OF_QUESTIONS = 4;

interface SendOptions {
  readonly follow?: true;
  readonly supersede?: true;
  readonly json?: true;
  readonly "json=events"?: true;
}

/** `send <id> <text>`: queues a message, which a running service answers. */
export function sendCommand(cli: CliContext): Command {
  const command = new Command("send")
    .description("queue a message for a running service (reprise serve) to answer")
    .argument("<id>", "an id, or the first 6 or more characters of it")
    .argument("<text>", "the message; - reads it from stdin")
    .option("--follow", "wait until it is answered, and print the answer")
    .option(
      "--supersede",
      "withdraw the questions that the session asks, and stop what waits for them",
    )
    .option("--json", "print the exchange as the HTTP API returns it")
    .option(EVENTS_OPTION, "with --follow, print one line of JSON for each event")
    .action(async (reference: string, given: string, options: SendOptions) => {
      const events = options["json=events"] === true;
      if (events && options.follow !== true) {
        throw wrongUsage("--json=events of this command needs --follow.");
      }
      const content = await promptText(cli, given, "the id");
      await using store = await openDatabase(cli, command);
      const supersede = options.supersede === true;
      const before = supersede ? await store.read(listOpenQuestions, { reference }) : [];
      const origin = cli.stdin.isTTY === true ? "terminal" : "prompt";
      const queued = await store.write(queueExchange, {
        reference,
        content,
        supersede,
        // nobody sees its events: a limit that it reaches is not asked about
        asked_by: "prompt",
        caller: { origin, authenticated: true },
      });
      if (before.length > 0 && options.json !== true) {
        const after = await store.read(listOpenQuestions, { reference: queued.session_id });
        noticeWithdrawn(cli, before, after);
      }
      const runs = await whetherRuns(store, queued, { besides: false });
      const warn = ({ command: start }: Runnable): void => showCommand(cli, command, start);
      warn(runs);
      const onPoll = events
        ? createStoredReport(store, (event) => printJson(cli, event), queued)
        : () => Promise.resolve();
      const exchange =
        options.follow === true
          ? await ended(store, queued, {
              warn: runs.runnable ? warn : null,
              onPoll,
              onInterrupted: () => showInterrupted(cli, command, queued.session_id),
            })
          : queued;
      const open = await asked(store, exchange);
      if (options.json === true) {
        const more = exchange === queued ? { ...runs, open_question: open[0]?.id ?? null } : {};
        const questions = exchange !== queued && open.length > 0 ? { questions: open } : {};
        printJson(cli, { ...exchange, ...more, ...questions });
      } else if (isFinal(exchange.state)) {
        if (!events) {
          await showAnswer(cli, store, exchange);
        }
      } else {
        if (!events) {
          printLine(cli, `Queued: exchange ${exchange.n} of ${exchange.session_id}`);
        }
        showQuestions(cli, command, { exchange, open });
      }
      cli.exitCode = options.follow === true ? exitCodeAfter(exchange.state) : 0;
    });
  return withStore(command);
}

/** Of a command that has followed the exchange to this state. */
function exitCodeAfter(state: ExchangeState): number {
  if (!isFinal(state)) {
    return ASKS;
  }
  return state === "done" ? 0 : 1;
}

/** The questions that have to be answered before the session's exchange continues. */
async function asked(
  store: Store,
  { session_id }: ExchangeRecord,
): Promise<readonly OpenQuestion[]> {
  const open = await store.read(listOpenQuestions, { reference: session_id });
  return open.filter(({ kind }) => kind !== "messages");
}

interface Asked {
  readonly exchange: ExchangeRecord;
  readonly open: readonly OpenQuestion[];
}

/** Says what the exchange, or one before it, waits for. */
function showQuestions(cli: CliContext, command: Command, { exchange, open }: Asked): void {
  if (open.length === 0 && exchange.state === "waiting") {
    noticeLine(cli, GRAPH_ASKS);
  }
  if (open.length > 0) {
    noticeLine(cli, "The session waits for the answer of a person:");
    const answer = answerCommandLine(cli, command, exchange.session_id);
    for (const line of [...open.flatMap(questionLines), `Answer with: ${answer}`]) {
      noticeLine(cli, line);
    }
  }
}

interface Following {
  /** Called once no node runs the exchange any more. */
  readonly warn: ((runs: Runnable) => void) | null;
  /** Called with each state that is read. */
  readonly onPoll: (exchange: ExchangeRecord) => Promise<void>;
  /** Called once an exchange before it was interrupted that no node continues. */
  readonly onInterrupted: () => void;
}

async function ended(
  store: Store,
  { session_id, n }: ExchangeRecord,
  { warn, onPoll, onInterrupted }: Following,
): Promise<ExchangeRecord> {
  let warned = warn === null;
  let wasInterrupted = false;
  for (let poll = 1; ; poll += 1) {
    const exchange = await store.read(readExchange, { reference: session_id, n });
    await onPoll(exchange);
    // nobody answers while this command waits
    if (isFinal(exchange.state) || exchange.state === "waiting") {
      return exchange;
    }
    const isBehind = exchange.state === "queued" && poll % POLLS_OF_QUESTIONS === 1;
    if (isBehind && (await asked(store, exchange)).length > 0) {
      return exchange;
    }
    if (isBehind && !wasInterrupted) {
      wasInterrupted = (await store.read(waitsFor, { session_id })) === "resumption";
      if (wasInterrupted) {
        onInterrupted();
      }
    }
    if (!warned && poll % POLLS_OF_NODES === 0) {
      const runs = await whetherRuns(store, exchange, { besides: false });
      warned = !runs.runnable;
      warn?.(runs);
    }
    await sleep(FOLLOW_MS);
  }
}

/** Says what has to be started, if anything has. */
function showCommand(cli: CliContext, command: Command, start: string | null): void {
  if (start !== null) {
    const line = exactLine(`${start}${databaseWords(cli, command)}`);
    noticeLine(cli, `No running service answers this session. Start one with: ${line}`);
  }
}

function showInterrupted(cli: CliContext, command: Command, id: string): void {
  const again = resumeCommand(cli, command, id);
  noticeLine(
    cli,
    `The exchange before it was interrupted, and only a person continues it, with: ${again} --continue-exchange`,
  );
}

async function showAnswer(cli: CliContext, store: Store, exchange: ExchangeRecord): Promise<void> {
  const { session_id, first_seq, last_seq, state, error_code, error_sentence } = exchange;
  // one that never began has none
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
