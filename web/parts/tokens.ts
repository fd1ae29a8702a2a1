import { Lexer, type Token, type TokensList } from "marked";

/** How answers are written: line feeds count. */
export const SYNTAX = { gfm: true, breaks: true } as const;

/** Signs of a paragraph beyond which it is plain text: the library's time grows faster than their number. */
const MAX_MARKS = 300;
/** A line in more quotes and lists than this makes the whole text plain: the library calls itself for each. */
const NESTED = /^(?:[ \t]*(?:>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t]))){21}/m;

/** The blocks of a text with Markdown, in a time that is in proportion to its length whatever it is. */
export function tokensOf(text: string): TokensList | Token[] {
  return NESTED.test(text) ? [plain(text)] : new BoundedLexer(SYNTAX).lex(text);
}

class BoundedLexer extends Lexer {
  override inlineTokens(source: string, tokens: Token[] = []): Token[] {
    if ((source.match(/[*_~[\]`<&!\\@]/g)?.length ?? 0) > MAX_MARKS) {
      tokens.push({ type: "text", raw: source, text: source, escaped: false });
      return tokens;
    }
    return super.inlineTokens(source, tokens);
  }
}

function plain(text: string): Token {
  const tokens: Token[] = [{ type: "text", raw: text, text, escaped: false }];
  return { type: "paragraph", raw: text, text, tokens };
}
