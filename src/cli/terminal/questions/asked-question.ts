import type { Choice } from "../../../core/questions.ts";
import type { GivenAnswer } from "../../output/question-lines.ts";
import type { ChoiceScreen } from "./choice-typing.ts";
import type { Editor, EditorOptions, Message } from "../editor/editor.ts";
import type { LiveView } from "../screen/live-view.ts";
import type { QuestionPlace } from "./question-layout.ts";
import type { ShownQuestion } from "./question-text.ts";
import type { Screen } from "../screen/screen.ts";
import type { Theme } from "../text/theme.ts";

/** Parts of the screen that a question needs. */
export interface QuestionScreen
  extends Pick<Screen, "width" | "height" | "commit" | "printed" | "changed">, ChoiceScreen {
  readonly theme: Theme;
  /** Shows rows until the person leaves them. `seenAll`: the end was on the screen. */
  openPager(title: string, rows: readonly string[]): Promise<{ readonly seenAll: boolean }>;
  /** The editor of the conversation, without its history and completion. */
  openEditor(on: EditorOptions["on"]): Editor;
}

/** Parts of a screen that a question needs, from the screen itself and from its owner. */
export function questionScreen(
  screen: Pick<Screen, "width" | "height" | "commit" | "printed" | "changed">,
  owner: Pick<QuestionScreen, "theme" | "lastTyped" | "message" | "openPager" | "openEditor">,
): QuestionScreen {
  return {
    ...owner,
    get width() {
      return screen.width;
    },
    get height() {
      return screen.height;
    },
    commit: (rows) => screen.commit(rows),
    printed: () => screen.printed(),
    changed: () => screen.changed(),
    now: () => performance.now(),
    after: (ms, act) => {
      const timer = setTimeout(act, ms);
      return () => clearTimeout(timer);
    },
  };
}

export interface QuestionViewOptions {
  readonly screen: QuestionScreen;
  readonly question: ShownQuestion;
  /** Address of the session in a page; null for none. */
  readonly page: string | null;
  /** Choices of the question and those that the terminal adds; null for any text. */
  readonly choices: readonly Choice[] | null;
  readonly place: QuestionPlace;
  /** The folder of the session; null if it has none. */
  readonly folder: string | null;
  /** Text that was typed as an answer before the question stayed open. */
  readonly draft?: Message | undefined;
}

/** `later`: the question stays open. `next`: another one first. `over`: it has ended elsewhere. */
export type QuestionOutcome = GivenAnswer | "later" | "next" | "over";

export interface QuestionView extends LiveView {
  /** Shows the question until it has an outcome; the first time all of it goes into the scrollback. */
  ask(over: AbortSignal): Promise<QuestionOutcome>;
  /** Returns what is typed as an answer and not sent; null for nothing. */
  draft(): Message | null;
}
