import { Lexer, type Token, Tokenizer } from "marked";

import { visible } from "../../../core/text/terminal-text.ts";
import type { Theme } from "../text/theme.ts";
import type { Run } from "./runs.ts";

type Style = (text: string) => string;

/** The parser's time grows with the square of these; a paragraph of prose has a few. */
const MAX_MARKS = 200;

/** HTML and `~` are text: nothing that a model writes is hidden. */
class PlainTokenizer extends Tokenizer {
  override del(): undefined {}
  override tag(): undefined {}
  override reflink(): undefined {}
}

/** Reads a paragraph, heading or cell of cleaned Markdown: bold, italic, code, links; the rest is text. */
export function inlineRuns(source: string, theme: Theme, style: Style | null = null): Run[] {
  const styles = style === null ? [] : [style];
  const tokens = /[*_[\]`<&\\@]|:\/\/|www\./i.test(source) ? tokensOf(source) : null;
  return tokens === null ? [run(source, styles)] : runsOf(tokens, styles, theme);
}

/** Null if the text has more marks than prose has. */
function tokensOf(source: string): readonly Token[] | null {
  if ((source.match(/[*_[\]`<&!\\(@]/g)?.length ?? 0) > MAX_MARKS) {
    return null;
  }
  return Lexer.lexInline(source, { gfm: true, tokenizer: new PlainTokenizer() });
}

function runsOf(tokens: readonly Token[], styles: readonly Style[], theme: Theme): Run[] {
  return tokens.flatMap((token) => {
    switch (token.type) {
      case "strong":
        return runsOf(token.tokens ?? [], [...styles, theme.bold], theme);
      case "em":
        return runsOf(token.tokens ?? [], [...styles, theme.italic], theme);
      case "codespan":
        return run(theme.name === "none" ? token.raw : textOf(token), [...styles, theme.code]);
      case "br":
        return run("\n", styles);
      case "link":
        return linkRuns(token, runsOf(token.tokens ?? [], styles, theme), styles, theme);
      case "image":
        return linkRuns(token, [run(textOf(token) || "image", styles)], styles, theme);
      case "escape":
        return run(textOf(token), styles);
      case "text":
        return token.tokens === undefined
          ? run(decoded(textOf(token)).replace(/<br ?\/?>/gi, "\n"), styles)
          : runsOf(token.tokens, styles, theme);
      default:
        return run(token.raw, styles);
    }
  });
}

function textOf(token: Token): string {
  return "text" in token && typeof token.text === "string" ? token.text : token.raw;
}

function run(text: string, styles: readonly Style[]): Run {
  const [first, ...others] = styles;
  if (first === undefined) {
    return { text, style: null };
  }
  return {
    text,
    style:
      others.length === 0
        ? first
        : (each) => styles.reduceRight((done, style) => style(done), each),
  };
}

/** An address that differs from the text is shown after it: a link must not hide its address. */
function linkRuns(
  token: Token,
  text: readonly Run[],
  styles: readonly Style[],
  theme: Theme,
): Run[] {
  const href = "href" in token && typeof token.href === "string" ? token.href : "";
  const shown = addressOf(decoded(href));
  const link: Style = (each) => theme.link(each, shown);
  const label = text.map((each) => each.text).join("");
  const linked = text.map(({ text, style }) => ({
    text,
    style: style === null ? link : (each: string) => link(style(each)),
  }));
  const start = /^www\./i.test(label) ? "http://" : label.includes("@") ? "mailto:" : "";
  const isSame = [label, `${start}${label}`, ""].includes(shown);
  const title =
    "title" in token && typeof token.title === "string" ? `"${decoded(token.title)}"` : "";
  const others = [
    ...(isSame ? [] : [run(shown, [theme.dim, link])]),
    ...(title === "" ? [] : [run(isSame ? title : ` ${title}`, [theme.dim])]),
  ];
  return others.length === 0 ? linked : [...linked, run(" (", styles), ...others, run(")", styles)];
}

/** With the host in ASCII, so that no letter of another script passes for a Latin one. */
function addressOf(href: string): string {
  const address = visible(href).replace(/[\n\t]/g, " ");
  if (!/[^ -~]/.test(address) || !URL.canParse(address)) {
    return address;
  }
  const { host, href: ascii } = new URL(address);
  return host === "" || address.includes(host) ? address : ascii;
}

const NAMED: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
};

/** Character references; what a terminal would obey is shown as a sign. */
function decoded(text: string): string {
  return text.includes("&")
    ? text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{2,4}));/gi, (raw, decimal, hex, name) => {
        const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
        if (name !== undefined) {
          return NAMED[String(name).toLowerCase()] ?? raw;
        }
        return code > 0 && code <= 0x10ffff ? visible(String.fromCodePoint(code)) : raw;
      })
    : text;
}

/** Where a text can be cut so that what comes later does not change its beginning; else at its last space. */
export function safeCut(source: string): number {
  let [from, safe] = [0, 0];
  for (const token of tokensOf(source) ?? []) {
    const end = from + token.raw.length;
    const open = token.type === "text" ? token.raw.search(/[*_[\]`<\\!]/) : -1;
    if (token.type === "text") {
      const space = lastSpace(open < 0 ? token.raw : token.raw.slice(0, open));
      safe = space > 0 ? from + space : safe;
    }
    if (open >= 0) {
      break;
    }
    from = end;
  }
  const cut = safe > source.length / 4 ? safe : lastSpace(source);
  return cut > 0 ? cut : wholeCharacters(source);
}

/** After the last white space; 0 if there is none. */
function lastSpace(text: string): number {
  return /\s\S*$/.exec(text)?.index === undefined ? 0 : text.search(/\s\S*$/) + 1;
}

/** The length without a first half of a character at the end. */
export function wholeCharacters(text: string): number {
  return /[\ud800-\udbff]$/.test(text) ? text.length - 1 : text.length;
}
