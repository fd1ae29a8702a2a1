import type { LiveView } from "../../src/cli/terminal/screen/live-view.ts";
import { firstOf } from "../../src/cli/terminal/editor/completion.ts";
import {
  createEditor,
  type Editor,
  type EditorOptions,
} from "../../src/cli/terminal/editor/editor.ts";
import type { QuestionScreen } from "../../src/cli/terminal/questions/asked-question.ts";
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

function editor(on: EditorOptions["on"]): Editor {
  return createEditor({
    theme: plainTheme,
    history: { entries: () => [], add: () => undefined },
    completions: firstOf([]),
    changed: () => undefined,
    edit: async (text) => ({ text }),
    on,
  });
}

/** A screen without a terminal: a clock that the test moves, and lists of what was written. */
export function viewScreen({ width = 80, height = 24 } = {}) {
  let time = 1_000_000;
  let typedAt = -Infinity;
  const timers = new Set<{ readonly at: number; readonly act: () => void }>();
  const committed: string[] = [];
  const pages: { title: string; rows: readonly string[]; close: (seenAll: boolean) => void }[] = [];
  const sent: string[] = [];
  const message = editor({ submit: ({ text }) => void sent.push(text), note: () => undefined });
  const screen: QuestionScreen = {
    theme: plainTheme,
    width,
    height,
    commit: (rows) => void committed.push(...rows),
    printed: () => committed.length,
    changed: () => undefined,
    now: () => time,
    lastTyped: () => typedAt,
    after: (ms, act) => {
      const timer = { at: time + ms, act };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    message,
    openPager: (title, rows) => {
      const { promise, resolve } = Promise.withResolvers<{ seenAll: boolean }>();
      pages.push({ title, rows, close: (seenAll) => resolve({ seenAll }) });
      return promise;
    },
    openEditor: editor,
  };
  /** What the terminal shows, after which keys count. */
  const draw = (view: LiveView): string => {
    view.rows(width, height);
    view.armed();
    return view.rows(width, height).join("\n");
  };
  const wait = (ms: number): void => {
    time += ms;
    for (const timer of timers) {
      if (timer.at <= time) {
        timers.delete(timer);
        timer.act();
      }
    }
  };
  /** A key as the terminal sends it: for the view, else for the message. */
  const send = (view: LiveView, data: string): boolean => {
    const isTaken = view.key(data);
    if (!isTaken) {
      typedAt = time;
      message.key(data);
    }
    return isTaken;
  };
  return {
    screen,
    message,
    /** Messages that were sent. */
    sent,
    committed,
    pages,
    draw,
    wait,
    typeElsewhere: (): void => void (typedAt = time),
    /** Presses keys, each after the screen was drawn and a pause; returns how many were for the view. */
    press: (view: LiveView, ...keys: readonly string[]): number =>
      keys.filter((key) => {
        draw(view);
        const isTaken = send(view, KEYS[key] ?? key);
        wait(600);
        return isTaken;
      }).length,
    /** Types a text, so many milliseconds a key. */
    write: (view: LiveView, text: string, ms = 200): void => {
      for (const key of text) {
        draw(view);
        send(view, key);
        wait(ms);
      }
    },
  };
}
