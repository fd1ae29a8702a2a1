import { oneLine } from "../../core/terminal-text.ts";

/** Starts every answer, so that nobody takes the demo for a real model. */
export const DEMO_LABEL = "[demo]";

const LISTED = 10;
const QUOTED = 80;

/** A name after "my name is", up to the end of the clause; letters of any script. */
const NAME =
  /\b[Mm]y name(?: is|'s|’s)\s+(\p{L}[\p{L}\p{M}'’.-]*(?:\s+\p{Lu}[\p{L}\p{M}'’.-]*){0,3})/gu;

/**
 * What the demo says to the last of `said`, the user's messages in this thread, oldest first.
 * The first answer of a thread also says what the demo is and what to try.
 */
export function demoAnswer(input: {
  readonly said: readonly string[];
  readonly first: boolean;
}): string {
  const reply = replyTo(input.said);
  if (!input.first) {
    return `${DEMO_LABEL} ${reply}`;
  }
  return (
    `${DEMO_LABEL} Hello! I am the offline demo model: nothing leaves this machine and no key is ` +
    `needed. I cannot think, but I show what a session remembers. ${reply}\n\n` +
    "Try this: write “My name is …”, leave, resume the session and ask “What is my name?”. " +
    "For a real model set ANTHROPIC_API_KEY or OPENAI_API_KEY, or choose one with /model."
  );
}

function replyTo(said: readonly string[]): string {
  const last = said.at(-1);
  if (last === undefined) {
    return "You have not written anything here yet.";
  }
  const earlier = said.slice(0, -1);
  if (/\bwhat(?:'s|’s| is| was) my name\b|\bwho am i\b|\bmy name\s*\?/iu.test(last)) {
    return nameReply(earlier);
  }
  if (isRecall(last)) {
    return listReply(earlier);
  }
  const name = nameIn(last);
  if (name !== undefined) {
    return `Nice to meet you, ${name}. ${countReply(said)} I will still know your name after a restart.`;
  }
  return countReply(said);
}

function isRecall(text: string): boolean {
  return /\bwhat (?:did|have) i (?:say|said|tell|told|write|written|ask)|\bwhat do you (?:remember|know)|\bdo you remember\b|^\s*(?:remember|recall|history)\W*$/iu.test(
    text,
  );
}

function nameReply(earlier: readonly string[]): string {
  const at = earlier.findLastIndex((text) => nameIn(text) !== undefined);
  const name = nameIn(earlier[at] ?? "");
  if (name === undefined) {
    return "You have not told me your name in this thread. Write “My name is …”.";
  }
  return `Your name is ${name}. You told me in message ${at + 1} of this thread.`;
}

function nameIn(text: string): string | undefined {
  const name = [...text.matchAll(NAME)].at(-1)?.[1];
  return name?.replace(/[.'’-]+$/u, "");
}

function listReply(earlier: readonly string[]): string {
  if (earlier.length === 0) {
    return "Nothing yet: this is your first message in this thread.";
  }
  const from = Math.max(0, earlier.length - LISTED);
  const lines = earlier.slice(from).map((text, index) => `${from + index + 1}. ${quote(text)}`);
  const left = from === 0 ? "" : `\n(and ${from} before these)`;
  return `Before this one you wrote ${messages(earlier.length)} here:\n${lines.join("\n")}${left}`;
}

function countReply(said: readonly string[]): string {
  const [first = "", second] = said;
  if (second === undefined) {
    return `This is your first message here: ${quote(first)}.`;
  }
  const before = said.length > 2 ? ` The one before this was: ${quote(said.at(-2) ?? "")}.` : "";
  return `You have sent ${messages(said.length)} here. The first was: ${quote(first)}.${before}`;
}

function messages(count: number): string {
  return count === 1 ? "1 message" : `${count} messages`;
}

/** On one line and cut: a message can hold a megabyte. */
function quote(text: string): string {
  const start = Array.from(oneLine(text.slice(0, QUOTED * 8)));
  const cut = start.length > QUOTED;
  return cut ? `“${start.slice(0, QUOTED).join("")}…”` : `“${start.join("")}”`;
}
