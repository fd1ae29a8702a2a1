import { Command } from "commander";

import { RepriseError } from "../../core/errors.ts";
import { MAX_ANSWER } from "../../core/questions.ts";
import { refuseUnstorable } from "../../exchange/storable-message.ts";
import { answerQuestion } from "../../store/questions/answer.ts";
import { listOpenQuestions, type OpenQuestion } from "../../store/questions/read.ts";
import { type CliContext, printJson, printLine, printLines } from "../context.ts";
import { openDatabase, withStore } from "../database.ts";
import { promptText } from "../prompt-text.ts";
import { choiceOf, questionLines } from "../question-lines.ts";
import { wrongUsage } from "../wrong-usage.ts";

interface AnswerOptions {
  readonly question?: string;
  readonly note?: string;
  readonly json?: true;
}

/** `sessions answer <id> [answer]`: answers what a session or its sub-agents ask, or lists it. */
export function answerCommand(cli: CliContext): Command {
  const command = new Command("answer")
    .description("answer a question of a session or its sub-agents; without an answer, list them")
    .argument("<id>", "an id, or the first 6 or more characters of it")
    .argument(
      "[answer]",
      "one of the choices or its number, or any text if there are none; - reads it from stdin",
    )
    .option("--question <id>", "the question, or the beginning of its id, if there are several")
    .option("--note <text>", "what the agent should know besides")
    .option("--json", "print the questions as the HTTP API returns them")
    .action(async (reference: string, given: string | undefined, options: AnswerOptions) => {
      const answer = await promptText(cli, given);
      refuseUnstorable(options.note ?? "");
      await using store = await openDatabase(cli, command);
      const open = await store.read(listOpenQuestions, { reference });
      if (answer === null) {
        if (options.json === true) {
          printJson(cli, open);
        } else {
          printLines(cli, open.length === 0 ? ["No question is open."] : open.flatMap(listed));
        }
        return;
      }
      if (answer === "" || answer.length > MAX_ANSWER) {
        throw wrongUsage(`An answer has 1 to ${MAX_ANSWER} characters.`);
      }
      const question = await store.write(answerQuestion, {
        reference,
        ...meant(open, { id: options.question, answer }),
        note: options.note ?? null,
        answered_by: cli.stdin.isTTY === true ? "terminal" : "prompt",
      });
      if (options.json === true) {
        printJson(cli, question);
      } else {
        printLine(cli, `Answered: question ${question.id} of ${question.session_id}`);
      }
    });
  return withStore(command);
}

function listed(question: OpenQuestion): string[] {
  return [`question ${question.id}`, ...questionLines(question), ""];
}

interface Meant {
  readonly question: string;
  readonly answer: string;
}

/** The question and the choice that are meant. */
function meant(
  open: readonly OpenQuestion[],
  given: { readonly id: string | undefined; readonly answer: string },
): Meant {
  const id = idOf(open, given.id);
  const choices = open.find((question) => question.id === id)?.choices ?? null;
  const answer = choices === null ? given.answer : choiceOf(choices, given.answer);
  if (answer === null) {
    throw wrongUsage(
      "The answer is not one of the choices. Give one of them, or its number (as `2.` if a choice is a number); without an answer, this command lists them.",
    );
  }
  return { question: id, answer };
}

/** The id of the question that is meant; one that is not open has to be given whole. */
function idOf(open: readonly OpenQuestion[], given: string | undefined): string {
  if (given !== undefined) {
    const matching = open.filter(({ id }) => id.startsWith(given));
    if (matching.length > 1) {
      throw wrongUsage("Several questions have ids that begin so. Give more of the id.");
    }
    return matching[0]?.id ?? given;
  }
  const [first, ...others] = open;
  if (first === undefined) {
    throw new RepriseError("question_not_found", "The session has no open question.");
  }
  if (others.length > 0) {
    throw wrongUsage(
      "The session has several open questions. Name one with --question; without an answer, this command lists them.",
    );
  }
  return first.id;
}
