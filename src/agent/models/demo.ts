import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import {
  AIMessage,
  AIMessageChunk,
  type BaseMessage,
  type UsageMetadata,
} from "@langchain/core/messages";
import { ChatGenerationChunk, type ChatResult } from "@langchain/core/outputs";
import { estimateTokens } from "../../core/text/text.ts";
import { SUMMARY_TASK } from "../summary-prompt.ts";
import { oneLine } from "../../core/text/terminal-text.ts";

/**
 * The offline model: answers at once, the same way every time, from the messages that it is given,
 * so what it knows is what the thread remembers. Usage is an estimate. It never calls a tool.
 */
export class DemoModel extends BaseChatModel {
  override _llmType(): string {
    return "demo";
  }

  override bindTools(): this {
    return this;
  }

  override async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const text = answerTo(messages);
    const message = new AIMessage({ content: text, usage_metadata: usage(messages, text) });
    return { generations: [{ text, message }] };
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    options: this["ParsedCallOptions"],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const answer = answerTo(messages);
    for (const text of answer.split(/(?<=\s)/u)) {
      options.signal?.throwIfAborted();
      const chunk = new ChatGenerationChunk({ text, message: new AIMessageChunk(text) });
      yield chunk;
      await runManager?.handleLLMNewToken(text, undefined, undefined, undefined, undefined, {
        chunk,
      });
    }
    const message = new AIMessageChunk({ content: "", usage_metadata: usage(messages, answer) });
    yield new ChatGenerationChunk({ text: "", message });
  }
}

function answerTo(messages: readonly BaseMessage[]): string {
  if (messages[0]?.type === "system" && messages[0].text.startsWith(SUMMARY_TASK)) {
    return demoSummary(messages.at(-1)?.text ?? "");
  }
  const texts = messages.filter((message) => message.type === "human").map(({ text }) => text);
  // summarised messages count as well
  const written = texts.flatMap((text) => quotesIn(text) ?? [text]);
  const first = written.length === texts.length && messages.every(({ type }) => type !== "ai");
  return demoAnswer({ written, first });
}

function usage(messages: readonly BaseMessage[], answer: string): UsageMetadata {
  const input = messages.reduce((sum, { text }) => sum + estimateTokens(text), 0);
  const output = estimateTokens(answer);
  return { input_tokens: input, output_tokens: output, total_tokens: input + output };
}

/** Starts every answer, so that the demo is not mistaken for a real model. */
const DEMO_LABEL = "[demo]";

const MAX_LISTED = 10;
const MAX_QUOTED = 80;

/** A name after "my name is", up to the end of the clause; letters of any script. */
const NAME =
  /\b[Mm]y name(?: is|'s|’s)\s+(\p{L}[\p{L}\p{M}'’.-]*(?:\s+\p{Lu}[\p{L}\p{M}'’.-]*){0,3})/gu;

/**
 * What the demo says to the last of `written`, the user's messages in this thread, oldest first.
 * The first answer of a thread also says what the demo is and what to try.
 */
export function demoAnswer(input: {
  readonly written: readonly string[];
  readonly first: boolean;
}): string {
  const reply = replyTo(input.written);
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

function replyTo(written: readonly string[]): string {
  const last = written.at(-1);
  if (last === undefined) {
    return "You have not written anything here yet.";
  }
  const earlier = written.slice(0, -1);
  if (/\bwhat(?:'s|’s| is| was) my name\b|\bwho am i\b|\bmy name\s*\?/iu.test(last)) {
    return nameReply(earlier);
  }
  if (isRecall(last)) {
    return listReply(earlier);
  }
  const name = nameIn(last);
  if (name !== undefined) {
    return `Nice to meet you, ${name}. ${countReply(written)} I will still know your name after a restart.`;
  }
  return countReply(written);
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
    return "Your name was not mentioned in this thread. Write “My name is …”.";
  }
  return `Your name is ${name}. You wrote it in message ${at + 1} of this thread.`;
}

function nameIn(text: string): string | undefined {
  const name = [...text.matchAll(NAME)].at(-1)?.[1];
  return name?.replace(/[.'’-]+$/u, "");
}

function listReply(earlier: readonly string[]): string {
  if (earlier.length === 0) {
    return "Nothing yet: this is your first message in this thread.";
  }
  const from = Math.max(0, earlier.length - MAX_LISTED);
  const lines = earlier
    .slice(from)
    .map((text, index) => `${from + index + 1}. ${quoteMessage(text)}`);
  const left = from === 0 ? "" : `\n(and ${from} before these)`;
  return `Before this one you wrote ${messages(earlier.length)} here:\n${lines.join("\n")}${left}`;
}

function countReply(written: readonly string[]): string {
  const [first = "", second] = written;
  if (second === undefined) {
    return `This is your first message here: ${quotedAtEnd(first)}`;
  }
  const before =
    written.length > 2 ? ` The one before this was: ${quotedAtEnd(written.at(-2) ?? "")}` : "";
  return `You have sent ${messages(written.length)} here. The first was: ${quotedAtEnd(first)}${before}`;
}

function messages(count: number): string {
  return count === 1 ? "1 message" : `${count} messages`;
}

/** At the end of a sentence, which has one full stop. */
function quotedAtEnd(text: string): string {
  const quote = quoteMessage(text);
  return /[.!?…]”$/u.test(quote) ? quote : `${quote}.`;
}

/** On one line and cut: a message can hold a megabyte. */
function quoteMessage(text: string): string {
  const start = Array.from(oneLine(text.slice(0, MAX_QUOTED * 8)));
  const cut = start.length > MAX_QUOTED;
  return cut ? `“${start.slice(0, MAX_QUOTED).join("")}…”` : `“${start.join("")}”`;
}

/** Newest messages that a summary quotes: it has to be shorter than what it covers. */
const MAX_SUMMARISED = 30;

const TITLE = `${DEMO_LABEL} Summary. The user wrote:`;
const QUOTE = /^- (.*)$/gm;

/** What the demo makes of a conversation that it is to summarise: the user's words, shortened. */
function demoSummary(material: string): string {
  const quotes = [...(quotesIn(material) ?? []), ...material.split("\n").flatMap(userText)];
  return [TITLE, ...quotes.slice(-MAX_SUMMARISED).map((quote) => `- ${quote}`)].join("\n");
}

/** What the user wrote by the demo's own summary in a text; null if there is none. */
function quotesIn(text: string): string[] | null {
  const start = text.indexOf(TITLE);
  if (start === -1) {
    return null;
  }
  const end = text.indexOf("\n</summary", start);
  const summary = text.slice(start, end === -1 ? undefined : end);
  return [...summary.matchAll(QUOTE)].map(([, quote = ""]) => quote);
}

/** Empty for a line that is not a message of the user. */
function userText(line: string): string[] {
  if (!line.startsWith('{"role":"user"')) {
    return [];
  }
  const { text } = JSON.parse(line) as { readonly text: string };
  return [
    oneLine(
      Array.from(text.slice(0, MAX_QUOTED * 2))
        .slice(0, MAX_QUOTED)
        .join(""),
    ),
  ];
}
