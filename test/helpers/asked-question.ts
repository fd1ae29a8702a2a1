import { setImmediate as settled } from "node:timers/promises";

import type { Choice } from "../../src/core/questions.ts";
import { offeredChoices, permissionChoices } from "../../src/core/text/words.ts";
import type {
  QuestionOutcome,
  QuestionViewOptions,
} from "../../src/cli/terminal/questions/asked-question.ts";
import { createQuestionView } from "../../src/cli/terminal/questions/question-view.ts";
import { askedForEdit } from "./asked-for-edit.ts";
import { viewScreen } from "./terminal-view.ts";

export const ROOT = "5841d4ab-0000-7000-8000-000000000000";
export const CHILD = "1a2b3c4d-0000-7000-8000-000000000000";

export type Question = QuestionViewOptions["question"];

export const CHANGE: Question = {
  kind: "permission",
  text: "May the agent change a.txt (edit_file)?\nThe rule edit_file (built-in) asks.\n--- a.txt\n+++ a.txt\n@@ -1,1 +1,1 @@\n-one\n+two",
  ...askedForEdit("a.txt"),
  path: [ROOT],
};
export const CHOICE: Question = {
  kind: "question",
  text: "Which one?",
  choices: offeredChoices(["red", "yes", "y. yes"]),
  permission: null,
  path: [ROOT],
};
export const TEXT: Question = { ...CHOICE, text: "What is the name?", choices: null };

export interface Asked {
  readonly question?: Question;
  readonly choices?: readonly Choice[] | null;
  readonly place?: QuestionViewOptions["place"];
  readonly size?: { readonly width: number; readonly height: number };
}

/** A question that is shown, and its outcome once it has one. */
export function asked({ question = CHANGE, choices, place, size }: Asked = {}) {
  const shownOn = viewScreen(size);
  const view = createQuestionView({
    page: null,
    screen: shownOn.screen,
    question,
    choices: choices === undefined ? question.choices : choices,
    place: place ?? { index: 1, count: 1 },
    folder: "/home/ada/project",
  });
  const over = new AbortController();
  let outcome: QuestionOutcome | null = null;
  const ask = async (): Promise<void> => {
    outcome = await view.ask(over.signal);
  };
  void ask();
  return {
    ...shownOn,
    view,
    over,
    ask,
    /** Null while the question waits. */
    outcome: async (): Promise<QuestionOutcome | null> => {
      await settled();
      return outcome;
    },
    type: (...keys: readonly string[]): number => shownOn.press(view, ...keys),
    write: (text: string, ms?: number): void => shownOn.write(view, text, ms),
    shown: (): string => shownOn.draw(view),
  };
}

/** Asks about a change of so many rows. */
export function long(rows: number): Question {
  const lines = Array.from({ length: rows - 1 }, (_, at) => `+line ${at + 1}`);
  return {
    ...CHANGE,
    text: `May the agent change a.txt?\n@@ -0,0 +1,${rows} @@\n${lines.join("\n")}`,
    choices: permissionChoices(null),
  };
}
