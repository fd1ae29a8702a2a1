import { oneLine } from "../../../core/text/terminal-text.ts";
import { characterOf, isBack } from "./choice-keys.ts";
import { type ChoiceScreen, createChoiceTyping } from "./choice-typing.ts";
import { cutLine } from "../text/fold.ts";
import { createKeyGuard } from "./key-guard.ts";
import type { LiveView } from "../screen/live-view.ts";
import { isKeyRelease, matchesKey } from "../pi/keys.ts";
import { choiceRows } from "./question-choices.ts";
import { labelled } from "./question-text.ts";
import type { Screen } from "../screen/screen.ts";
import type { Theme } from "../text/theme.ts";

export interface ConfirmScreen extends Pick<Screen, "commit" | "width">, ChoiceScreen {
  readonly theme: Theme;
}

const CHOICES = [
  { id: "yes", key: "y", text: "yes", isSafe: false },
  { id: "no", key: "n", text: "no", isSafe: true },
];

/**
 * A question of the program that is answered with yes or no: `y` is yes; `n`, Enter, Esc, Ctrl-C and `over` are no. Keys
 * count as for the questions of an agent.
 */
export function createConfirmView(
  screen: ConfirmScreen,
  question: string,
): LiveView & { ask(over?: AbortSignal): Promise<boolean> } {
  const { theme } = screen;
  const text = oneLine(question);
  const guard = createKeyGuard(screen);
  let finish: ((yes: boolean) => void) | null = null;
  const end = (yes: boolean): void => {
    typing.back();
    if (finish !== null) {
      screen.commit([
        ...labelled("", text, screen.width),
        `${theme.accent(">")} ${yes ? "yes" : "no"}`,
      ]);
    }
    finish?.(yes);
    finish = null;
  };
  const typing = createChoiceTyping({
    screen,
    choices: CHOICES,
    choose: (at) => end(at === 0),
    mayChoose: () => true,
    read: null,
    empty: () => end(false),
    wrote: guard.typed,
  });
  const keysRow = (): string => {
    if (!guard.isArmed()) {
      return "";
    }
    const takes = typing.takes();
    if (takes === "message") {
      return "Enter sends it after this · Esc back to the choices";
    }
    if (guard.isPausing()) {
      return "You are writing a message: wait a moment to answer here";
    }
    const unmarked = takes === "choice" ? "Enter or Esc: no" : "Esc: no";
    return `${takes === "marked" ? "Enter confirms · Esc: no" : unmarked} · text is a message`;
  };
  const isOurs = (): boolean => finish !== null && guard.isReady();
  return {
    ask: (over) => {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      finish = resolve;
      guard.reset();
      const onOver = (): void => end(false);
      over?.addEventListener("abort", onOver);
      if (over?.aborted === true) {
        onOver();
      }
      screen.changed();
      return promise.finally(() => over?.removeEventListener("abort", onOver));
    },
    armed: () => {
      guard.armed();
      typing.armed();
    },
    hidden: () => guard.reset(),
    rows: (width, height) => {
      guard.drawn();
      typing.drawn();
      return [
        ...labelled("", text, width, Math.max(1, Math.min(3, height - 2))).map((row, at) =>
          at === 0 ? theme.bold(row) : row,
        ),
        ...choiceRows(CHOICES, { theme, width, max: 1, marked: typing.marked() }),
        ...(screen.message.isEmpty() ? [] : screen.message.rows(width, 2).slice(-2)),
        theme.dim(cutLine(`  ${keysRow()}`, width)),
      ];
    },
    key: (data) => {
      if (finish !== null && typing.isWriting()) {
        const isLeft = matchesKey(data, "escape");
        if (isLeft) {
          typing.back();
        }
        screen.changed();
        return isLeft;
      }
      if (!isOurs()) {
        if (finish !== null && guard.isArmed() && characterOf(data) !== null) {
          typing.continued();
        }
        return false;
      }
      if (isKeyRelease(data)) {
        return true;
      }
      if (isBack(data)) {
        end(false);
        return true;
      }
      screen.changed();
      return typing.key(data);
    },
    // pasted text confirms nothing: it is a message
    paste: () => {
      typing.continued();
      return false;
    },
  };
}
