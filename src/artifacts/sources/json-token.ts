import { SourceError } from "./source.ts";

export interface Token {
  readonly kind: "{" | "}" | "[" | "]" | ":" | "," | "scalar" | "end";
  readonly start: number;
  readonly end: number;
  /** Value of a scalar; null for every other token. */
  readonly value: string | number | boolean | null;
}

export const QUOTE = 0x22;
export const BACKSLASH = 0x5c;
const HEX = /^[0-9a-fA-F]{4}$/;

/** Reads the token at or after `from`; throws a SourceError if the text is not JSON. */
export function nextToken(text: string, from: number): Token {
  const start = skipSpace(text, from);
  const char = text.charAt(start);
  switch (char) {
    case "":
      return { kind: "end", start, end: start, value: null };
    case "{":
    case "}":
    case "[":
    case "]":
    case ":":
    case ",":
      return { kind: char, start, end: start + 1, value: null };
    case '"':
      return stringToken(text, start);
    default:
      return wordToken(text, start);
  }
}

/** The offset of what comes after the space at an offset. */
export function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && isSpace(text.charCodeAt(at))) {
    at += 1;
  }
  return at;
}

export function isSpace(unit: number): boolean {
  return unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09;
}

// A loop, not a pattern: a pattern with alternatives keeps a step for every character it passed.
function stringToken(text: string, start: number): Token {
  let at = start + 1;
  let escaped = false;
  for (let unit = text.charCodeAt(at); unit !== QUOTE; unit = text.charCodeAt(at)) {
    if (at >= text.length || unit === 0x0a || unit === 0x0d) {
      throw malformed(start, 'the string that begins here has no closing "');
    }
    if (unit < 0x20) {
      throw malformed(at, "a control character must be written as an escape in a string");
    }
    if (unit === BACKSLASH) {
      escaped = true;
      at += escapeLength(text, at);
    } else {
      at += 1;
    }
  }
  const inner = text.slice(start + 1, at);
  const value = escaped ? String(JSON.parse(`"${inner}"`)) : inner;
  return { kind: "scalar", start, end: at + 1, value };
}

function escapeLength(text: string, at: number): number {
  const letter = text.charAt(at + 1);
  if (letter === "u" && HEX.test(text.slice(at + 2, at + 6))) {
    return 6;
  }
  if (letter !== "" && '"\\/bfnrt'.includes(letter)) {
    return 2;
  }
  throw malformed(
    at,
    'a \\ in a string must begin one of \\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX',
  );
}

/** Between spaces and signs JSON has only numbers and `true`, `false`, `null`. */
function wordToken(text: string, start: number): Token {
  const end = wordEnd(text, start);
  const word = text.slice(start, end);
  try {
    return { kind: "scalar", start, end, value: JSON.parse(word) };
  } catch {
    throw malformed(start, wordProblem(word));
  }
}

function wordEnd(text: string, start: number): number {
  let at = start + 1;
  while (
    at < text.length &&
    !isSpace(text.charCodeAt(at)) &&
    !'{}[]:,"'.includes(text.charAt(at))
  ) {
    at += 1;
  }
  return at;
}

function wordProblem(word: string): string {
  if (word.startsWith("'")) {
    return 'JSON strings need double quotes ("), not single ones';
  }
  if (word.startsWith("//") || word.startsWith("/*") || word.startsWith("#")) {
    return "JSON has no comments; remove this one";
  }
  if (/^[-+.\d]/.test(word)) {
    return "this is not a JSON number; write it like 12, -0.5 or 1e3";
  }
  return 'this is neither a JSON value nor a name in double quotes (")';
}

export function malformed(offset: number, message: string): SourceError {
  return new SourceError("malformed_json", offset, message);
}
