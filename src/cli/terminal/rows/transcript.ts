import type { Message, Role } from "../../../core/sessions.ts";
import { titleLine, visible } from "../../../core/text/terminal-text.ts";
import type { QueuedMessage } from "../../../store/records/exchanges/read.ts";
import { localTime } from "../../output/ages.ts";
import { factsOf, messageMarks, sendAgainLine, unsentMarks } from "../../output/show-facts.ts";
import { QUEUED_SHOWN, type ShownSession } from "../../output/shown.ts";
import { marksText } from "../../../exchange/transcript/texts.ts";
import { foldLine } from "../text/fold.ts";
import { createMarkdown, type Markdown } from "../markdown.ts";
import { createHighlighter } from "../markdown/highlight.ts";
import { wrapTextWithAnsi } from "../pi/text.ts";
import { callRows, type StoredCall, storedCalls } from "./stored-calls.ts";
import type { Theme } from "../text/theme.ts";

interface Place {
  readonly width: number;
  readonly theme: Theme;
}

interface TranscriptView extends Place {
  readonly markdown: Markdown;
}

/** Before each row of a message: no line of its text can pass for a heading. */
const INDENT = "  ";

/** A session to read: what it is, and who said what. Calls and their results are rows, and each time is local. */
export async function transcriptRows(shown: ShownSession, place: Place): Promise<string[]> {
  const { session, labels, messages, has_earlier, queued, unsent, sendAgain } = shown;
  const { theme } = place;
  const view = { ...place, markdown: await loadMarkdown(messages, theme) };
  const [first] = messages;
  const hint = (text: string): string[] => ["", ...wrapped(text, view).map(theme.dim)];
  return [
    ...wrapped(titleLine({ ...session, ...labels }), view).map(theme.bold),
    ...factRows(shown, view),
    ...(has_earlier && first !== undefined
      ? hint(`Earlier messages: --before-seq ${first.seq}`)
      : []),
    ...blocksOf(shown).flatMap((block) => ["", ...blockRows(block, shown, view)]),
    ...unsent.flatMap((each) => storedRows(each, unsentMarks(each.error_code), view)),
    ...(unsent.length > 0 ? hint(sendAgainLine(session, sendAgain)) : []),
    ...queued
      .slice(0, QUEUED_SHOWN)
      .flatMap((each) => storedRows(each, marksText({ queued: true }), view)),
    ...(queued.length > QUEUED_SHOWN ? hint("More messages are queued.") : []),
  ];
}

/** A message that only the record of its exchange has. */
function storedRows(
  { n, content, queued_at }: QueuedMessage,
  marks: string,
  view: TranscriptView,
): string[] {
  const heading = { role: "user", at: queued_at, place: `exchange ${n}`, marks } as const;
  return ["", ...headingRows(heading, view), ...indented(textRows(content, view))];
}

/** Loads what highlights code if there is any. */
async function loadMarkdown(messages: readonly Message[], theme: Theme): Promise<Markdown> {
  const highlighter = createHighlighter(theme);
  const fences = messages.some(
    ({ role, content }) => role === "assistant" && /^ *(?:```|~~~)/m.test(content),
  );
  if (fences && theme.name !== "none") {
    await highlighter.load();
  }
  return createMarkdown({ theme, highlighter });
}

/** The width of the labels of most facts. */
const LABEL = 10;

function factRows(shown: ShownSession, { width, theme }: TranscriptView): string[] {
  return factsOf(shown, (iso) => localTime(iso)).flatMap(({ label, text }) => {
    const start = label === null ? INDENT : `${INDENT}${label.padEnd(LABEL)} `;
    const rest =
      label === null ? INDENT : " ".repeat(Math.min(INDENT.length + LABEL + 1, width >> 2));
    const room = Math.max(1, width - Math.max(start.length, rest.length));
    return foldLine(text, room).map(
      (row, index) => `${index === 0 ? theme.dim(start) : rest}${row}`,
    );
  });
}

const ROLES: Readonly<Record<Role, string>> = {
  user: "User",
  assistant: "Assistant",
  tool: "Assistant",
  system: "System",
};

function headingRows(
  given: { role: Role; at: string | null; place: string; marks: string },
  view: TranscriptView,
): string[] {
  const { theme } = view;
  const { role, at, place, marks } = given;
  const name = role === "user" ? theme.accent(ROLES[role]) : ROLES[role];
  const about = theme.dim(`${at === null ? "" : `${localTime(at)}  `}${place}`);
  return wrapped(`${theme.bold(name)}  ${about}${marks === "" ? "" : theme.warning(marks)}`, view);
}

/** A message with what belongs to it: the agent's results, and its messages after them. */
interface Block {
  readonly first: Message;
  readonly marks: string;
  /** Texts, what the model thought, and calls that follow each other. */
  readonly parts: (string | { readonly thought: string } | StoredCall[])[];
}

function blocksOf({ messages, unconfirmed, reasoning }: ShownSession): Block[] {
  const calls = storedCalls(messages);
  const blocks: Block[] = [];
  for (const message of messages) {
    const marks = messageMarks(message, unconfirmed.messages.get(message.seq));
    const last = blocks.at(-1);
    const continues =
      last !== undefined && isOfAgent(last.first) && isOfAgent(message) && last.marks === marks;
    const block = continues ? last : { first: message, marks, parts: [] };
    if (!continues) {
      blocks.push(block);
    }
    const thought = reasoning?.get(message.message_id);
    if (thought !== undefined) {
      block.parts.push({ thought });
    }
    if (message.role !== "tool" && message.content !== "") {
      block.parts.push(message.content);
    }
    const own = calls.get(message) ?? [];
    const before = block.parts.at(-1);
    if (Array.isArray(before)) {
      before.push(...own);
    } else if (own.length > 0) {
      block.parts.push([...own]);
    }
  }
  // a result of a call before them all may be on its own
  return blocks.filter(({ first, parts }) => first.role !== "tool" || parts.length > 0);
}

function isOfAgent({ role }: Message): boolean {
  return role === "assistant" || role === "tool";
}

function blockRows({ first, marks, parts }: Block, shown: ShownSession, view: TranscriptView) {
  const { role, ts, seq } = first;
  const width = inner(view);
  const rows = parts.map((part) => {
    if (typeof part === "object" && "thought" in part) {
      return textRows(part.thought, view).map(view.theme.dim);
    }
    if (typeof part !== "string") {
      return callRows(part, { ...view, ...shown, width });
    }
    return role === "user" || role === "system"
      ? textRows(part, view)
      : view.markdown.rows(part, width);
  });
  return [
    ...headingRows({ role, at: ts, place: `#${seq}`, marks }, view),
    ...indented(rows.flatMap((each, index) => (index === 0 ? each : ["", ...each]))),
  ];
}

function textRows(text: string, view: TranscriptView): string[] {
  return visible(text)
    .trimEnd()
    .split("\n")
    .flatMap((line) => foldLine(line, inner(view)));
}

function indented(rows: readonly string[]): string[] {
  return rows.map((row) => `${INDENT}${row}`.trimEnd());
}

function wrapped(text: string, { width }: TranscriptView): string[] {
  return wrapTextWithAnsi(text, width);
}

function inner({ width }: TranscriptView): number {
  return Math.max(1, width - INDENT.length);
}
