import { isRepriseError } from "../../../core/errors.ts";
import { MAX_ANSWER } from "../../../core/questions.ts";
import { localPrincipal } from "../../../core/principal.ts";
import { localUser } from "../../../store/records/leases/local-user.ts";
import { answerQuestion } from "../../../store/records/questions/answer.ts";
import type { OpenQuestion } from "../../../store/records/questions/read.ts";
import type { Store } from "../../../store/store.ts";
import { answerOf, questionLines, reasonLine, replyOf } from "../../output/question-lines.ts";
import { ask } from "../../process/ask.ts";
import { type CliContext, noticeLine, printLine, printLines } from "../../process/context.ts";

/** Questions that a person at the terminal was asked. */
export interface AskedHere {
  /** False if nothing was answered. */
  readonly isAnswered: boolean;
  /** How many of the questions were shown, from the first one. */
  readonly shown: number;
}

/** Asks the person at the terminal what a run waits for, until a question is left open. */
export async function answeredHere(
  cli: CliContext,
  store: Store,
  asked: readonly OpenQuestion[],
): Promise<AskedHere> {
  let isAnswered = false;
  for (const [before, question] of asked.entries()) {
    printLines(cli, [...questionLines(question), ...reasonLine(question)]);
    const given = await answerTo(cli, question);
    if (given === null) {
      return { isAnswered, shown: before + 1 };
    }
    isAnswered = true;
    try {
      await store.write(answerQuestion, {
        reference: question.session_id,
        question: question.id,
        given: replyOf(given),
        note: given.note,
        answered_by: "terminal",
        principal: localPrincipal("terminal", localUser()),
        continues: true,
      });
    } catch (error) {
      if (!isRepriseError(error, "question_answered", "question_withdrawn")) {
        throw error;
      }
      noticeLine(cli, error.message);
    }
  }
  return { isAnswered, shown: asked.length };
}

/** Null if the person leaves it open. */
async function answerTo(cli: CliContext, question: OpenQuestion) {
  for (;;) {
    const line = await ask(cli, {
      question: "Answer, or nothing to leave it open: ",
      on: cli.stdout,
    });
    const text = line?.trim() ?? "";
    if (line === null) {
      // Ctrl-C and Ctrl-D leave the cursor in the line of the prompt
      printLine(cli, "");
    }
    if (text === "") {
      return null;
    }
    const given = text.length > MAX_ANSWER ? null : answerOf(question, text);
    if (given !== null) {
      return given;
    }
    noticeLine(cli, "That is not one of the choices. Give one of them, or its number.");
  }
}
