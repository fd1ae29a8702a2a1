import { oneLine } from "../../../core/text/terminal-text.ts";
import { createProgress, type Every } from "./progress.ts";
import type { Layout } from "./tool-rows.ts";

/** A command that ends sooner is not shown: its row would only flicker. */
const SHOWN_AFTER_MS = 200;
const MAX_TEXT = 200;

/** The row of a command of the person that runs: `⠋ /compact 8 s · Esc stops`. */
export function createPersonCommand(options: {
  now(): number;
  changed(): void;
  readonly every?: Every;
}) {
  const progress = createProgress(options);
  let shown: { readonly text: string; readonly stop: string | null } | null = null;
  const isShown = (): boolean => progress.isRunning() && progress.spentMs() >= SHOWN_AFTER_MS;
  const resume = (): void => {
    if (shown !== null) {
      progress.begin(shown.stop);
    }
  };
  return {
    /** Shows one until what it returns is called. */
    begin: (text: string, canStop: boolean): (() => void) => {
      shown = { text: oneLine(text.slice(0, MAX_TEXT)), stop: canStop ? "Esc stops" : null };
      progress.reset();
      resume();
      return () => {
        shown = null;
        progress.halt();
        options.changed();
      };
    },
    /** Stops it while a person is asked or reads. */
    pause: async <Result>(work: () => Promise<Result>): Promise<Result> => {
      progress.halt();
      try {
        return await work();
      } finally {
        resume();
      }
    },
    isShown,
    rows: (layout: Layout): string[] => {
      const row = isShown() ? progress.row(shown?.text ?? "", layout) : null;
      return row === null ? [] : [row];
    },
    close: progress.halt,
  };
}

/** The row of a command of the person. */
export type PersonCommand = ReturnType<typeof createPersonCommand>;
