import { storedAnswer, takeBackLine } from "../../chat/allow-in-config.ts";
import { type CliContext, noticeLine } from "../../process/context.ts";
import type { Front } from "../../chat/front.ts";
import type { Message } from "../editor/editor.ts";
import type { LiveView } from "../screen/live-view.ts";
import type { QuestionScreen, QuestionView } from "./asked-question.ts";
import { createQuestionView } from "./question-view.ts";

interface QuestionPlace {
  /** Puts a view in the place of the editor, which keeps its text; null takes it away. */
  show(view: LiveView | null): void;
  /** Takes what was typed for a question that somebody else has answered. */
  keep(draft: Message): void;
}

/**
 * Asks with the keys of a screen. What was typed for a question is kept while another one is shown, and until it is
 * asked again.
 */
export function askOnScreen(
  cli: CliContext,
  screen: QuestionScreen,
  { show, keep }: QuestionPlace,
): Front["ask"] {
  const views = new Map<string, QuestionView>();
  const drafts = new Map<string, Message>();
  return async ({ question, offered, folder, page, over, place }) => {
    const { choices } = offered;
    const { id } = question;
    const draft = drafts.get(id);
    const view =
      views.get(id) ??
      createQuestionView({ screen, question, page, choices, place, folder, draft });
    views.delete(id);
    drafts.delete(id);
    show(view);
    try {
      for (;;) {
        const outcome = await view.ask(over);
        if (outcome === "next") {
          views.set(id, view);
          return outcome;
        }
        if (typeof outcome === "string") {
          const typed = view.draft();
          if (typed !== null && outcome === "over") {
            keep(typed);
          } else if (typed !== null) {
            drafts.set(id, typed);
          }
          return null;
        }
        const stored = await storedAnswer(cli, outcome, offered);
        if (stored !== null) {
          const takeBack = takeBackLine(outcome, question);
          if (takeBack !== null) {
            noticeLine(cli, takeBack);
          }
          return stored;
        }
      }
    } finally {
      show(null);
    }
  };
}
