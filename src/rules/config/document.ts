import {
  createScanner,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser";

/** Part of a config file that cannot be used, and where. */
export interface Problem {
  /** From the beginning of the text, in UTF-16 code units. */
  readonly offset: number;
  /** A sentence without the value. */
  readonly message: string;
}

/** Deeper values mean nothing here, and would exhaust the parser's stack. */
const MAX_DEPTH = 16;

const SENTENCES: Partial<Record<ReturnType<typeof printParseErrorCode>, string>> = {
  PropertyNameExpected: "Write the name of a key in double quotes.",
  ColonExpected: "Write a colon after the key.",
  CommaExpected: "Write a comma between two entries.",
  CloseBraceExpected: "Close the object with }.",
  CloseBracketExpected: "Close the list with ].",
  EndOfFileExpected: "Nothing may follow the object.",
  UnexpectedEndOfComment: "Close the comment with */.",
  UnexpectedEndOfString: "Close the text with a double quote, on the same line.",
  InvalidEscapeCharacter: "This escape sequence is unknown; write two backslashes for one.",
};

/** Reads JSON with comments and trailing commas. An empty file, or one of comments only, has no root. */
export function parseDocument(text: string): {
  readonly root: Node | null;
  readonly problems: readonly Problem[];
} {
  const deep = firstTooDeep(text);
  if (deep !== null) {
    return { root: null, problems: [{ offset: deep, message: "This is nested too deeply." }] };
  }
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
  const [first] = errors;
  // errors after one of syntax are left out: the text is read as something else
  return first === undefined
    ? { root: root ?? null, problems: [] }
    : { root: null, problems: [{ offset: first.offset, message: sentenceOf(first) }] };
}

function sentenceOf({ error }: ParseError): string {
  return SENTENCES[printParseErrorCode(error)] ?? "This is not JSON with comments.";
}

/** The scanner does not recurse, as the parser does. */
function firstTooDeep(text: string): number | null {
  const scanner = createScanner(text, true);
  let depth = 0;
  while (scanner.getPosition() < text.length) {
    scanner.scan();
    const offset = scanner.getTokenOffset();
    const token = text[offset];
    // a text begins with its quote
    depth += token === "{" || token === "[" ? 1 : token === "}" || token === "]" ? -1 : 0;
    if (depth > MAX_DEPTH) {
      return offset;
    }
  }
  return null;
}
