import type { MessageJson } from "./message-json.ts";

/** LangChain's mark of a summary, by which the mirror knows one, and ours. */
const SOURCE = "summarization";
const KEPT_FROM = "reprise_kept_from";

/** Makes a message the summary of all messages before the one with this id. */
export function summaryMarks(kept_from: string): Record<string, unknown> {
  return { lc_source: SOURCE, [KEPT_FROM]: kept_from };
}

/** True for every summary, LangChain's own included. */
export function isMarkedSummary({ additional_kwargs }: MessageJson): boolean {
  return "lc_source" in additional_kwargs && additional_kwargs.lc_source === SOURCE;
}

/** True for a summary that Reprise has made. */
export function isSummary(message: MessageJson | undefined): boolean {
  return message !== undefined && KEPT_FROM in message.additional_kwargs;
}

/** Positions of the messages that the model was sent before it gave the answer at a position. */
export function sentPositions(messages: readonly MessageJson[], answer: number): number[] {
  let at = answer - 1;
  while (at >= 0 && !isSummary(messages[at])) {
    at -= 1;
  }
  const positions = at === -1 ? [] : [at];
  for (let position = at === -1 ? 0 : firstKept(messages, at); position < answer; position += 1) {
    if (!isSummary(messages[position])) {
      positions.push(position);
    }
  }
  return positions;
}

/** Position of the first message that the summary at a position does not replace. */
export function firstKept(messages: readonly MessageJson[], at: number): number {
  const id: unknown = Reflect.get(messages[at]?.additional_kwargs ?? {}, KEPT_FROM);
  // searches backwards: it is not far before the summary, however long the thread is
  for (let from = at - 1; from >= 0; from -= 1) {
    if (messages[from]?.id === id) {
      return from;
    }
  }
  // the message was taken out of the thread since: what follows the summary is there for sure
  return at + 1;
}

/** Messages that are read one by one: most of them are not needed. */
export interface ReadMessages {
  readonly length: number;
  /** False only if the message cannot hold the text. */
  mayHold(index: number, text: string): boolean;
  at(index: number): MessageJson | null | undefined;
}

/**
 * Position of the first message that the model is shown or that its view is made of; null if these
 * messages have no summary, or do not go back as far as the one that it keeps.
 */
export function firstShown(messages: ReadMessages): number | null {
  const { length } = messages;
  const isOurs = (index: number) => isSummary(messages.at(index) ?? undefined);
  const at = lastBefore(length, (index) => messages.mayHold(index, KEPT_FROM) && isOurs(index));
  const id: unknown = Reflect.get(messages.at(at)?.additional_kwargs ?? {}, KEPT_FROM);
  if (typeof id !== "string") {
    return null;
  }
  const from = lastBefore(
    at,
    (index) => messages.mayHold(index, id) && messages.at(index)?.id === id,
  );
  if (from === -1) {
    return null;
  }
  let kept = from;
  while (kept < length && isOurs(kept)) {
    kept += 1;
  }
  if (messages.at(kept)?.type === "human") {
    return from;
  }
  const request = lastBefore(from, (index) => messages.at(index)?.type === "human");
  return request === -1 ? null : request;
}

/** The last index below `end` for which this is true; -1 if there is none. */
function lastBefore(end: number, isFound: (index: number) => boolean): number {
  let index = end - 1;
  while (index >= 0 && !isFound(index)) {
    index -= 1;
  }
  return index;
}
