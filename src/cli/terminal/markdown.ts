import { visible } from "../../core/text/terminal-text.ts";
import type { Highlighter } from "./markdown/highlight.ts";
import { wholeCharacters } from "./markdown/inline.ts";
import { readEnd, readLine } from "./markdown/parser.ts";
import { copyState, type Line, newState, type State } from "./markdown/state.ts";
import type { Theme } from "./text/theme.ts";

/** Rows of a whole text. */
export interface Markdown {
  /** Rows of at most `width` columns. The text is cleaned here. Nothing in it is hidden but marks of Markdown. */
  rows(text: string, width: number): string[];
}

/** Markdown that arrives in pieces. */
export interface MarkdownStream {
  /** Returns the rows that are final: they are never drawn again. The cost does not grow with what came before. */
  add(piece: string): string[];
  /** The rest, as it would be drawn if the text ended here: the block that is not complete. */
  live(): string[];
  /** The text ends: the rest as final rows. */
  end(): string[];
}

interface Options {
  readonly theme: Theme;
  readonly highlighter: Highlighter;
}

/** Characters. A longer line is read in pieces of this size, and is part of a paragraph or of plain code. */
const MAX_LINE = 2000;
/** A line of these only may still become something else: it is not drawn before more of it is there. */
const MARKS_ONLY = /^[\s\-+*_=#>`~|:.)\d[\]]*$/;
/** In code: what may be the end of it. */
const FENCE_ONLY = /^[\s>]*(?:`+|~+)$/;

export function createMarkdown(options: Options): Markdown {
  return {
    rows: (text, width) => {
      const stream = createMarkdownStream({ ...options, width: () => width });
      return [...stream.add(text), ...stream.end()];
    },
  };
}

/** Makes a stream whose `add` and `end` together return the same wherever the text was cut. */
export function createMarkdownStream({
  theme,
  highlighter,
  width,
}: Options & { width(): number }): MarkdownStream {
  const state = newState();
  let rest = "";
  let continues = false;
  const read = (to: State, line: Line): string[] => {
    const text = visible(line.text.replace(/\r$/, ""));
    return readLine(
      to,
      { ...line, text: withoutTabs(text) },
      { theme, width: width(), highlighter },
    );
  };
  const end = (of: State): string[] => readEnd(of, { theme, width: width(), highlighter });
  return {
    add: (piece) => {
      const rows: string[] = [];
      const text = rest + piece;
      let at = 0;
      for (;;) {
        const feed = text.indexOf("\n", at);
        const length = (feed < 0 ? text.length : feed) - at;
        if (length > MAX_LINE) {
          const size = wholeCharacters(text.slice(at, at + MAX_LINE));
          rows.push(...read(state, { text: text.slice(at, at + size), continues, ends: false }));
          [at, continues] = [at + size, true];
        } else if (feed >= 0) {
          rows.push(...read(state, { text: text.slice(at, feed), continues, ends: true }));
          [at, continues] = [feed + 1, false];
        } else {
          rest = text.slice(at);
          return rows;
        }
      }
    },
    live: () => {
      const copy = copyState(state);
      const marks = copy.leaf.kind === "code" ? FENCE_ONLY : MARKS_ONLY;
      const isShown = continues || !marks.test(rest);
      const rows = isShown && rest !== "" ? read(copy, { text: rest, continues, ends: true }) : [];
      return [...rows, ...end(copy)];
    },
    end: () => {
      const rows =
        rest === "" && !continues ? [] : read(state, { text: rest, continues, ends: true });
      [rest, continues] = ["", false];
      return [...rows, ...end(state)];
    },
  };
}

/** Tab stops are 4 characters apart. */
function withoutTabs(text: string): string {
  let done = "";
  for (const [at, part] of text.split("\t").entries()) {
    done += at === 0 ? part : " ".repeat(4 - (done.length % 4)) + part;
  }
  return done;
}
