import type { LiveView } from "../../src/cli/terminal/live-view.ts";
import { firstOf } from "../../src/cli/terminal/completion.ts";
import { createEditor } from "../../src/cli/terminal/editor.ts";
import type { QuestionScreen } from "../../src/cli/terminal/question-view.ts";
import { plainTheme } from "../cli/terminal/plain-theme.ts";

/** Names of keys in the tests, as a terminal sends them. */
export const KEYS: Readonly<Record<string, string>> = {
  enter: "\r",
  esc: "\u001b",
  tab: "\t",
  up: "\u001b[A",
  down: "\u001b[B",
  "ctrl-c": "\u0003",
  "ctrl-o": "\u000f",
  "ctrl-z": "\u001a",
  backspace: "\u007f",
};

/** A screen without a terminal: a clock that the test moves, and lists of what was written. */
export function viewScreen({ width = 80, height = 24 } = {}) {
  let time = 1_000_000;
  let typedAt = -Infinity;
  const committed: string[] = [];
  const pages: { title: string; rows: readonly string[]; close: (seenAll: boolean) => void }[] = [];
  const screen: QuestionScreen = {
    theme: plainTheme,
    width,
    height,
    commit: (rows) => void committed.push(...rows),
    changed: () => undefined,
    now: () => time,
    lastTyped: () => typedAt,
    openPager: (title, rows) => {
      const { promise, resolve } = Promise.withResolvers<{ seenAll: boolean }>();
      pages.push({ title, rows, close: (seenAll) => resolve({ seenAll }) });
      return promise;
    },
    openEditor: (on) =>
      createEditor({
        theme: plainTheme,
        history: { entries: () => [], add: () => undefined },
        completions: firstOf([]),
        changed: () => undefined,
        edit: async (text) => ({ text }),
        on,
      }),
  };
  /** What the terminal shows, after which keys count. */
  const draw = (view: LiveView): string => {
    view.rows(width, height);
    view.armed();
    return view.rows(width, height).join("\n");
  };
  return {
    screen,
    committed,
    pages,
    draw,
    wait: (ms: number): void => void (time += ms),
    typeElsewhere: (): void => void (typedAt = time),
    /** Presses keys, each after the screen was drawn; returns how many were for the view. */
    press: (view: LiveView, ...keys: readonly string[]): number =>
      keys.filter((key) => {
        draw(view);
        return view.key(KEYS[key] ?? key);
      }).length,
  };
}
