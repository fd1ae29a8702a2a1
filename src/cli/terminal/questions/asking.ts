import type { CliContext } from "../../process/context.ts";
import type { Asked } from "../../chat/front.ts";
import type { GivenAnswer } from "../../output/question-lines.ts";
import { askOnScreen } from "./ask-on-screen.ts";
import { createConfirmView } from "./confirm-view.ts";
import type { Message } from "../editor/editor.ts";
import type { LiveView } from "../screen/live-view.ts";
import type { QuestionScreen } from "./asked-question.ts";

export interface AskingOptions {
  readonly cli: CliContext;
  readonly screen: QuestionScreen;
  readonly leaving: AbortSignal;
  /** Takes what was typed for a question that somebody else has answered. */
  readonly keep: (draft: Message) => void;
}

/** Questions in the place of the editor, one at a time. */
export function createAsking({ cli, screen, leaving, keep }: AskingOptions) {
  let shown: LiveView | null = null;
  let open = 0;
  const show = (view: LiveView | null): void => {
    shown = view;
    screen.changed();
  };
  const askPerson = askOnScreen(cli, screen, { show, keep });
  return {
    /** Has the keys before the editor; null if nothing is asked. */
    shown: (): LiveView | null => shown,
    /** How many questions are open. */
    count: (): number => open,
    ask: async (asked: Asked): Promise<GivenAnswer | "next" | null> => {
      open = asked.place.count;
      try {
        // a program that is asked to leave gets no answers any more
        return await askPerson({ ...asked, over: AbortSignal.any([asked.over, leaving]) });
      } finally {
        open = 0;
      }
    },
    confirm: async (question: string): Promise<boolean> => {
      const confirming = createConfirmView(screen, question);
      open = 1;
      show(confirming);
      try {
        return await confirming.ask(leaving);
      } finally {
        open = 0;
        show(null);
      }
    },
  };
}

/** Questions on the screen, one at a time. */
export type Asking = ReturnType<typeof createAsking>;
