import { createHash } from "node:crypto";

import type { Cleaner } from "../../core/redact/clean.ts";
import { oneLine, visible } from "../../core/text/terminal-text.ts";
import type { FileChangeInfo } from "../../core/schemas/file-change-schemas.ts";
import type { ToolCall } from "../../core/sessions.ts";
import type { TranscriptItem } from "./read-transcript.ts";
import { STYLE } from "./style.ts";
import { changeTitle, marksOf, type MessageItem, sessionFacts, titleOf } from "./texts.ts";

const STYLE_HASH = createHash("sha256").update(STYLE).digest("base64");

/** Policy of the page: its style and nothing else, no script, no other address. */
export const TRANSCRIPT_POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; form-action 'none'`;

/**
 * A session to read, as one page of HTML that needs no script and no other file. Every text is escaped: none of it is
 * markup. The same items give the same bytes.
 */
export async function* htmlOf(
  items: AsyncIterable<TranscriptItem>,
  cleaner: Cleaner,
): AsyncGenerator<string> {
  const names = new Map<string, string>();
  for await (const item of items) {
    switch (item.type) {
      case "begin":
        yield beginText(item, cleaner);
        break;
      case "message":
        for (const { id, name } of item.message.tool_calls ?? []) {
          keep(names, id, name);
        }
        yield messageText(item, { cleaner, names });
        break;
      case "end":
        yield item.depth === 0 ? "</main>\n</body>\n</html>\n" : "</div></details>\n";
        break;
    }
  }
}

/** Calls whose results may still come. */
const MAX_NAMES = 1000;

function keep(names: Map<string, string>, id: string, name: string): void {
  names.set(id, name);
  const [oldest] = names.keys();
  if (names.size > MAX_NAMES && oldest !== undefined) {
    names.delete(oldest);
  }
}

function beginText(
  { session, depth }: Extract<TranscriptItem, { type: "begin" }>,
  cleaner: Cleaner,
): string {
  const title = escaped(titleOf(session, cleaner));
  const facts = sessionFacts(session, cleaner)
    .map(([label, value]) => `<dt>${label}</dt><dd>${escaped(oneLine(value))}</dd>`)
    .join("\n");
  const list = `<dl>\n${facts}\n</dl>\n`;
  return depth === 0
    ? `${headText(title)}<main>\n<header>\n<h1>${title}</h1>\n${list}</header>\n`
    : `<details class="agent"><summary><b>Sub-agent</b> <span>${title}</span></summary><div>\n${list}`;
}

function headText(title: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${TRANSCRIPT_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
`;
}

interface Written {
  readonly cleaner: Cleaner;
  /** Names of tools by the ids of their calls. */
  readonly names: ReadonlyMap<string, string>;
}

function messageText(item: MessageItem, { cleaner, names }: Written): string {
  const { seq, role, ts, content, call_id, tool_calls } = item.message;
  const where = `message ${seq}`;
  const text = content === "" ? "" : visible(cleaner.text(content, where));
  const marks = marksOf(item).map((mark) => ` <em>${escaped(mark)}</em>`);
  const head = `<a href="#m${seq}">${seq}</a> <b>${role}</b>${marks.join("")} <time datetime="${escaped(ts)}">${escaped(shortTime(ts))}</time>`;
  const name = names.get(call_id ?? "") ?? "tool";
  const body =
    role === "tool"
      ? foldedText(
          `Result of <code>${escaped(oneLine(name))}</code> <i>${sizeOf(text)}</i>`,
          pre(text),
        )
      : blocksOf(text);
  const calls = (tool_calls ?? []).map((call) =>
    callText(call, { cleaner, where, changes: item.changes.get(call.id) ?? [] }),
  );
  return `<article class="${role}">\n<h2>${head}</h2>\n${body}${calls.join("")}</article>\n`;
}

interface WrittenCall {
  readonly cleaner: Cleaner;
  readonly where: string;
  readonly changes: readonly FileChangeInfo[];
}

function callText({ name, args }: ToolCall, { cleaner, where, changes }: WrittenCall): string {
  const cleaned = cleaner.value(args, `${where}, call of ${name}`);
  const json = visible(JSON.stringify(cleaned, null, 2) ?? "null");
  const summary = `Calls <code>${escaped(oneLine(name))}</code> <i>${escaped(gist(cleaned))}</i>`;
  const diffs = changes.map((change) => diffText(change, cleaner, `${where}, diff`));
  return foldedText(summary, pre(json)) + diffs.join("");
}

/** Lines of a diff that are shown without a click. */
const OPEN_LINES = 60;

function diffText(change: FileChangeInfo, { text }: Cleaner, where: string): string {
  const title = escaped(oneLine(text(changeTitle(change), where)));
  if (change.diff === null) {
    return `<p class="change">${title}</p>\n`;
  }
  const lines = visible(text(change.diff, where)).trimEnd().split("\n");
  const isOpen = lines.length <= OPEN_LINES ? " open" : "";
  return `<details class="change"${isOpen}><summary>${title}</summary><pre>${lines.map(diffLine).join("\n")}</pre></details>\n`;
}

function diffLine(line: string, index: number): string {
  const isHead = line.startsWith("@@") || (index < 2 && /^(?:---|\+\+\+) /.test(line));
  const name = isHead ? "samp" : { "+": "ins", "-": "del" }[line.charAt(0)];
  return name === undefined ? escaped(line) : `<${name}>${escaped(line)}</${name}>`;
}

function foldedText(summary: string, body: string): string {
  return `<details><summary>${summary}</summary>${body}</details>\n`;
}

function pre(text: string): string {
  // HTML drops a line feed at the beginning
  return `<pre>\n${escaped(text)}</pre>`;
}

/** Characters of a call's first argument in its line. */
const GIST = 80;

function gist(args: unknown): string {
  const values = typeof args === "object" && args !== null ? Object.values(args) : [];
  const first = values.find((value) => typeof value === "string") ?? "";
  const line = Array.from(oneLine(first.slice(0, 4 * GIST)));
  return line.length > GIST ? `${line.slice(0, GIST).join("")}…` : line.join("");
}

function sizeOf(text: string): string {
  const lines = text === "" ? 0 : text.trimEnd().split("\n").length;
  return `${lines} ${lines === 1 ? "line" : "lines"}`;
}

/** A text with its blocks of code; everything else is shown as it was written. */
function blocksOf(text: string): string {
  let out = "";
  let isCode = false;
  let lines: string[] = [];
  const close = (): void => {
    const block = lines.join("\n");
    const isBlank = block.trim() === "";
    out +=
      isBlank && !isCode
        ? ""
        : isCode
          ? `${pre(block)}\n`
          : `<p>${escaped(block.replace(/^\n+|\n+$/g, ""))}</p>\n`;
    lines = [];
  };
  for (const line of text === "" ? [] : text.split("\n")) {
    if (/^ {0,3}```/.test(line)) {
      close();
      isCode = !isCode;
    } else {
      lines.push(line);
    }
  }
  close();
  return out;
}

/** To the minute, as stored in UTC; the whole time is in the attribute. */
function shortTime(ts: string): string {
  return `${ts.slice(0, 10)} ${ts.slice(11, 16)} UTC`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
