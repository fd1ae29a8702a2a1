import {
  createScanner,
  findNodeAtLocation,
  type JSONPath,
  type Node,
  parseTree,
} from "jsonc-parser";

/** Change of a text: the value at a path of keys and positions, or its removal. */
export interface ConfigEdit {
  readonly path: JSONPath;
  /** As JSON. Undefined removes what is there. A position at the end of a list adds to it. */
  readonly value: unknown;
}

const OPTIONS = { allowTrailingComma: true, allowEmptyContent: true };

/**
 * Changes a text that was parsed without a problem. Nothing else in it changes, and comments keep their places:
 * jsonc-parser's own `modify` moves a comment after the last entry, and removes some.
 */
export function editText(text: string, { path, value }: ConfigEdit): string {
  const root = parseTree(text, [], OPTIONS);
  if (root === undefined) {
    const start = text === "" || text.endsWith("\n") ? text : `${text}\n`;
    return value === undefined ? text : editText(`${start}{}\n`, { path, value });
  }
  const found = findNodeAtLocation(root, [...path]);
  if (value === undefined) {
    return found === undefined ? text : withoutEntry(text, entryOf(found));
  }
  if (found !== undefined) {
    const json = JSON.stringify(value, null, 2).replaceAll(
      "\n",
      `\n${indentAt(text, found.offset)}`,
    );
    return text.slice(0, found.offset) + json + text.slice(found.offset + found.length);
  }
  let depth = path.length - 1;
  let holder: Node | undefined;
  while ((holder = findNodeAtLocation(root, path.slice(0, depth))) === undefined) {
    depth -= 1;
  }
  const [key, ...below] = path.slice(depth);
  const added = below.reduceRight<unknown>(
    (inner, name) => (typeof name === "number" ? [inner] : { [name]: inner }),
    value,
  );
  const name = typeof key === "string" ? `${JSON.stringify(key)}: ` : "";
  return withEntry(text, holder, name + JSON.stringify(added, null, 2));
}

/** An item of a list, or the key with its value. */
function entryOf(node: Node): Node {
  return node.parent?.type === "property" ? node.parent : node;
}

/** Adds an entry at the end of an object or a list. */
function withEntry(text: string, holder: Node, entry: string): string {
  const close = holder.offset + holder.length - 1;
  const last = holder.children?.at(-1);
  const outer = indentAt(text, holder.offset);
  const indent = last === undefined ? `${outer}  ` : indentAt(text, last.offset);
  // after what is there, comments too
  const end = text.slice(0, close).trimEnd().length;
  const tail = text.slice(end, close).includes("\n") ? text.slice(end, close) : `\n${outer}`;
  const added = `\n${indent}${entry.replaceAll("\n", `\n${indent}`)}`;
  const rest = added + tail + text.slice(close);
  if (last === undefined) {
    return text.slice(0, end) + rest;
  }
  const after = last.offset + last.length;
  const comma = commaAfter(text, after) === null ? "," : "";
  return text.slice(0, after) + comma + text.slice(after, end) + rest;
}

/** Removes an entry and the comma after it; one before it stays, as trailing commas are allowed. */
function withoutEntry(text: string, { offset, length }: Node): string {
  const end = offset + length;
  const comma = commaAfter(text, end);
  const rest = comma === null ? text.slice(end) : text.slice(end, comma) + text.slice(comma + 1);
  const start = text.slice(0, offset);
  const isWholeLine = /(^|\n)[ \t]*$/.test(start) && /^[ \t]*\r?\n/.test(rest);
  return isWholeLine
    ? start.replace(/[ \t]*$/, "") + rest.replace(/^[ \t]*\r?\n/, "")
    : start + rest;
}

/** The position of the next comma, comments skipped; null if something else is next. */
function commaAfter(text: string, offset: number): number | null {
  const scanner = createScanner(text, true);
  scanner.setPosition(offset);
  scanner.scan();
  return text[scanner.getTokenOffset()] === "," ? scanner.getTokenOffset() : null;
}

/** The white space at the beginning of the line. */
function indentAt(text: string, offset: number): string {
  const line = text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset);
  return /^[ \t]*/.exec(line)?.[0] ?? "";
}
