import { visible } from "../../../core/text/terminal-text.ts";
import type { History, HistoryEntry } from "../../chat/history.ts";
import { sliceByColumn, visibleWidth } from "../pi/text.ts";
import { left } from "./moves.ts";
import type { Theme } from "../text/theme.ts";

/** Ctrl-R: searches the history while it is typed. */
export interface Search {
  rows(width: number, height: number): readonly string[];
  /** Handles a key: the search continues, ends without a result, or with the entry that is shown. */
  key(key: string | undefined, typed: string): "on" | "end" | HistoryEntry;
}

const MAX_QUERY = 200;
/** Characters of a match; no terminal shows more in a third of its rows. */
const MAX_SHOWN = 5000;
const INVERSE = "\u001b[7m";
const NOT_INVERSE = "\u001b[27m";
const HINT = "Enter takes it, Ctrl-R older, Esc ends";

export function createSearch(history: Pick<History, "entries">, theme: Theme): Search {
  const entries = history.entries().toReversed();
  let query = "";
  /** Position of the match in `entries`; -1 if there is none. */
  let at = entries.length === 0 ? -1 : 0;

  /** The first match from a position on, in the direction of a step. */
  const find = (from: number, step: 1 | -1): number => {
    const wanted = query.toLowerCase();
    for (let index = from; index >= 0 && index < entries.length; index += step) {
      if (entries[index]?.text.toLowerCase().includes(wanted) === true) {
        return index;
      }
    }
    return -1;
  };
  const narrow = (next: string): void => {
    query = next;
    at = find(0, 1);
  };
  return {
    rows: (width, height) => {
      const before = "search: ";
      const room = Math.max(0, width - visibleWidth(before) - 1);
      const end = Math.max(0, visibleWidth(visible(query)) - room);
      const shown = sliceByColumn(visible(query), end, room, true);
      const hint = visibleWidth(HINT) + visibleWidth(shown) + 3 <= room ? `   ${HINT}` : "";
      const field = `${theme.accent(before)}${shown}${INVERSE} ${NOT_INVERSE}${theme.dim(hint)}`;
      const match = entries[at];
      const max = Math.max(1, Math.floor(height / 3) - 1);
      const lines =
        match === undefined ? ["no match"] : visible(match.text.slice(0, MAX_SHOWN)).split("\n");
      const cut = lines.slice(0, max).map((line, index) => {
        const text = index === max - 1 && lines.length > max ? `${line} …` : line;
        return `  ${sliceByColumn(text.replaceAll("\t", " "), 0, Math.max(0, width - 2), true)}`;
      });
      return [field, ...(match === undefined ? cut.map((row) => theme.dim(row)) : cut)];
    },
    key: (key, typed) => {
      if (key === "escape" || key === "ctrl+c" || key === "ctrl+g") {
        return "end";
      }
      if (key === "enter" || key === "tab") {
        return entries[at] ?? "end";
      }
      if (key === "ctrl+r" || key === "up") {
        const older = find(at + 1, 1);
        at = older < 0 ? at : older;
      } else if (key === "ctrl+s" || key === "down") {
        const newer = find(at - 1, -1);
        at = newer < 0 ? at : newer;
      } else if (key === "backspace" || key === "ctrl+h") {
        narrow(query.slice(0, left([query], { line: 0, column: query.length }).column));
      } else if (key === "ctrl+u" || key === "ctrl+w") {
        narrow("");
      } else if (typed !== "" && query.length < MAX_QUERY) {
        narrow(query + typed);
      }
      return "on";
    },
  };
}
