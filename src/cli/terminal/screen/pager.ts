import { stripVTControlCharacters } from "node:util";

import { oneLine } from "../../../core/text/terminal-text.ts";
import { type KeyId, matchesKey } from "../pi/keys.ts";
import { cut, spread } from "../text/fit.ts";
import { visibleWidth, wrapTextWithAnsi } from "../pi/text.ts";
import type { FullView } from "./screen.ts";
import type { Theme } from "../text/theme.ts";
import { pasted, typed } from "./typed-text.ts";

export interface PagerOptions {
  readonly theme: Theme;
  readonly title: string;
  /** Rows of any width, cleaned and styled. */
  readonly rows: readonly string[];
  readonly on: { changed(): void; done(result: PagerResult): void };
}

export interface PagerResult {
  /** Whether every row was on the screen. */
  readonly seenAll: boolean;
}

/** Characters of a search. */
const MAX_SEARCH = 200;

type Move = (page: number) => number;
/** By how many rows a key scrolls. */
const MOVES: readonly (readonly [Move, ...KeyId[]])[] = [
  [() => -1, "up", "k"],
  [() => 1, "down", "j", "enter"],
  [(page) => -page, "pageUp", "b", "ctrl+b"],
  [(page) => page, "pageDown", "space", "f", "ctrl+f"],
  [(page) => -Math.ceil(page / 2), "u", "ctrl+u"],
  [(page) => Math.ceil(page / 2), "d", "ctrl+d"],
  [() => -Infinity, "g", "home"],
  [() => Infinity, "shift+g", "end"],
];

/**
 * Shows rows that do not fit the screen; those that are too wide are wrapped at words. `/` searches, `n` and `N` find
 * the next and the last match before, `q` and Esc leave.
 */
export function createPager({ theme, title, rows, on }: PagerOptions): FullView {
  const heading = oneLine(title);
  const texts = rows.map((row) => row.replaceAll("\t", "    "));
  const seen = createSeen(texts.length);
  let wrapped: Wrapped = { width: 0, rows: [] };
  let page = 1;
  let top = 0;
  /** The search that is typed; null while none is. */
  let typing: string | null = null;
  let query = "";
  /** The row of the last match, until the rows move. */
  let match: number | null = null;
  let notice = "";

  const scroll = (to: number): void => {
    top = Math.max(0, Math.min(to, wrapped.rows.length - page));
  };
  const resize = (width: number, height: number): void => {
    page = Math.max(1, height - 2);
    if (wrapped.width !== width) {
      const first = wrapped.rows[top]?.line ?? 0;
      wrapped = { width, rows: wrap(texts, width) };
      seen.restart(wrapped.rows);
      top = wrapped.rows.findIndex(({ line }) => line === first);
      match = null;
    }
    scroll(top);
  };
  /** From a row on, in a direction. */
  const find = (from: number, direction: 1 | -1): void => {
    const matches = matcher(query);
    for (let index = from; index >= 0 && index < wrapped.rows.length; index += direction) {
      if (matches(plainOf(wrapped.rows[index]?.text ?? ""))) {
        match = index;
        scroll(index);
        notice = `match in row ${index + 1}`;
        return;
      }
    }
    notice = direction === 1 ? "no match below" : "no match above";
  };
  const search = (key: string): void => {
    if (typing === null) {
      return;
    }
    if (matchesKey(key, "escape") || matchesKey(key, "ctrl+c")) {
      typing = null;
    } else if (matchesKey(key, "enter")) {
      query = typing;
      typing = null;
      find(top, 1);
    } else {
      typing = typed(typing, key, MAX_SEARCH) ?? typing;
    }
  };
  const read = (key: string): void => {
    notice = "";
    const move = MOVES.find(([, ...keys]) => keys.some((each) => matchesKey(key, each)));
    if (move !== undefined) {
      const [rowsOf] = move;
      match = null;
      scroll(top + rowsOf(page));
    } else if (key === "/") {
      typing = "";
    } else if (query !== "" && (key === "n" || key === "N")) {
      const direction = key === "n" ? 1 : -1;
      find((match ?? top) + direction, direction);
    } else if (["q", "escape", "ctrl+c"].some((each) => matchesKey(key, each as KeyId))) {
      on.done({ seenAll: seen.all() });
    }
  };
  const lastRow = (): string => {
    if (typing !== null) {
      return `/${typing}${theme.selected(" ")}`;
    }
    const keys = "Space next page  / search  q leave";
    const unseen = seen.left();
    const left = unseen === 0 ? "" : `${unseen} not seen yet  `;
    return notice === "" ? theme.dim(`${left}${keys}`) : theme.warning(notice);
  };

  return {
    rows: (width, height) => {
      resize(width, height);
      const shown = wrapped.rows.slice(top, top + page);
      if (height > 2) {
        seen.show(top, shown);
      }
      const until = top + shown.length;
      const part =
        wrapped.rows.length === 0 ? 100 : Math.floor((100 * until) / wrapped.rows.length);
      const rowsShown = width < 50 ? "" : `${until} of ${wrapped.rows.length} rows, `;
      const where = `${rowsShown}${part} %`;
      const matches = query === "" ? null : matcher(query);
      return [
        spread(theme.bold(heading), theme.dim(where), width),
        ...shown.map(({ text }) => marked(text, matches, theme)),
        ...Array.from({ length: page - shown.length }, () => theme.dim("~")),
        cut(lastRow(), width),
      ].slice(-height);
    },
    key: (key) => {
      (typing === null ? read : search)(key);
      on.changed();
    },
    paste: (text) => {
      if (typing !== null) {
        typing = pasted(typing, text, MAX_SEARCH);
      }
    },
  };
}

