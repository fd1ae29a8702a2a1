import { Composer, CST, Lexer, Parser, type ParsedNode } from "yaml";

import { oneLine } from "../../core/text/terminal-text.ts";
import { MAX_SOURCE_DEPTH, SourceError, tooDeep } from "./source.ts";

/**
 * Composes the one YAML document of a text. Throws a SourceError at the first thing that is wrong,
 * as soon as it is read: a text of nothing but errors costs no more than its first one.
 */
export function composeYaml(text: string, maxLexemes: number): ParsedNode {
  // all of it is read, and the tokens hold no second document
  const [document] = [...strictComposer().compose(tokensOf(text, maxLexemes))];
  const contents = document?.contents ?? null;
  if (contents === null) {
    throw malformedYaml(0, "the file is empty; write a YAML document in it");
  }
  return contents;
}

/** The composer keeps every error, each with a stack; its own callback is replaced to stop it. */
function strictComposer(): Composer {
  const composer = new Composer({ prettyErrors: false, uniqueKeys: false, schema: "core" });
  let first: SourceError | undefined;
  const onError = (source: ErrorSource, _code: string, message: string): never => {
    // the parser catches some of what is thrown here, and throws it again later
    first ??= malformedYaml(offsetOf(source), unreadable(message));
    throw first;
  };
  Object.assign(composer, { onError });
  return composer;
}

type ErrorSource = number | readonly [number, ...number[]] | { readonly offset: number };

function offsetOf(source: ErrorSource): number {
  if (typeof source === "number") {
    return source;
  }
  return "offset" in source ? source.offset : source[0];
}

/** The tokens of a text that holds one document without syntax errors. */
function* tokensOf(text: string, maxLexemes: number): Generator<CST.Token> {
  const parser = new Parser();
  let ended = false;
  let lexemes = 0;
  let isText = false;
  for (const lexeme of new Lexer().lex(text)) {
    lexemes += 1;
    if (lexemes > maxLexemes) {
      const message = `YAML of more than ${maxLexemes.toLocaleString("en")} words and signs is not read; write it as JSON or split it`;
      throw new SourceError("too_many_values", parser.offset, message);
    }
    if (!isText) {
      refuseReference(lexeme, parser.offset);
    }
    isText = lexeme === CST.SCALAR;
    for (const token of parser.next(lexeme)) {
      refuseError(token);
      ended ||= token.type === "document";
      yield token;
    }
    refuseDepth(parser.stack);
    const [open] = parser.stack;
    if (ended && open?.type === "document") {
      throw malformedYaml(open.offset, "a file holds one document; remove this one");
    }
  }
  for (const token of parser.end()) {
    refuseError(token);
    yield token;
  }
}

/** Aliases and tags are refused before a million of them are kept. */
function refuseReference(lexeme: string, offset: number): void {
  if (lexeme.startsWith("*")) {
    throw malformedYaml(offset, "aliases are not taken here; write the value out");
  }
  if (lexeme.startsWith("!")) {
    throw malformedYaml(offset, "tags are not taken here; write the value without one");
  }
}

function refuseError(token: CST.Token): void {
  if (token.type !== "error") {
    return;
  }
  const source = token.source === "" ? "" : `: ${JSON.stringify(token.source)}`;
  throw malformedYaml(token.offset, unreadable(`${token.message}${source}`));
}

/** The composer recurses, so the depth is bounded on the tokens that are still open. */
function refuseDepth(open: readonly CST.Token[]): void {
  if (open.length <= MAX_SOURCE_DEPTH) {
    return;
  }
  const beyond = open.filter((token) => "items" in token)[MAX_SOURCE_DEPTH];
  if (beyond !== undefined) {
    throw tooDeep(beyond.offset);
  }
}

function unreadable(message: string): string {
  return `this is not YAML that can be read: ${oneLine(message)}`;
}

export function malformedYaml(offset: number, message: string): SourceError {
  return new SourceError("malformed_yaml", offset, message);
}
