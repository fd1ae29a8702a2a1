import { MAX_ANSWER } from "../../core/questions.ts";
import { isStorableText, plural } from "../../core/text/text.ts";
import { furtherLines, storedAnswer, takeBackLine } from "../chat/allow-in-config.ts";
import { type CliContext, noticeLine } from "../process/context.ts";
import type { Asked } from "../chat/front.ts";
import { isCommand } from "../chat/slash/slash.ts";
import {
  answerOf,
  type GivenAnswer,
  pageLine,
  questionLines,
  reasonLine,
} from "../output/question-lines.ts";
import type { LineInput } from "./input.ts";

/**
 * Shows a question and reads its answer. Null at an empty line, at a command, at Ctrl-C, at the end, and once the
 * question is over.
 */
export async function askLine(
  cli: CliContext,
  input: LineInput,
  { question, offered, page, over }: Asked,
): Promise<GivenAnswer | null> {
  const early = input.drop();
  if (early > 0) {
    noticeLine(cli, `${plural(early, "line")} typed before the question dropped, not sent.`);
  }
  noticeLine(cli, "The agent asks:");
  const further = furtherLines(question, offered);
  const asked = [...questionLines(question), ...further, ...reasonLine(question)];
  for (const line of page === null ? asked : [...asked, `  ${pageLine(page)}`]) {
    noticeLine(cli, line);
  }
  const { choices } = offered;
  const answerable = { kind: question.kind, choices };
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
    const answer = pasted && choices !== null ? null : answerOf(answerable, line);
    if (answer !== null && line.length <= MAX_ANSWER && isStorableText(line)) {
      const stored = await storedAnswer(cli, answer, offered);
      if (stored !== null) {
        const takeBack = takeBackLine(answer, question);
        if (takeBack !== null) {
          noticeLine(cli, takeBack);
        }
        return stored;
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
