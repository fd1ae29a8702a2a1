import { MAX_FINDINGS, type Finding } from "./finding.ts";
import { malformed, nextToken, type Token } from "./json-token.ts";
import type { LineIndex } from "./line-index.ts";
import {
  duplicateProperty,
  FILE_LIMITS,
  MAX_SOURCE_DEPTH,
  pointerTo,
  stopAtFault,
  tooDeep,
  tooManyValues,
  type ArrayNode,
  type ObjectNode,
  type ParsedSource,
  type SourceNode,
} from "./source.ts";

/**
 * Reads strict JSON (RFC 8259) with the place of every value. The first syntax error is the
 * only finding, as nothing after it can be trusted; property names given twice in one object are
 * all found. Takes linear time and no stack, whatever the text.
 */
export function readJson(text: string, lines: LineIndex, limits = FILE_LIMITS): ParsedSource {
  return stopAtFault(lines, () => new JsonReader(text, lines, limits.values).read());
}

/** An open object or array; `started` once it has content. */
interface Frame {
  readonly node: ObjectNode | ArrayNode;
  readonly pointer: string;
  started: boolean;
}

class JsonReader {
  readonly #text: string;
  readonly #lines: LineIndex;
  readonly #open: Frame[] = [];
  readonly #findings: Finding[] = [];
  readonly #maxValues: number;
  #at = 0;
  #values = 0;

  constructor(text: string, lines: LineIndex, maxValues: number) {
    this.#text = text;
    this.#lines = lines;
    this.#maxValues = maxValues;
  }

  read(): ParsedSource {
    const first = this.#next();
    if (first.kind === "end") {
      throw malformed(0, "the file is empty; write a JSON document in it");
    }
    const root = this.#value(first, () => "");
    for (let frame = this.#open.at(-1); frame !== undefined; frame = this.#open.at(-1)) {
      this.#step(frame);
    }
    const rest = this.#next();
    if (rest.kind !== "end") {
      throw malformed(rest.start, "the document ended before this; a file holds one JSON value");
    }
    return { root, findings: this.#findings };
  }

  /** Takes what comes next in an open object or array: its end, or one more part. */
  #step(frame: Frame): void {
    const { node, pointer } = frame;
    const token = this.#part(frame, node.kind === "object" ? "}" : "]");
    if (token === null) {
      this.#open.pop();
    } else if (node.kind === "object") {
      this.#member(node, pointer, token);
    } else {
      node.items.push(this.#value(token, () => pointerTo(pointer, node.items.length)));
    }
  }

  /** The token that begins the next part, past the comma; null at the closing bracket. */
  #part(frame: Frame, close: "}" | "]"): Token | null {
    const token = this.#next();
    if (token.kind === close) {
      return null;
    }
    if (!frame.started) {
      frame.started = true;
      return token;
    }
    if (token.kind === "end") {
      throw unclosed(token, close);
    }
    if (token.kind !== ",") {
      throw malformed(token.start, `a comma or ${close} is missing before this`);
    }
    const next = this.#next();
    if (next.kind === close) {
      throw malformed(token.start, `JSON allows no comma right before ${close}; remove it`);
    }
    return next;
  }

  #member(node: ObjectNode, parent: string, token: Token): void {
    const name = token.value;
    if (token.kind === "end") {
      throw unclosed(token, "}");
    }
    if (token.kind !== "scalar" || typeof name !== "string") {
      throw malformed(token.start, 'a property name in double quotes (") is expected here');
    }
    const colon = this.#next();
    if (colon.kind !== ":") {
      throw malformed(colon.start, "a colon is missing between a property's name and its value");
    }
    const first = node.members.get(name);
    // one more than is listed, so that cutting them off is noticed
    if (first !== undefined && this.#findings.length <= MAX_FINDINGS) {
      const at = { name, parent, offset: token.start, firstOffset: first.keyStart };
      this.#findings.push(duplicateProperty(this.#lines, at));
    }
    const value = this.#value(this.#next(), () => pointerTo(parent, name));
    node.members.set(name, { keyStart: token.start, value });
  }

  /** The value that the token begins; an object or array is filled by the steps that follow. */
  #value(token: Token, pointer: () => string): SourceNode {
    const start = token.start;
    this.#values += 1;
    if (this.#values > this.#maxValues) {
      throw tooManyValues(start, this.#maxValues);
    }
    if (token.kind === "scalar") {
      return { kind: "scalar", start, value: token.value };
    }
    if (token.kind === "{") {
      return this.#opened({ kind: "object", start, members: new Map() }, pointer);
    }
    if (token.kind === "[") {
      return this.#opened({ kind: "array", start, items: [] }, pointer);
    }
    throw malformed(
      start,
      token.kind === "end" ? "the file ends too early" : "a value is expected here",
    );
  }

  #opened<Node extends ObjectNode | ArrayNode>(node: Node, pointer: () => string): Node {
    if (this.#open.length === MAX_SOURCE_DEPTH) {
      throw tooDeep(node.start);
    }
    this.#open.push({ node, pointer: pointer(), started: false });
    return node;
  }

  #next(): Token {
    const token = nextToken(this.#text, this.#at);
    this.#at = token.end;
    return token;
  }
}

function unclosed(end: Token, close: string): Error {
  return malformed(end.start, `the file ends before the closing ${close}`);
}
