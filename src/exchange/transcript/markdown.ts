import type { Cleaner } from "../../core/redact/clean.ts";
import { oneLine, visible, visibleJson } from "../../core/text/terminal-text.ts";
import type { TranscriptItem } from "./read-transcript.ts";
import { changeTitle, marksOf, type MessageItem, sessionFacts, titleOf } from "./texts.ts";

/** Deepest heading of a session; a message is one below. */
const MAX_LEVEL = 5;

/**
 * A session to read, as Markdown: what it was, then each message under a heading with its position, role and time. Each
 * text is in fences that are longer than any fence in it, so that it can neither end them nor look like a heading.
 * Controls are visible, as on a terminal: the file will be shown on one.
 */
export async function* markdownOf(
  items: AsyncIterable<TranscriptItem>,
  cleaner: Cleaner,
): AsyncGenerator<string> {
  let level = 1;
  for await (const item of items) {
    switch (item.type) {
      case "begin":
        level = Math.min(item.depth + 1, MAX_LEVEL);
        yield beginText(item, { level, cleaner });
        break;
      case "message":
        yield messageText(item, { level, cleaner });
        break;
      case "end":
        level = Math.min(Math.max(item.depth, 1), MAX_LEVEL);
        yield item.depth === 0 ? "" : `\nThe session above it continues.\n`;
        break;
    }
  }
}

interface Written {
  readonly level: number;
  readonly cleaner: Cleaner;
}

function beginText(
  { session, depth }: Extract<TranscriptItem, { type: "begin" }>,
  { level, cleaner }: Written,
): string {
  const title = inline(titleOf(session, cleaner));
  const facts = sessionFacts(session, cleaner).map(
    ([label, value]) => `- ${label}: ${inline(value)}\n`,
  );
  const agent = depth === 0 ? "" : "Sub-agent: ";
  return `${depth === 0 ? "" : "\n"}${"#".repeat(level)} ${agent}${title}\n\n${facts.join("")}`;
}

function messageText(item: MessageItem, { level, cleaner }: Written): string {
  const { seq, role, ts, content, tool_calls } = item.message;
  const marks = marksOf(item);
  const marked = marks.length === 0 ? "" : ` (${marks.join(", ")})`;
  const where = `message ${seq}`;
  let text = `\n${"#".repeat(level + 1)} ${seq}. ${role}, ${ts}${marked}\n`;
  if (content !== "") {
    text += `\n${fenced(visible(cleaner.text(content, where)), "text")}`;
  }
  for (const { id, name, args } of tool_calls ?? []) {
    const cleaned = cleaner.value(args, `${where}, call of ${name}`);
    text += `\nCalls ${inline(name)}:\n\n`;
    text += fenced(visibleJson(JSON.stringify(cleaned, null, 2) ?? "null"), "json");
    for (const change of item.changes.get(id) ?? []) {
      const place = `${where}, diff`;
      text += `\nFile ${inline(cleaner.text(changeTitle(change), place))}:\n`;
      text +=
        change.diff === null
          ? ""
          : `\n${fenced(visible(cleaner.text(change.diff, place)), "diff")}`;
    }
  }
  return text;
}

/** The fence is longer than the longest run of backticks in the text. */
function fenced(text: string, language: string): string {
  const longest = (text.match(/`+/g) ?? []).reduce((max, run) => Math.max(max, run.length), 2);
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}${text.endsWith("\n") ? "" : "\n"}${fence}\n`;
}

/** Writes a line of text in which nothing is markup. */
function inline(text: string): string {
  return oneLine(text).replace(/[\\`*_[\]<>&#|~]/g, (character) => `\\${character}`);
}
