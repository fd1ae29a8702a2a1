import { Command } from "commander";

import { isFinal } from "../../../core/exchanges.ts";
import { oneLine } from "../../../core/text/terminal-text.ts";
import { isFolder } from "../../../workspace/files/is-folder.ts";
import { type Runnable, runnableOn } from "../../../exchange/runnable.ts";
import { createPriceCheck } from "../../../rules/personas/preflight.ts";
import type { Queued } from "../../../store/records/exchanges/queue-and-read.ts";
import { listOpenQuestions } from "../../../store/records/questions/read.ts";
import { queuePriced } from "../../../store/requests.ts";
import type { Store } from "../../../store/store.ts";
import { personaFolderPaths, settingsOf } from "../../process/config.ts";
import { EVENTS_OPTION } from "./chat-options.ts";
import { type CliContext, note, printJson, printLine } from "../../process/context.ts";
import { openDatabase, withStore } from "../../process/database.ts";
import {
  createProgress,
  exitCodeAfter,
  followStored,
  openQuestions,
  showAnswer,
  showCommand,
  showInterrupted,
  showQuestions,
  whenEnded,
} from "./follow-exchange.ts";
import { promptText } from "../../chat/prompt-text.ts";
import { noticeWithdrawn } from "../../chat/withdrawn.ts";
import { wrongUsage } from "../../process/wrong-usage.ts";
import { localPrincipal } from "../../../core/principal.ts";

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
      if (options["json=events"] === true && options.follow !== true) {
        throw wrongUsage("--json=events of this command needs --follow.");
      }
      const content = await promptText(cli, given, "the id");
      await using store = await openDatabase(cli, command);
      const supersede = options.supersede === true;
      const before = supersede ? await store.read(listOpenQuestions, { reference }) : [];
      const origin = cli.stdin.isTTY === true ? "terminal" : "prompt";
      const message = {
        reference,
        content,
        supersede,
        // a limit that it reaches is not asked about: nobody sees its events
        asked_by: "prompt",
        principal: localPrincipal(origin, null),
      } as const;
      const checkPrice = createPriceCheck({
        settings: settingsOf(cli),
        personas: personaFolderPaths(cli),
      });
      const queued = await queuePriced(store, message, checkPrice);
      // nothing below may read the database, but to follow: the message is stored
      if (before.length > 0 && options.json !== true) {
        noticeWithdrawn(cli, before, queued.open);
      }
      const folder = queued.nodes?.repo_path ?? null;
      if (folder !== null && !(await isFolder(folder))) {
        const where = "does not exist on this machine, where its exchanges would fail";
        note(cli, `The folder of this session ${where}: ${oneLine(folder)}`);
      }
      const runs = await runnableOn(queued.nodes, { besides: false });
      showCommand(cli, command, runs.command);
      const sent = { command, options, queued, runs };
      if (options.follow === true) {
        const { record: exchange } = queued;
        const stored = { command, what: "message", exchange, json: options.json === true };
        await followStored(cli, stored, () => follow(cli, store, sent));
      } else {
        showQueued(cli, sent);
      }
    });
  return withStore(command);
}

interface SentMessage {
  readonly command: Command;
  readonly options: SendOptions;
  readonly queued: Queued;
  readonly runs: Runnable;
}

function showQueued(cli: CliContext, { command, options, queued, runs }: SentMessage): void {
  const { record: exchange } = queued;
  const open = queued.open.filter(({ kind }) => kind !== "messages");
  if (options.json === true) {
    printJson(cli, { ...exchange, ...runs, open_question: open[0]?.id ?? null });
  } else {
    printLine(cli, `Queued: exchange ${exchange.n} of ${exchange.session_id}`);
    showQuestions(cli, command, { exchange, open });
  }
}

/** Waits until it is answered, or somebody is asked. */
async function follow(
  cli: CliContext,
  store: Store,
  { command, options, queued, runs }: SentMessage,
): Promise<void> {
  const { record } = queued;
  const events = options["json=events"] === true;
  const exchange = await whenEnded(store, record, {
    warn: runs.runnable ? ({ command: start }) => showCommand(cli, command, start) : null,
    show: createProgress(cli, store, { exchange: record, json: options.json === true, events }),
    onInterrupted: () => showInterrupted(cli, command, record.session_id),
  });
  const open = await openQuestions(store, exchange);
  if (options.json === true) {
    printJson(cli, { ...exchange, ...(open.length > 0 ? { questions: open } : {}) });
  } else if (!isFinal(exchange.state)) {
    if (!events) {
      printLine(cli, `Queued: exchange ${exchange.n} of ${exchange.session_id}`);
    }
    showQuestions(cli, command, { exchange, open });
  } else if (!events) {
    await showAnswer(cli, store, exchange);
  }
  cli.exitCode = exitCodeAfter(exchange.state);
}