interface WrappedRow {
  readonly text: string;
  /** The index of the row that it is a part of. */
  readonly line: number;
}

interface Wrapped {
  readonly width: number;
  readonly rows: readonly WrappedRow[];
}

function wrap(texts: readonly string[], width: number): WrappedRow[] {
  return texts.flatMap((text, line) => {
    const parts = visibleWidth(text) <= width ? [text] : wrapTextWithAnsi(text, width);
    return parts.map((part) => ({ text: part, line }));
  });
}

/** Which rows were on the screen: one that is wrapped counts once all its parts were there at one width. */
function createSeen(count: number) {
  const done = new Uint8Array(count);
  let left = count;
  let parts: Uint32Array = new Uint32Array(count);
  let shown = new Uint8Array(0);
  return {
    /** The rows are wrapped in another way from now on. */
    restart: (rows: readonly WrappedRow[]): void => {
      parts = new Uint32Array(count);
      for (const { line } of rows) {
        parts[line] = (parts[line] ?? 0) + 1;
      }
      shown = new Uint8Array(rows.length);
    },
    show: (from: number, rows: readonly WrappedRow[]): void => {
      for (const [index, { line }] of rows.entries()) {
        if (shown[from + index] === 0) {
          shown[from + index] = 1;
          const missing = (parts[line] ?? 0) - 1;
          parts[line] = missing;
          if (missing === 0 && done[line] === 0) {
            done[line] = 1;
            left -= 1;
          }
        }
      }
    },
    left: (): number => left,
    all: (): boolean => left === 0,
  };
}

/** A capital letter makes the search exact. */
function matcher(query: string): (text: string) => boolean {
  return query === query.toLowerCase()
    ? (text) => text.toLowerCase().includes(query)
    : (text) => text.includes(query);
}

function marked(text: string, matches: ((text: string) => boolean) | null, theme: Theme): string {
  const plain = matches === null ? "" : plainOf(text);
  return matches?.(plain) === true ? theme.selected(plain) : text;
}

const plainOf = (text: string): string => stripVTControlCharacters(text);
