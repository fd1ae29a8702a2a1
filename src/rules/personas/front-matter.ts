import { isMap, isScalar, isSeq, LineCounter, parseDocument, type Document } from "yaml";

import { PersonaError } from "./persona-error.ts";

/** A Markdown file in two. */
export interface FrontMatter {
  /** The YAML between the `---` lines; its first line is the file's second. */
  readonly yaml: string;
  readonly body: string;
}

/** A value of the front matter and its line in the file. */
export interface Field {
  readonly value: unknown;
  readonly line: number;
}

export type ParsedFields = ReadonlyMap<string, Field>;

/** Splits at the first two lines that are `---`. */
export function splitFrontMatter(text: string): FrontMatter {
  const lines = text.split(/\r?\n/);
  if (lines[0]?.trimEnd() !== "---") {
    throw new PersonaError("the file must begin with a line ---, then name and description", 1);
  }
  const end = lines.findIndex((line, index) => index > 0 && line.trimEnd() === "---");
  if (end === -1) {
    throw new PersonaError("the front matter is not closed; add a line ---", 1);
  }
  return {
    yaml: lines.slice(1, end).join("\n"),
    body: lines
      .slice(end + 1)
      .join("\n")
      .trim(),
  };
}

/** Reads the front matter as YAML 1.2: a map of plain names, without aliases. */
export function parseFields(yaml: string): ParsedFields {
  const lineCounter = new LineCounter();
  const document = parse(yaml, lineCounter);
  const error = document.errors[0];
  if (error !== undefined) {
    throw new PersonaError(
      `this is not YAML: ${summary(error.message)}`,
      lineOf(lineCounter, error.pos[0]),
    );
  }
  const root = document.contents;
  if (root === null) {
    return new Map();
  }
  if (!isMap(root)) {
    throw new PersonaError("the front matter must be lines of name: value", 2);
  }
  return new Map(
    root.items.map(({ key, value }) => {
      if (!isScalar(key)) {
        throw new PersonaError("a name in the front matter must be a word", 2);
      }
      const line = lineOf(lineCounter, key.range?.[0] ?? 0);
      return [String(key.value), { value: plain(value, document, line), line }];
    }),
  );
}

/** Characters of a front matter. Its author must not hold up a session: hundreds of such files are read. */
const MAX_CHARACTERS = 32 * 1024;
/** Brackets that are open at once, and indicators of lists and keys in a row: the parser is slow for many. */
const MAX_BRACKETS = 50;
const INDICATORS = /(?:[-?:!&][ \t]+){50}/;

function parse(yaml: string, lineCounter: LineCounter): Document {
  if (yaml.length > MAX_CHARACTERS) {
    throw new PersonaError("the front matter has more than 32 KiB", 2);
  }
  if (openBrackets(yaml) > MAX_BRACKETS || INDICATORS.test(yaml)) {
    throw tooDeep();
  }
  try {
    // the parser compares each key with all others, which takes a minute for 20,000
    const options = {
      lineCounter,
      prettyErrors: false,
      schema: "core",
      uniqueKeys: false,
    } as const;
    const document = parseDocument(yaml, options);
    refuseRepeated(document.contents, lineCounter);
    return document;
  } catch (error) {
    throw error instanceof PersonaError ? error : tooDeep();
  }
}

function tooDeep(): PersonaError {
  return new PersonaError("the front matter is nested too deeply", 2);
}

/** The most brackets that are open at once; those in texts count, too. */
function openBrackets(yaml: string): number {
  let [open, most] = [0, 0];
  for (const [bracket] of yaml.matchAll(/[[\]{}]/g)) {
    open = bracket === "[" || bracket === "{" ? open + 1 : Math.max(0, open - 1);
    most = Math.max(most, open);
  }
  return most;
}

function refuseRepeated(node: unknown, lineCounter: LineCounter): void {
  if (isSeq(node)) {
    node.items.forEach((item) => refuseRepeated(item, lineCounter));
  }
  if (!isMap(node)) {
    return;
  }
  const names = new Set<string>();
  for (const { key, value } of node.items) {
    refuseRepeated(value, lineCounter);
    if (!isScalar(key)) {
      continue;
    }
    const name = String(key.value);
    if (names.has(name)) {
      const line = lineOf(lineCounter, key.range?.[0] ?? 0);
      throw new PersonaError("this is not YAML: Map keys must be unique", line);
    }
    names.add(name);
  }
}

function plain(value: unknown, document: Document, line: number): unknown {
  if (typeof value !== "object" || value === null || !("toJS" in value)) {
    return value;
  }
  try {
    return typeof value.toJS === "function" ? value.toJS(document, { maxAliasCount: 0 }) : null;
  } catch {
    throw new PersonaError("aliases are not taken here; write the value out", line);
  }
}

/** The front matter begins on the file's second line. */
function lineOf(lineCounter: LineCounter, offset: number): number {
  return lineCounter.linePos(offset).line + 1;
}

function summary(message: string): string {
  return (message.split("\n")[0] ?? "").replace(/\p{Cc}/gu, "?").slice(0, 100);
}
