import { isMap, isScalar, LineCounter, parseDocument, type Document } from "yaml";

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

function parse(yaml: string, lineCounter: LineCounter): Document {
  try {
    return parseDocument(yaml, { lineCounter, prettyErrors: false, schema: "core" });
  } catch {
    // the composer recurses, and a thousand brackets are not a persona
    throw new PersonaError("the front matter is nested too deeply", 2);
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
