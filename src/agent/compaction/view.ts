import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";

import { newId } from "../../core/ids.ts";

/**
 * A summary is a message of the thread like any other, so that it is stored, mirrored, verified
 * and exported as they are. It says itself what it stands for:
 *
 *     messages:   q1 a1 q2 a2 q3 [summary, kept from q2] a3 q4
 *     the model:  [summary] q2 a2 q3 a3 q4
 *
 * No message is ever changed or removed. The last summary counts; those before are part of it.
 */
export interface Summary {
  readonly text: string;
  /** Id of the first message that the model still sees as it is. */
  readonly kept_from: string;
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number };
}

/** The mark by which the mirror knows a summary too. */
const SOURCE = "summarization";
const KEPT_FROM = "reprise_kept_from";

/** An assistant's message, because the model wrote it and was paid for it. */
export function summaryMessage({ text, kept_from, usage }: Summary): AIMessage {
  const { input_tokens, output_tokens } = usage;
  return new AIMessage({
    id: newId(),
    content: text,
    additional_kwargs: { lc_source: SOURCE, [KEPT_FROM]: kept_from },
    usage_metadata: { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens },
  });
}

/** True for a summary that Reprise has made. */
export function isSummary(message: BaseMessage | undefined): boolean {
  return message !== undefined && KEPT_FROM in message.additional_kwargs;
}

/** What the model is to see of a thread. */
export interface View {
  /** The last summary; null where there is none. */
  readonly summary: BaseMessage | null;
  /** The last message of a user that `kept` has no more, where `kept` begins amid an exchange. */
  readonly request: BaseMessage | null;
  /** The messages that stand for themselves, oldest first, without any summary. */
  readonly kept: readonly BaseMessage[];
  /** Place in the thread of the first message behind the summary; 0 where there is none. */
  readonly since: number;
}

export function viewOf(messages: readonly BaseMessage[]): View {
  const at = messages.findLastIndex(isSummary);
  const summary = messages[at];
  if (summary === undefined) {
    return { summary: null, request: null, kept: messages, since: 0 };
  }
  const from = firstKept(messages, at);
  const kept = messages.slice(from).filter((message) => !isSummary(message));
  const request = kept[0]?.type === "human" ? undefined : lastOfUser(messages, from);
  return { summary, request: request ?? null, kept, since: at + 1 };
}

function lastOfUser(messages: readonly BaseMessage[], before: number): BaseMessage | undefined {
  let at = before - 1;
  while (at >= 0 && messages[at]?.type !== "human") {
    at -= 1;
  }
  return messages[at];
}

/** Places of the messages that the model was sent before it gave the answer at a place. */
export function sentPlaces(messages: readonly BaseMessage[], answer: number): number[] {
  let at = answer - 1;
  while (at >= 0 && !isSummary(messages[at])) {
    at -= 1;
  }
  const places = at === -1 ? [] : [at];
  for (let place = at === -1 ? 0 : firstKept(messages, at); place < answer; place += 1) {
    if (!isSummary(messages[place])) {
      places.push(place);
    }
  }
  return places;
}

/** Place of the first message that the summary at a place leaves to stand for itself. */
function firstKept(messages: readonly BaseMessage[], at: number): number {
  const id: unknown = messages[at]?.additional_kwargs[KEPT_FROM];
  // it stands not far in front of the summary, however long the thread is
  for (let from = at - 1; from >= 0; from -= 1) {
    if (messages[from]?.id === id) {
      return from;
    }
  }
  // the message was taken out of the thread since: what follows the summary is there for sure
  return at + 1;
}

/** The messages that are sent to the model. */
export function sentMessages({ summary, request, kept }: View): readonly BaseMessage[] {
  if (summary === null) {
    return kept;
  }
  const parts = [
    "The earlier part of this conversation was summarised to make room; what follows the summary is as it was said.",
    `<summary>\n${summary.text}\n</summary>`,
    ...(request === null
      ? []
      : [
          `The request that is being worked on, word for word:\n\n<request>\n${request.text}\n</request>`,
        ]),
  ];
  return [new HumanMessage(parts.join("\n\n")), ...kept];
}
