import { oneLine } from "../../core/terminal-text.ts";
import { createChoiceKeys } from "./choice-keys.ts";
import { cutLine } from "./fold.ts";
import { createKeyGuard, type GuardScreen } from "./key-guard.ts";
import type { LiveView } from "./live-view.ts";
import { isKeyRelease, matchesKey } from "./pi/keys.ts";
import { choiceRows } from "./question-choices.ts";
import { labelled } from "./question-text.ts";
import type { Screen } from "./screen.ts";
import type { Theme } from "./theme.ts";

export interface ConfirmScreen extends Pick<Screen, "commit" | "width">, GuardScreen {
  readonly theme: Theme;
}

const CHOICES = [
  { key: "y", text: "yes", isSafe: false },
  { key: "n", text: "no", isSafe: true },
];

/**
 * A question of the program that is answered with yes or no: `y` is yes; `n`, Enter, Esc, Ctrl-C and `over` are no. A
 * `y/N` at its end, as the line mode needs it, is left out. Keys count as for the questions of an agent.
 */
export function createConfirmView(
  screen: ConfirmScreen,
  question: string,
): LiveView & { ask(over?: AbortSignal): Promise<boolean> } {
  const { theme } = screen;
  const text = oneLine(question).replace(/ y\/N$/, "");
  const guard = createKeyGuard(screen);
  const keys = createChoiceKeys(CHOICES.map(({ key }) => key));
  let finish: ((yes: boolean) => void) | null = null;
  const end = (yes: boolean): void => {
    if (finish !== null) {
      screen.commit([
        ...labelled("", text, screen.width),
        `${theme.accent(">")} ${yes ? "yes" : "no"}`,
      ]);
    }
    finish?.(yes);
    finish = null;
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
    armed: () => guard.armed(),
    hidden: () => guard.reset(),
    rows: (width, height) => {
      guard.drawn();
      const paused = "Your keys go to your message; pause to answer here";
      const keysRow = guard.isPausing() ? paused : "Enter or Esc: no";
      const hint = guard.isArmed() ? keysRow : "";
      return [
        ...labelled("", text, width, Math.max(1, Math.min(3, height - 2))).map((row, at) =>
          at === 0 ? theme.bold(row) : row,
        ),
        ...choiceRows(CHOICES, { theme, width, max: 1, marked: keys.marked() }),
        theme.dim(cutLine(`  ${hint}`, width)),
      ];
    },
    key: (data) => {
      if (!isOurs()) {
        return false;
      }
      if (isKeyRelease(data)) {
        return true;
      }
      if (matchesKey(data, "escape") || matchesKey(data, "ctrl+c")) {
        end(false);
        return true;
      }
      const step = keys.key(data);
      if (step.kind === "unknown") {
        guard.typed();
      } else if (step.kind === "chosen" || step.kind === "empty") {
        end(step.kind === "chosen" && step.at === 0);
      }
      screen.changed();
      return step.kind !== "none";
    },
    // pasted text confirms nothing
    paste: isOurs,
  };
}
