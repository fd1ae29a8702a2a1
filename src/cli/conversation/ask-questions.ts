import { isRepriseError } from "../../core/errors.ts";
import { offeredChoices } from "../allow-in-config.ts";
import { noticeLine } from "../context.ts";
import { type WatchContext, watchQuestion } from "./elsewhere.ts";
import type { Front } from "./front.ts";

/**
 * Asks the person at the terminal what the exchange waits for. `open` if a question stays open: the person
 * wants to answer it later, or to leave. `elsewhere` if somebody else has answered: a service may continue. A question that
 * ends elsewhere goes away.
 */
export async function askQuestions(
  { cli, conversation, store }: WatchContext,
  front: Front,
  { continues }: { readonly continues: boolean },
): Promise<"answered" | "open" | "elsewhere"> {
  let end: "answered" | "elsewhere" = "answered";
  const questions = await conversation.openQuestions();
  for (const [index, question] of questions.entries()) {
    const offered = offeredChoices(cli, question, conversation.planned().repo_path);
    const over = new AbortController();
    const watching = new AbortController();
    let how = "";
    const onEnd = (sentence: string): void => {
      how = sentence;
      over.abort();
    };
    void watchQuestion(store, question, { signal: watching.signal, onEnd });
    const place = { index: index + 1, count: questions.length };
    const answer = await front.ask({ question, offered, over: over.signal, place });
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
