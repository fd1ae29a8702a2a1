import { Command } from "commander";

import { isFinal } from "../core/exchanges.ts";
import { createStoredReport } from "../exchange/report-stored-exchange.ts";
import { type Runnable, runnableOn } from "../exchange/runnable.ts";
import { queueAndRead } from "../store/exchanges/queue-and-read.ts";
import { listOpenQuestions } from "../store/questions/read.ts";
import { EVENTS_OPTION } from "./chat-options.ts";
import { type CliContext, printJson, printLine } from "./context.ts";
import { openDatabase, withStore } from "./database.ts";
import {
  exitCodeAfter,
  openQuestions,
  showAnswer,
  showCommand,
  showInterrupted,
  showQuestions,
  whenEnded,
} from "./follow-exchange.ts";
import { promptText } from "./prompt-text.ts";
import { noticeWithdrawn } from "./withdrawn.ts";
import { wrongUsage } from "./wrong-usage.ts";
import { localPrincipal } from "../core/principal.ts";

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
      const {
        record: queued,
        open: asked,
        nodes,
      } = await store.write(queueAndRead, {
        reference,
        content,
        supersede,
        // nobody sees its events: a limit that it reaches is not asked about
        asked_by: "prompt",
        principal: localPrincipal(origin, null),
      });
      if (before.length > 0 && options.json !== true) {
        noticeWithdrawn(cli, before, asked);
      }
      const runs = await runnableOn(nodes, { besides: false });
      const warn = ({ command: start }: Runnable): void => showCommand(cli, command, start);
      warn(runs);
      const onPoll = events
        ? createStoredReport(store, (event) => printJson(cli, event), queued)
        : () => Promise.resolve();
      const exchange =
        options.follow === true
          ? await whenEnded(store, queued, {
              warn: runs.runnable ? warn : null,
              onPoll,
              onInterrupted: () => showInterrupted(cli, command, queued.session_id),
            })
          : queued;
      const open =
        exchange === queued
          ? asked.filter(({ kind }) => kind !== "messages")
          : await openQuestions(store, exchange);
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
