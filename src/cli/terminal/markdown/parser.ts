import { addText, closeLeaf, codeRows, fenceLine, readLeaf } from "./leaves.ts";
import { type Frame, placed } from "./layout.ts";
import * as lines from "./lines.ts";
import type { Line, Parsing, State } from "./state.ts";

/** Deeper quotes and lists are text. */
const MAX_DEPTH = 8;
const BULLETS = ["•", "◦", "▪"];

/** Reads a cleaned line without its line feed and tabs. Returns the rows that are final. */
export function readLine(state: State, line: Line, on: Parsing): string[] {
  const { leaf } = state;
  if (line.continues) {
    return leaf.kind === "code"
      ? codeRows(state, leaf.code, line, on)
      : addText(state, line.text, on);
  }
  const { depth, text, shift } = matched(state, line.text);
  const isInside = depth === state.frames.length;
  if (isInside && leaf.kind === "code" && leaf.sign !== null) {
    return fenceLine(state, { ...line, text }, on);
  }
  if (!isInside && leaf.kind === "paragraph" && text.trim() !== "" && !beginsBlock(text)) {
    return addText(state, `\n${text.trimStart()}`, on);
  }
  const closed = isInside ? [] : closeFrames(state, depth, on);
  const opened = openFrames(state, { text, shift }, on);
  if (opened.text.trim() === "") {
    return [...closed, ...opened.rows, ...blankLine(state, on, opened.count)];
  }
  return [...closed, ...opened.rows, ...readLeaf(state, { ...line, text: opened.text }, on)];
}

/** Closes everything. */
export function readEnd(state: State, on: Parsing): string[] {
  return closeFrames(state, 1, on);
}

interface Rest {
  /** Rest of a line after the markers of its frames. */
  readonly text: string;
  /** How many columns its beginning is left of the content of the innermost frame that it is in: 0 or less. */
  readonly shift: number;
}

/** How many of the open frames a line is in. */
function matched({ frames }: State, line: string): Rest & { readonly depth: number } {
  let rest: Rest = { text: line, shift: 0 };
  for (const [depth, frame] of frames.entries()) {
    const inner = inFrame(frame, rest);
    if (inner === null) {
      return { depth, ...rest };
    }
    rest = inner;
  }
  return { depth: frames.length, ...rest };
}

function inFrame({ kind, indent, offset }: Frame, rest: Rest): Rest | null {
  const { text, shift } = rest;
  if (kind === "root") {
    return rest;
  }
  if (kind === "quote") {
    const content = lines.quoteContent(text);
    return content === null ? null : { text: content, shift: 0 };
  }
  if (text.trim() === "") {
    return { text: "", shift: 0 };
  }
  const column = lines.indentOf(text) + shift;
  if (column >= offset) {
    return { text: text.slice(offset - shift), shift: 0 };
  }
  // models write two spaces before a list in a numbered one
  const isNested = column >= indent + 2 && lines.itemStart(text.trimStart()) !== null;
  return isNested ? { text: text.trimStart(), shift: column - offset } : null;
}

/** True for a line that does not continue a paragraph, whatever frames it is in. */
function beginsBlock(line: string): boolean {
  return (
    lines.fenceStart(line) !== null ||
    lines.headingOf(line) !== null ||
    lines.isRule(line) ||
    lines.quoteContent(line) !== null ||
    lines.itemStart(line) !== null
  );
}

/** Opens the quotes and items that a line begins with. */
function openFrames(
  state: State,
  rest: Rest,
  on: Parsing,
): { readonly rows: string[]; readonly text: string; readonly count: number } {
  const rows: string[] = [];
  const { frames } = state;
  let { text, shift } = rest;
  let count = 0;
  while (frames.length <= MAX_DEPTH && lines.indentOf(text) < 4) {
    const quote = lines.quoteContent(text);
    const item = quote === null && !lines.isRule(text) ? lines.itemStart(text) : null;
    const isText = state.leaf.kind === "paragraph" && item !== null && !interrupts(item);
    if ((quote === null && item === null) || isText) {
      break;
    }
    rows.push(...closeLeaf(state, on));
    frames.push(
      item === null
        ? { kind: "quote", indent: 0, offset: 0, marker: "│ ", isShown: false, ones: 0 }
        : itemFrame(frames, item, shift),
    );
    text = item === null ? (quote ?? "") : item.content;
    [count, shift] = [count + 1, 0];
  }
  return { rows, text, count };
}

/** In the middle of a paragraph, `1986.` begins no list. */
function interrupts({ marker, content }: lines.ItemStart): boolean {
  return content.trim() !== "" && (!/^\d/.test(marker) || /^1\D/.test(marker));
}

function itemFrame(frames: readonly Frame[], item: lines.ItemStart, shift: number): Frame {
  const parent = frames.at(-1);
  const isOne = /^1\D/.test(item.marker);
  if (parent !== undefined) {
    parent.ones = isOne ? parent.ones + 1 : 0;
  }
  const depth = frames.filter(({ kind }) => kind === "item").length;
  const sign = /^\d/.test(item.marker)
    ? isOne
      ? `${parent?.ones ?? 1}${item.marker.slice(1)}`
      : item.marker
    : (BULLETS[depth % BULLETS.length] ?? "•");
  const box = item.task === "done" ? "☑" : "☐";
  const marker = item.task === null ? sign : /^\d/.test(item.marker) ? `${sign} ${box}` : box;
  const [indent, offset] = [item.indent + shift, item.offset + shift];
  return { kind: "item", indent, offset, marker: `${marker} `, isShown: false, ones: 0 };
}

function blankLine(state: State, on: Parsing, opened: number): string[] {
  if (state.leaf.kind === "code" && state.leaf.sign === null) {
    state.isBlank = true;
    return [];
  }
  const rows = closeLeaf(state, on);
  state.isBlank ||= opened === 0;
  return rows;
}

function closeFrames(state: State, depth: number, on: Parsing): string[] {
  const rows = closeLeaf(state, on);
  for (let last = state.frames.at(-1); state.frames.length > depth; last = state.frames.at(-1)) {
    if (last?.kind === "item" && !last.isShown) {
      rows.push(...placed(state, on, { kind: "item", rows: [""] }));
    }
    state.frames.pop();
  }
  return rows;
}
