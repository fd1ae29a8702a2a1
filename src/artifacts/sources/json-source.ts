import { malformed, nextToken, type Token } from "./json-token.ts";
import type { LineIndex } from "../line-index.ts";
import { SourceBuilder } from "./source-builder.ts";
import {
  FILE_LIMITS,
  stopAtError,
  type Member,
  type ParsedSource,
  type SourceNode,
} from "./source.ts";

/**
 * Reads strict JSON (RFC 8259) with the place of every value. The first syntax error is the
 * only finding, as nothing after it can be trusted; property names given twice in one object are
 * all found. Takes linear time, whatever the text.
 */
export function readJson(text: string, lines: LineIndex, limits = FILE_LIMITS): ParsedSource {
  return stopAtError(lines, () => new JsonReader(text, lines, limits.values).read());
}

class JsonReader {
  readonly #text: string;
  readonly #builder: SourceBuilder;
  #at = 0;

  constructor(text: string, lines: LineIndex, maxValues: number) {
    this.#text = text;
    this.#builder = new SourceBuilder(lines, maxValues);
  }

  read(): ParsedSource {
    const first = this.#next();
    if (first.kind === "end") {
      throw malformed(0, "the file is empty; write a JSON document in it");
    }
    const root = this.#value(first);
    const rest = this.#next();
    if (rest.kind !== "end") {
      throw malformed(rest.start, "the document ended before this; a file holds one JSON value");
    }
    return { root, findings: this.#builder.findings };
  }

  /** The value that the token begins. The builder bounds its depth, so this may recurse. */
  #value({ kind, start, value }: Token): SourceNode {
    this.#builder.count(start, { isNested: kind === "{" || kind === "[" });
    switch (kind) {
      case "scalar":
        return { kind, start, value };
      case "{":
        return { kind: "object", start, members: this.#members() };
      case "[":
        return { kind: "array", start, items: this.#items() };
      case "end":
        throw malformed(start, "the file ends too early");
      default:
        throw malformed(start, "a value is expected here");
    }
  }

  #items(): SourceNode[] {
    const items: SourceNode[] = [];
    for (const token of this.#parts("]")) {
      items.push(this.#builder.inside(items.length, () => this.#value(token)));
    }
    return items;
  }

  #members(): Map<string, Member> {
    const members = new Map<string, Member>();
    for (const { kind, start, value: name } of this.#parts("}")) {
      if (kind === "end") {
        throw unclosed(start, "}");
      }
      if (kind !== "scalar" || typeof name !== "string") {
        throw malformed(start, 'a property name in double quotes (") is expected here');
      }
      const colon = this.#next();
      if (colon.kind !== ":") {
        throw malformed(colon.start, "a colon is missing between a property's name and its value");
      }
      this.#builder.addMember(members, { name, keyStart: start }, () => this.#value(this.#next()));
    }
    return members;
  }

  /** The token that begins each part of an open object or array, up to its closing bracket. */
  *#parts(close: "}" | "]"): Generator<Token> {
    let token = this.#next();
    while (token.kind !== close) {
      yield token;
      const comma = this.#next();
      if (comma.kind === close) {
        return;
      }
      if (comma.kind === "end") {
        throw unclosed(comma.start, close);
      }
      if (comma.kind !== ",") {
        throw malformed(comma.start, `a comma or ${close} is missing before this`);
      }
      token = this.#next();
      if (token.kind === close) {
        throw malformed(comma.start, `JSON allows no comma right before ${close}; remove it`);
      }
    }
  }

  #next(): Token {
    const token = nextToken(this.#text, this.#at);
    this.#at = token.end;
    return token;
  }
}

function unclosed(end: number, close: string): Error {
  return malformed(end, `the file ends before the closing ${close}`);
}
