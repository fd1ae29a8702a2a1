import type { Token } from "marked";

import { tokensOf } from "../parts/tokens.ts";

/** Splits a text with Markdown that grows into pieces that no longer change, and the rest. */
export interface GrowingBlocks {
  /** Pieces of the text so far; together they are the text. All but the last stay the same while it grows. */
  read(text: string): readonly string[];
}

/** Characters of the rest below which it is one piece: a piece for each paragraph of two words costs more. */
const MIN_PIECE = 400;

/**
 * What follows a block may still belong to it: a list continues after an empty line, a table after its head. So a piece
 * ends before the last block of the text, never within one. Each read parses the rest alone.
 */
export function createGrowingBlocks(): GrowingBlocks {
  let pieces: string[] = [];
  let done = "";
  /** The last empty line that was there when the rest was parsed. */
  let seen = -1;
  return {
    read: (text) => {
      if (!text.startsWith(done)) {
        pieces = [];
        done = "";
      }
      const rest = text.slice(done.length);
      // only an empty line ends a block
      const gap = text.lastIndexOf("\n\n");
      const isSame = gap <= seen && gap >= done.length;
      seen = gap;
      const end = rest.length < MIN_PIECE || gap < done.length || isSame ? 0 : finishedLength(rest);
      if (end > 0) {
        const piece = rest.slice(0, end);
        pieces = [...pieces, piece];
        done += piece;
      }
      return [...pieces, rest.slice(end)];
    },
  };
}

/** Characters until the last block that has a shape. */
function finishedLength(text: string): number {
  const tokens = tokensOrNone(text);
  const last = tokens.findLastIndex(({ type }) => type !== "space");
  const before = tokens.slice(0, Math.max(0, last));
  const length = before.reduce((sum, { raw }) => sum + raw.length, 0);
  // the lexer changes white space such as CRLF: then the text stays in one piece
  return text.startsWith(before.map(({ raw }) => raw).join("")) ? length : 0;
}

/** Without tokens, the text stays in one piece. */
function tokensOrNone(text: string): readonly Token[] {
  try {
    return tokensOf(text);
  } catch {
    return [];
  }
}
