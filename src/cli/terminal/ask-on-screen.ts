import { storedAnswer } from "../allow-in-config.ts";
import type { CliContext } from "../context.ts";
import type { Front } from "../conversation/front.ts";
import type { Message } from "./editor.ts";
import type { LiveView } from "./live-view.ts";
import { createQuestionView, type QuestionScreen, type QuestionView } from "./question-view.ts";

interface QuestionPlace {
  /** Puts a view in the place of the editor, which keeps its text; null takes it away. */
  show(view: LiveView | null): void;
  /** Takes what was typed for a question that somebody else has answered. */
  keep(draft: Message): void;
}

/**
 * Asks with the keys of a screen. What was typed for a question is kept while another one is shown.
 */
export function askOnScreen(
  cli: CliContext,
  screen: QuestionScreen,
  { show, keep }: QuestionPlace,
): Front["ask"] {
  const views = new Map<string, QuestionView>();
  return async ({ question, offered, folder, over, place }) => {
    const { choices } = offered;
    const view =
      views.get(question.id) ?? createQuestionView({ screen, question, choices, place, folder });
    views.delete(question.id);
    show(view);
    try {
      for (;;) {
        const outcome = await view.ask(over);
        if (outcome === "next") {
          views.set(question.id, view);
          return outcome;
        }
        if (typeof outcome === "string") {
          const draft = outcome === "over" ? view.draft() : null;
          if (draft !== null) {
            keep(draft);
          }
          return null;
        }
        const text = await storedAnswer(cli, outcome.text, offered);
        if (text !== null) {
          return { ...outcome, text };
        }
      }
    } finally {
      show(null);
    }
  };
}
