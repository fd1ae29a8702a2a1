import { type CliContext, noticeLine } from "../../process/context.ts";
import { showError } from "../../process/show-error.ts";
import type { ExchangeView } from "./exchange-view.ts";
import type { PagerResult } from "../screen/pager.ts";

/** Opens what is kept of tool calls and long messages. */
export function createDetails(
  cli: CliContext,
  view: Pick<ExchangeView, "details">,
  openPager: (title: string, rows: readonly string[]) => Promise<PagerResult>,
) {
  /** The key may come again before the pager has the keys. */
  let isOpening = false;
  const show = async (n: number | null): Promise<string | null> => {
    const details = view.details(n ?? undefined);
    if (details !== null) {
      await openPager(details.title, details.rows);
      return null;
    }
    return n === null
      ? "There is nothing to open yet: Ctrl-O opens the last tool call."
      : `There is no call [${n}].`;
  };
  return {
    /** Shows the n-th until the person leaves it, the last one for null; else says why it cannot. */
    show,
    /** The last one, by a key. What fails is shown. */
    openLast: async (): Promise<void> => {
      if (isOpening) {
        return;
      }
      isOpening = true;
      try {
        const sentence = await show(null);
        if (sentence !== null) {
          noticeLine(cli, sentence);
        }
      } catch (error) {
        showError(cli, error, false);
      } finally {
        isOpening = false;
      }
    },
  };
}

/** Opens details of calls and messages in a pager. */
export type Details = ReturnType<typeof createDetails>;
