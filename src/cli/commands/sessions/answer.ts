import { PLAN_AGENT } from "../../../core/plan-runs.ts";
import { Command } from "commander";

import { isFinal } from "../../../core/exchanges.ts";
import { MAX_ANSWER } from "../../../core/questions.ts";
import type { ExchangeRecord, QuestionRecord } from "../../../core/sessions.ts";
import { exactLine } from "../../../core/text/terminal-text.ts";
import { editsChoice, folderChoice } from "../../../core/text/words.ts";
import { isPassing } from "../../../exchange/exchange-failure.ts";
import { whetherRuns } from "../../../exchange/runnable.ts";
import { refuseUnstorable } from "../../../exchange/storable-message.ts";
import { answerQuestion, terminalRequired } from "../../../store/records/questions/answer.ts";
import { setPermissionMode } from "../../../store/records/sessions/permissions.ts";
import { readSession } from "../../../store/records/sessions/read.ts";
import { localUser } from "../../../store/records/leases/local-user.ts";
import { readNextQueued } from "../../../store/records/exchanges/ready.ts";
import {
  lastQuestion,
  listOpenQuestions,
  type OpenQuestion,
} from "../../../store/records/questions/read.ts";
import { delegationTop } from "../../../store/records/questions/tree.ts";
import { readCurrentExchange } from "../../../store/records/exchanges/current.ts";
import type { Store } from "../../../store/store.ts";
import {
  furtherLines,
  type Offered,
  offeredChoices,
  storedAnswer,
} from "../../chat/allow-in-config.ts";
import { EVENTS_OPTION } from "../chat/chat-options.ts";
import {
  type CliContext,
  noticeLine,
  printJson,
  printLine,
  printLines,
} from "../../process/context.ts";
import { openDatabase, withStore } from "../../process/database.ts";
import {
  createProgress,
  exitCodeAfter,
  followStored,
  openQuestions,
  showAnswer,
  showInterrupted,
  showQuestions,
  whenEnded,
} from "../chat/follow-exchange.ts";
import { promptText } from "../../chat/prompt-text.ts";
import {
  answerOf,
  type GivenAnswer,
  questionLines,
  reasonLine,
  replyOf,
} from "../../output/question-lines.ts";
import { databaseWords, resumeCommand, resumeRunCommand } from "../../process/resume-command.ts";
import { wrongUsage } from "../../process/wrong-usage.ts";
import { localPrincipal } from "../../../core/principal.ts";

interface AnswerOptions {
  readonly question?: string;
  readonly note?: string;
  readonly follow?: true;
  readonly json?: true;
  readonly "json=events"?: true;
}

/** `sessions answer <id> [answer]`: answers what a session or its sub-agents ask, or lists it. */
export function answerCommand(cli: CliContext): Command {
  const command = new Command("answer")
    .description("answer a question of a session or its sub-agents; without an answer, list them")
    .argument("<id>", "an id, or the first 6 or more characters of it")
    .argument(
      "[answer]",
      "one of the choices, by its id, words or number, `deny: the reason`, or any text if there are no choices; - reads it from stdin",
    )
    .option("--question <id>", "the question, or the beginning of its id, if there are several")
    .option("--note <text>", "what the agent should know besides")
    .option("--follow", "wait until the exchange that asked has ended, and print its answer")
    .option(
      "--json",
      "print the questions as the HTTP API returns them; with --follow, the exchange",
    )
    .option(EVENTS_OPTION, "with --follow, print one line of JSON for each event")
    .action(async (reference: string, given: string | undefined, options: AnswerOptions) => {
      refuseBadOptions(options, given);
      const answer = await promptText(cli, given);
      refuseUnstorable(options.note ?? "");
      await using store = await openDatabase(cli, command);
      const open = await store.read(listOpenQuestions, { reference });
      if (answer === null) {
        if (options.json === true) {
          printJson(cli, open);
        } else {
          const shown = await Promise.all(open.map((each) => listed(cli, store, each)));
          printLines(cli, open.length === 0 ? ["No question is open."] : shown.flat());
        }
        return;
      }
      if (answer === "" || Math.max(answer.length, options.note?.length ?? 0) > MAX_ANSWER) {
        throw wrongUsage(`An answer has 1 to ${MAX_ANSWER} characters, a note at most as many.`);
      }
      const id = options.question ?? (await onlyOne(store, reference, open));
      const asking = open.find((each) => each.id === idOf(open, id));
      const offered = await offeredIn(cli, store, asking);
      const named = meant(open, { id, answer, offered });
      if (named.answer.note !== null && options.note !== undefined) {
        throw wrongUsage("Give the reason in the answer or with --note, not both.");
      }
      const stored = await storedAnswer(cli, named.answer, offered);
      if (stored === null) {
        cli.exitCode = 2;
        return;
      }
      const waiting = options.follow === true ? await waitingFor(store, asking) : null;
      const origin = cli.stdin.isTTY === true ? "terminal" : "prompt";
      const question = await store.write(answerQuestion, {
        reference,
        question: named.question,
        given: replyOf(stored),
        note: options.note ?? stored.note,
        answered_by: origin,
        principal: localPrincipal(origin, localUser()),
      });
      if (waiting !== null) {
        const answered = { command, question, options, waiting };
        const json = options.json === true;
        const stored = { command, what: "answer", exchange: waiting, json };
        await followStored(cli, stored, () => follow(cli, store, answered));
        return;
      }
      if (options.json === true) {
        printJson(cli, question);
      } else {
        printLine(cli, `Answered: question ${question.id} of ${question.session_id}`);
      }
      await showNextStep(cli, store, { command, question }).catch((error: unknown) => {
        // the answer is stored: a database that goes away now does not make it fail
        if (!isPassing(error)) {
          throw error;
        }
      });
    });
  return withStore(command);
}

