import type { QuestionScreen } from "./asked-question.ts";
import { liveRows, type LiveQuestion, shortRows } from "./question-layout.ts";
import {
  committedRows,
  pageRows,
  questionRows,
  type ShownQuestion,
  wholeRows,
} from "./question-text.ts";

/**
 * Follows what a person has seen of a question: all of it once all its rows were in the window together, or in the
 * pager. While these rows are right above the live ones, nothing of them is repeated; once something else was printed, the live
 * rows say what is asked.
 */
export function createQuestionReading(
  screen: QuestionScreen,
  question: ShownQuestion,
  page: string | null,
) {
  let isCommitted = false;
  /** Rows of the question right above the live rows, until the terminal has shown them. */
  let above: number | null = null;
  let fits = false;
  /** The size and the last printed row at which the rows above are in the window; null if they are not. */
  let seen: { readonly width: number; readonly height: number; readonly printed: number } | null =
    null;
  let hasSeenAll = false;
  let isInPager = false;

  const moved = (): void => {
    above = null;
    seen = null;
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
        const link = page === null ? [] : pageRows(page, screen);
        screen.commit(["", ...rows, ...link]);
        isCommitted = true;
        above = isAll ? rows.length + link.length : null;
      }
    },
    /** The live rows. What they leave of `height` shows the end of what is above. */
    rows: (live: LiveQuestion, width: number, height: number): readonly string[] => {
      const few = shortRows(live, width, height);
      const printed = screen.printed();
      if (above !== null) {
        fits = above + few.length <= height;
        seen = fits ? { width, height, printed } : null;
      }
      const isAbove = seen?.width === width && seen.height === height && seen.printed === printed;
      return isAbove ? few : liveRows(live, width, height);
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
        const { seenAll } = await screen.openPager("What is asked", wholeRows(question, screen));
        hasSeenAll ||= seenAll;
      } finally {
        isInPager = false;
      }
    },
  };
}
