import { isRepriseError } from "../../core/errors.ts";
import { MAX_ANSWER } from "../../core/questions.ts";
import { isStorableText, plural } from "../../core/text.ts";
import type { OpenQuestion } from "../../store/questions/read.ts";
import { type CliContext, noticeLine } from "../context.ts";
import { grantLine, offeredChoices, type Offered, storedAnswer } from "../allow-in-config.ts";
import { answerOf, type GivenAnswer, questionLines, reasonLine } from "../question-lines.ts";
import { type WatchContext, watchQuestion } from "../conversation/elsewhere.ts";
import type { LineInput } from "./input.ts";
import { isCommand } from "../conversation/slash.ts";

/**
 * Asks the person at the terminal what the exchange waits for. `open` if a question stays open: the person
 * wants to answer it later, or to leave. `elsewhere` if somebody else has answered: a service may continue. A question that
 * ends elsewhere goes away.
 */
export async function askQuestions(
  { cli, conversation, store }: WatchContext,
  input: LineInput,
  { continues }: { readonly continues: boolean },
): Promise<"answered" | "open" | "elsewhere"> {
  let end: "answered" | "elsewhere" = "answered";
  for (const question of await conversation.openQuestions()) {
    const early = input.drop();
    if (early > 0) {
      noticeLine(cli, `${plural(early, "line")} typed before the question dropped, not sent.`);
    }
    noticeLine(cli, "The agent asks:");
    const offered = offeredChoices(cli, question, conversation.planned().repo_path);
    for (const line of [
      ...questionLines(question),
      ...grantLine(offered),
      ...reasonLine(question),
    ]) {
      noticeLine(cli, line);
    }
    const over = new AbortController();
    const watching = new AbortController();
    let how = "";
    const onEnd = (sentence: string): void => {
      how = sentence;
      over.abort();
    };
    void watchQuestion(store, question, { signal: watching.signal, onEnd });
    const asked = { kind: question.kind, choices: offered.choices };
    const answer = await readAnswer(cli, asked, { input, over: over.signal, offered });
    watching.abort();
    if (answer === null && over.signal.aborted) {
      noticeLine(cli, how);
      end = "elsewhere";
      continue;
    }
    if (answer === null) {
      noticeLine(
        cli,
        "The question stays open. /continue asks it again, and a new message withdraws it.",
      );
      return "open";
    }
    try {
      await conversation.answer(question, answer, continues);
    } catch (error) {
      if (!isRepriseError(error, "question_answered", "question_withdrawn")) {
        throw error;
      }
      // somebody else was first
      noticeLine(cli, error.message);
      end = "elsewhere";
    }
  }
  return end;
}

/** Null at an empty line, at a command, at Ctrl-C, at the end, and once the question is over. */
async function readAnswer(
  cli: CliContext,
  question: Pick<OpenQuestion, "kind"> & Pick<Offered, "choices">,
  given: { readonly input: LineInput; readonly over: AbortSignal; readonly offered: Offered },
): Promise<GivenAnswer | null> {
  const { input, over, offered } = given;
  const { choices } = question;
  for (;;) {
    const { text = "", pasted = false } = (await input.askLine("answer> ", over)) ?? {};
    const line = text.trim();
    if (line === "") {
      return null;
    }
    if (!pasted && isCommand(line)) {
      input.putBack(line);
      return null;
    }
    const answer = pasted && choices !== null ? null : answerOf(question, line);
    if (answer !== null && line.length <= MAX_ANSWER && isStorableText(line)) {
      const text = await storedAnswer(cli, answer.text, offered);
      if (text !== null) {
        return { ...answer, text };
      }
      continue;
    }
    noticeLine(
      cli,
      choices === null
        ? `An answer has 1 to ${MAX_ANSWER} characters, without NUL.`
        : "Type one of the choices, or its number (as `2.` if a choice is a number); an empty line leaves the question open.",
    );
  }
}
