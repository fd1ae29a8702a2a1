import { setTimeout as sleep } from "node:timers/promises";

import { Command } from "commander";

import { isFinal } from "../core/exchanges.ts";
import type { ExchangeRecord } from "../core/sessions.ts";
import { visible } from "../core/terminal-text.ts";
import { queueExchange } from "../store/exchanges/queue.ts";
import { readExchange } from "../store/exchanges/read.ts";
import { readMessagesAfter } from "../store/messages/read.ts";
import type { Store } from "../store/store.ts";
import { type CliContext, noticeLine, printJson, printLine } from "./context.ts";
import { openDatabase, withStore } from "./database.ts";
import { promptText } from "./prompt-text.ts";

/** How often `--follow` asks whether the exchange has ended. */
const FOLLOW_MS = 250;

interface SendOptions {
  readonly follow?: true;
  readonly json?: true;
}

/** `send <id> <text>`: queues a message, which a running service answers. */
export function sendCommand(cli: CliContext): Command {
  const command = new Command("send")
    .description("queue a message for a running service (reprise serve) to answer")
    .argument("<id>", "an id, or the first 6 or more characters of it")
    .argument("<text>", "the message; - reads it from stdin")
    .option("--follow", "wait until it is answered, and print the answer")
    .option("--json", "print the exchange as the HTTP API returns it")
    .action(async (reference: string, given: string, options: SendOptions) => {
      const content = await promptText(cli, given);
      await using store = await openDatabase(cli, command);
      const origin = cli.stdin.isTTY === true ? "terminal" : "prompt";
      const queued = await store.write(queueExchange, {
        reference,
        content,
        asked_by: origin,
        caller: { origin, authenticated: true },
      });
      const exchange = options.follow === true ? await ended(store, queued) : queued;
      if (options.json === true) {
        printJson(cli, exchange);
      } else if (options.follow === true) {
        await showAnswer(cli, store, exchange);
      } else {
        printLine(cli, `Queued: exchange ${exchange.n} of ${exchange.session_id}`);
      }
      cli.exitCode = exchange.state === "failed" ? 1 : 0;
    });
  return withStore(command);
}

async function ended(store: Store, { session_id, n }: ExchangeRecord): Promise<ExchangeRecord> {
  for (;;) {
    const exchange = await store.read(readExchange, { reference: session_id, n });
    if (isFinal(exchange.state)) {
      return exchange;
    }
    await sleep(FOLLOW_MS);
  }
}

async function showAnswer(cli: CliContext, store: Store, exchange: ExchangeRecord): Promise<void> {
  const { session_id, first_seq, last_seq, state, error_code, error_sentence } = exchange;
  const messages = await store.read(readMessagesAfter, {
    session_id,
    after_seq: (first_seq ?? 1) - 1,
    all: true,
    limit: (last_seq ?? 0) - (first_seq ?? 1) + 1,
  });
  const answer = messages.findLast(({ role, is_summary }) => role === "assistant" && !is_summary);
  if (answer !== undefined) {
    printLine(cli, visible(answer.content));
  }
  if (state !== "done") {
    const why = error_sentence === null ? "" : ` ${error_sentence} [${error_code ?? ""}]`;
    noticeLine(cli, `The exchange ${state === "failed" ? "failed" : "was stopped"}.${why}`);
  }
}
