/** Beginnings of a line of Markdown. White space at its beginning counts; tabs are spaces. */

export interface FenceStart {
  readonly sign: string;
  readonly indent: number;
  /** Empty if none is named. */
  readonly language: string;
  /** Text that is written besides the language. */
  readonly note: string;
}

export interface ItemStart {
  /** As it is written: `-`, `3.`, `3)`. */
  readonly marker: string;
  readonly indent: number;
  /** Columns before the content. */
  readonly offset: number;
  readonly task: "open" | "done" | null;
  readonly content: string;
}

export function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

export function fenceStart(line: string): FenceStart | null {
  const [, spaces = "", sign = "", rest = ""] = /^( {0,3})(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
  if (sign === "" || (sign.startsWith("`") && rest.includes("`"))) {
    return null;
  }
  const [, language = "", note = ""] =
    /^([\w#+.-]{0,20}(?![\w#+.-]))?(.*)$/.exec(rest.trim()) ?? [];
  return { sign, indent: spaces.length, language, note: note.trim() };
}

export function closesFence(line: string, sign: string): boolean {
  const text = line.trim();
  return indentOf(line) < 4 && text.startsWith(sign) && text === sign.charAt(0).repeat(text.length);
}

export function headingOf(line: string): { readonly level: number; readonly text: string } | null {
  const [, marks = "", rest = ""] = /^ {0,3}(#{1,6})(?: (.*))?$/.exec(line) ?? [];
  return marks === "" ? null : { level: marks.length, text: withoutClosingMarks(rest.trim()) };
}

function withoutClosingMarks(text: string): string {
  const open = text.replace(/#+$/, "");
  return open === "" || open.endsWith(" ") ? open.trimEnd() : text;
}

/** Below a paragraph, it makes a heading of it. */
export function underlineLevel(line: string): number | null {
  return /^ {0,3}=+ *$/.test(line) ? 1 : /^ {0,3}-+ *$/.test(line) ? 2 : null;
}

export function isRule(line: string): boolean {
  const text = line.trim().replaceAll(" ", "");
  return indentOf(line) < 4 && text.length >= 3 && /^(-+|_+|\*+)$/.test(text);
}

export function quoteContent(line: string): string | null {
  return /^ {0,3}> ?(.*)$/.exec(line)?.[1] ?? null;
}

export function itemStart(line: string): ItemStart | null {
  const [, spaces = "", marker = "", rest = ""] =
    /^( {0,3})([-+*•]|\d{1,9}[.)])((?: .*)?)$/.exec(line) ?? [];
  if (marker === "") {
    return null;
  }
  const indent = spaces.length;
  const gap = rest.trim() === "" || indentOf(rest) > 4 ? 1 : indentOf(rest);
  const content = rest.slice(gap);
  const task = /^\[([ xX])\] +(?=\S)/.exec(content);
  return {
    marker,
    indent,
    offset: indent + marker.length + gap,
    task: task === null ? null : task[1] === " " ? "open" : "done",
    content: task === null ? content : content.slice(task[0].length),
  };
}