/** Error codes: `invalid_usage`. */
function refuseBadOptions(options: AnswerOptions, answer: string | undefined): void {
  if (options["json=events"] === true && options.follow !== true) {
    throw wrongUsage("--json=events of this command needs --follow.");
  }
  if (options.follow === true && answer === undefined) {
    throw wrongUsage("--follow needs an answer; without one, this command lists the questions.");
  }
}

interface Answered {
  readonly command: Command;
  readonly question: QuestionRecord;
  readonly options: AnswerOptions;
  readonly waiting: ExchangeRecord;
}

/** The exchange that waits for the answer; null if none does. */
async function waitingFor(
  store: Store,
  asking: OpenQuestion | undefined,
): Promise<ExchangeRecord | null> {
  if (asking === undefined || asking.kind === "messages") {
    return null;
  }
  const session_id = await store.read(delegationTop, asking.session_id);
  return store.read(readCurrentExchange, { session_id });
}

/** Waits for the exchange that the answer continues, as `send --follow` waits for its own. */
async function follow(cli: CliContext, store: Store, answered: Answered): Promise<void> {
  const { command, options, waiting } = answered;
  const events = options["json=events"] === true;
  await showNextStep(cli, store, answered);
  const exchange = await whenEnded(store, waiting, {
    warn: null,
    show: createProgress(cli, store, { exchange: waiting, json: options.json === true, events }),
    onInterrupted: () => showInterrupted(cli, command, waiting.session_id),
  });
  const open = await openQuestions(store, exchange);
  if (options.json === true) {
    printJson(cli, { ...exchange, ...(open.length > 0 ? { questions: open } : {}) });
  } else if (!isFinal(exchange.state)) {
    showQuestions(cli, command, { exchange, open });
  } else if (!events) {
    await showAnswer(cli, store, exchange);
  }
  cli.exitCode = exitCodeAfter(exchange.state);
}

async function listed(cli: CliContext, store: Store, question: OpenQuestion): Promise<string[]> {
  const offered = await offeredIn(cli, store, question);
  return [
    `question ${question.id}`,
    ...questionLines(question),
    ...furtherLines(question, offered),
    ...reasonLine(question),
    "",
  ];
}

/** The choices that this command takes; only at a terminal more than the question has. */
async function offeredIn(
  cli: CliContext,
  store: Store,
  question: OpenQuestion | undefined,
): Promise<Offered> {
  if (question === undefined || cli.stdin.isTTY !== true) {
    return { choices: question?.choices ?? null, allowEdits: null, grant: null };
  }
  const { session_id, path } = question;
  const { repo_path } = await store.read(readSession, { id: session_id });
  const [root = session_id] = path;
  const principal = localPrincipal("terminal", localUser());
  const setEdits = () => store.write(setPermissionMode, { id: root, mode: "edits", principal });
  return offeredChoices(cli, question, { folder: repo_path, setEdits });
}

interface Meant {
  readonly question: string;
  readonly answer: GivenAnswer;
}

/** The question and the choice that are meant. */
function meant(
  open: readonly OpenQuestion[],
  given: {
    readonly id: string;
    readonly answer: string;
    readonly offered: Offered;
  },
): Meant {
  const question = idOf(open, given.id);
  const kind = open.find(({ id }) => id === question)?.kind ?? "question";
  const answer = answerOf({ kind, choices: given.offered.choices }, given.answer);
  if (answer === null && kind === "permission" && isOfTerminal(given.answer)) {
    throw terminalRequired();
  }
  if (answer === null) {
    throw wrongUsage(
      "The answer is not one of the choices. Give one of them, or its number; without an answer, this command lists them.",
    );
  }
  return { question, answer };
}

/** True for a choice that only a terminal offers. */
function isOfTerminal(given: string): boolean {
  return [folderChoice(""), editsChoice()].some(
    ({ id, label }) => given === id || given.toLowerCase() === label,
  );
}

/** The whole id of a question that is open; of another one, what was given. */
function idOf(open: readonly OpenQuestion[], given: string): string {
  const matching = open.filter(({ id }) => id.startsWith(given));
  if (matching.length > 1) {
    throw wrongUsage("Several questions have ids that begin so. Give more of the id.");
  }
  return matching[0]?.id ?? given;
}

/** The question that is open; if none is, the last one: the error then says what became of it. */
async function onlyOne(
  store: Store,
  reference: string,
  open: readonly OpenQuestion[],
): Promise<string> {
  if (open.length > 1) {
    throw wrongUsage(
      "The session has several open questions. Name one with --question; without an answer, this command lists them.",
    );
  }
  return open[0]?.id ?? store.read(lastQuestion, { reference });
}

/** Says how the exchange continues, if no service does it. */
async function showNextStep(
  cli: CliContext,
  store: Store,
  { command, question }: { readonly command: Command; readonly question: QuestionRecord },
): Promise<void> {
  const session_id = await store.read(delegationTop, question.session_id);
  if ((await store.read(readNextQueued, { session_id })) === null) {
    return;
  }
  const exchange = { session_id, state: "queued" } as const;
  const { command: start } = await whetherRuns(store, exchange, { besides: false });
  if (start !== null) {
    const service = exactLine(`${start}${databaseWords(cli, command)}`);
    noticeLine(cli, `No running service continues the exchange. Start one with: ${service}`);
    const { agent } = await store.read(readSession, { id: session_id });
    const here =
      agent === PLAN_AGENT
        ? resumeRunCommand(cli, command, session_id)
        : `${resumeCommand(cli, command, session_id)} --continue-exchange`;
    noticeLine(cli, `Or continue it here: ${here}`);
  }
}
