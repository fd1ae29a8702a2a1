import type { QuestionScreen } from "./asked-question.ts";
import { liveRows, type LiveQuestion, shortRows } from "./question-layout.ts";
import { committedRows, questionRows, type ShownQuestion } from "./question-text.ts";

/**
 * Follows what a person has seen of a question: all of it once all its rows were in the window together, or in the
 * pager. If it fits only so, the live rows do not repeat what is right above them.
 */
export function createQuestionReading(screen: QuestionScreen, question: ShownQuestion) {
  let isCommitted = false;
  /** Rows of the question right above the live rows, until the terminal has shown them. */
  let above: number | null = null;
  let fits = false;
  /** The size at which the live rows are the short ones; null for all of them. */
  let short: { readonly width: number; readonly height: number } | null = null;
  let hasSeenAll = false;
  let isInPager = false;

  const moved = (): void => {
    above = null;
    short = null;
  };
  return {
    hasSeenAll: (): boolean => hasSeenAll,
    /** The pager has the keys. */
    isInPager: (): boolean => isInPager,
    /** Puts the question into the scrollback, the first time. Later something else may be right above. */
    commit: (): void => {
      moved();
      if (!isCommitted) {
        const { rows, isAll } = committedRows(questionRows(question, screen), screen.theme);
        screen.commit(["", ...rows]);
        isCommitted = true;
        above = isAll ? rows.length : null;
      }
    },
    /** The live rows. What they leave of `height` shows the end of what is above. */
    rows: (live: LiveQuestion, width: number, height: number): readonly string[] => {
      const all = liveRows(live, width, height);
      const few = shortRows(live, width, height);
      if (above !== null) {
        fits = above + few.length <= height;
        short = fits && above + all.length > height ? { width, height } : null;
      }
      return short?.width === width && short.height === height ? few : all;
    },
    /** The terminal has these rows, and what is above. */
    shown: (): void => {
      hasSeenAll ||= above !== null && fits;
      above = null;
    },
    /** Another program has had the terminal. */
    moved,
    /** Shows all of it in the pager, until the person leaves it. */
    read: async (): Promise<void> => {
      isInPager = true;
      try {
        const { seenAll } = await screen.openPager("What is asked", questionRows(question, screen));
        hasSeenAll ||= seenAll;
      } finally {
        isInPager = false;
      }
    },
  };
}
