import { oneLine } from "../../../core/text/terminal-text.ts";
import type { Completion, Completions, Found } from "./completion.ts";
import { sliceByColumn, visibleWidth } from "../pi/text.ts";
import type { Theme } from "../text/theme.ts";

/** The list of what may be written at the cursor. */
export interface Completer {
  isOpen(): boolean;
  /** Searches again; null closes the list. */
  search(before: string | null): void;
  move(by: number): void;
  selected(): { readonly item: Completion; readonly length: number } | null;
  /** At most `height` rows: entries around the selected one, and how many there are if some are left out. */
  rows(width: number, height: number): readonly string[];
}

const MAX_ROWS = 8;
const MIN_LABEL = 12;

export function createCompleter(completions: Completions, theme: Theme): Completer {
  /** Text that it was searched for last; null while it is closed. */
  let searched: string | null = null;
  let version = 0;
  let found: Found | null = null;
  let at = 0;

  const refresh = (): void => {
    // a later result keeps the choice
    if (searched !== null && version !== completions.version()) {
      const chosen = found?.items[at]?.text;
      version = completions.version();
      found = completions.find(searched);
      at = Math.max(0, found?.items.findIndex(({ text }) => text === chosen) ?? 0);
    }
  };
  return {
    isOpen: () => {
      refresh();
      return found !== null && found.items.length > 0;
    },
    search: (before) => {
      searched = before;
      version = completions.version();
      found = before === null ? null : completions.find(before);
      at = 0;
    },
    move: (by) => {
      const length = found?.items.length ?? 0;
      at = (at + by + length) % Math.max(1, length);
    },
    selected: () => {
      const item = found?.items[at];
      return found === null || item === undefined ? null : { item, length: found.length };
    },
    rows: (width, height) => {
      refresh();
      const items = found?.items ?? [];
      const isWhole = items.length <= Math.min(MAX_ROWS, height) && found?.note === undefined;
      const max = Math.max(1, Math.min(MAX_ROWS, isWhole ? height : height - 1));
      const first = Math.max(0, Math.min(at - Math.floor(max / 2), items.length - max));
      const shown = items.slice(first, first + max);
      const widest = Math.max(MIN_LABEL, ...shown.map(({ label }) => visibleWidth(oneLine(label))));
      const hasHelp = shown.some(({ help }) => help !== undefined);
      // two columns for the sign, two before the help, which needs a dozen to be of use
      const room = hasHelp && width >= 40 ? Math.min(widest, Math.floor(width / 2)) : width - 2;
      const place = items.length > max ? `${at + 1} of ${items.length}` : undefined;
      const notes =
        shown.length === 0 || height < 2
          ? []
          : [place, found?.note].filter((each) => each !== undefined);
      const rows = shown.map((item, index) => {
        const isChosen = first + index === at;
        const label = ending(oneLine(item.label), Math.max(1, room), item.help === undefined);
        const space = " ".repeat(Math.max(0, room - visibleWidth(label)) + 2);
        const left = width - 2 - room - 2;
        const help =
          item.help === undefined || left <= 0
            ? ""
            : space + theme.dim(beginning(oneLine(item.help), left));
        return isChosen
          ? `${theme.accent("›")} ${theme.selected(label)}${help}`
          : `  ${label}${help}`;
      });
      return notes.length === 0
        ? rows
        : [...rows, theme.dim(`  ${beginning(notes.join(" · "), width - 2)}`)];
    },
  };
}

/** Returns the end of a path, which says more than the beginning. */
function ending(text: string, width: number, isPath: boolean): string {
  const total = visibleWidth(text);
  if (total <= width) {
    return text;
  }
  return isPath
    ? `…${sliceByColumn(text, total - width + 1, width - 1, true)}`
    : beginning(text, width);
}

function beginning(text: string, width: number): string {
  return visibleWidth(text) <= width ? text : `${sliceByColumn(text, 0, width - 1, true)}…`;
}
