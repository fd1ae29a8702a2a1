import { isDeepStrictEqual } from "node:util";

import {
  AIMessage,
  type BaseMessage,
  type HumanMessage,
  ToolMessage,
} from "@langchain/core/messages";

import { requestAfter } from "../messages/ended-answer.ts";
import { asText, isForeign } from "../messages/foreign-answers.ts";
import { hasReasoning, withoutReasoning } from "../messages/reasoning.ts";
import { callsOf } from "../messages/message-calls.ts";
import { SentIds } from "../messages/sent-ids.ts";
import { hookNoteOf } from "../messages/hook-text.ts";
import { noteOf, withNote } from "./note.ts";
import type { Prefix } from "./prefix.ts";

/** Decides about the form in which messages are sent. */
export interface SentTo extends Pick<Prefix, "after" | "mark"> {
  /** As of `makerOf`. */
  readonly maker: string;
}

/**
 * Returns the messages of a thread as they are sent after a prefix:
 *
 * - without reasoning and notes that belong to an earlier prefix, and with the later notes for the model;
 * - with what hooks of this database report, and without what a file says of hooks;
 * - with the answers of another maker as text and calls alone;
 * - with the ids of calls that their provider gave (`SentIds`);
 * - without answers that say nothing and call nothing, which models give now and then and Anthropic refuses to read;
 * - with a request to continue after an answer that was cut off, unless the user's next message follows. It is not
 *   stored: what is sent follows from the thread.
 *
 * Messages that were sent before cost nothing, because a long thread is sent at each call of a model: `known` keeps them
 * by the first message of their thread.
 */
export function sentMessages(
  messages: readonly BaseMessage[],
  to: SentTo,
  known: WeakMap<BaseMessage, object> = new WeakMap(),
): readonly BaseMessage[] {
  const [first] = messages;
  if (first === undefined) {
    return [];
  }
  const last = known.get(first);
  const isKnown = last instanceof SentThread && last.add(messages, to);
  const thread = isKnown ? last : new SentThread(messages, to);
  known.set(first, thread);
  return thread.sent();
}

class SentThread {
  readonly #to: SentTo;
  readonly #given: BaseMessage[] = [];
  readonly #sent: BaseMessage[] = [];
  readonly #ids = new SentIds();
  /** Position of the last message that was there before the prefix. */
  readonly #before: number;
  /** Asks for the rest of the last answer; null if that was not cut off. */
  #request: HumanMessage | null = null;

  constructor(messages: readonly BaseMessage[], to: SentTo) {
    this.#to = to;
    this.#before = to.after === null ? -1 : messages.findIndex(({ id }) => id === to.after);
    this.#ids.add(messages);
    this.#push(messages);
  }

  /** Returns false if these messages, or their form, are not the ones before with an end. */
  add(messages: readonly BaseMessage[], { maker, after, mark }: SentTo): boolean {
    const isSame =
      maker === this.#to.maker &&
      mark === this.#to.mark &&
      after === this.#to.after &&
      this.#given.every((given, at) => given === messages[at] || this.#isRead(messages[at], at));
    const added = isSame ? messages.slice(this.#given.length) : [];
    if (!isSame || !this.#ids.add(added)) {
      return false;
    }
    this.#push(added);
    return true;
  }

  sent(): readonly BaseMessage[] {
    return this.#request === null ? this.#sent.slice() : [...this.#sent, this.#request];
  }

  /** True for a message that was read again as it was sent: the next exchange shares others than the one that made them. */
  #isRead(message: BaseMessage | undefined, at: number): boolean {
    if (message === undefined || !isDeepStrictEqual(factsOf(message), factsOf(this.#given[at]))) {
      return false;
    }
    this.#given[at] = message;
    return true;
  }

  #push(messages: readonly BaseMessage[]): void {
    for (const message of messages) {
      const sent = this.#formOf(message, this.#given.length);
      this.#given.push(message);
      if (sent === null) {
        continue;
      }
      if (this.#request !== null && sent.type !== "human") {
        this.#sent.push(this.#request);
      }
      this.#sent.push(sent);
      this.#request = requestAfter(message, this.#to.mark);
    }
  }

  #formOf(message: BaseMessage, at: number): BaseMessage | null {
    const isBefore = at <= this.#before;
    if (AIMessage.isInstance(message)) {
      const answer = isBefore && hasReasoning(message) ? withoutReasoning(message) : message;
      const read = isForeign(answer, this.#to.maker) ? asText(answer) : answer;
      return isEmpty(read) ? null : this.#ids.sent(read);
    }
    const note = isBefore ? null : (noteOf(message)?.text ?? null);
    const notes = [note, hookNoteOf(message, this.#to.mark)];
    const text = notes.filter((each) => each !== null).join("\n\n");
    return text === "" ? this.#ids.sent(message) : withNote(message, { text });
  }
}

function factsOf(message: BaseMessage | undefined): readonly unknown[] {
  return [
    message?.id,
    message?.type,
    message?.content,
    message?.additional_kwargs,
    message?.response_metadata,
    callsOf(message),
    ToolMessage.isInstance(message) ? message.tool_call_id : null,
  ];
}

function isEmpty(answer: AIMessage): boolean {
  const { content } = answer;
  return (
    callsOf(answer).length === 0 &&
    (typeof content === "string"
      ? content.trim() === ""
      : content.every(({ type, text }) => type === "text" && String(text).trim() === ""))
  );
}
