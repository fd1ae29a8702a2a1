import type { MessageInfo } from "../../../src/entries/client.ts";
import { PAGE_SIZE } from "../message-cache.ts";

/** The work of an exchange between a person's message and the answer: what the page shows as one card. */
export interface Card {
  /** The first message of it, and the last one. */
  readonly first: number;
  readonly last: number;
  /** True if an answer follows, in which the work has ended. */
  readonly hasAnswer: boolean;
  readonly steps: number;
  readonly failed: number;
  /** True if a call may have changed files. */
  readonly mayChange: boolean;
  /** When the work began and ended, as ISO text. */
  readonly begun_at: string;
  readonly ended_at: string;
}

export interface MessageSource {
  /** The message at a position; undefined if it was not read. */
  get(seq: number): MessageInfo | undefined;
  /** The first message that is shown; 1 by default. */
  readonly first?: number;
  /** The last message that is stored. */
  readonly last: number;
  /** Cards that were found: each is made once. */
  readonly cards?: Card[];
}

/** Messages in two of which a card ends at the latest, so that no row depends on what is far away. */
const BLOCK = 4 * PAGE_SIZE;

/** Returns the card that has a message; null if none has it, undefined if its beginning was not read. */
export function cardAt(seq: number, source: MessageSource): Card | null | undefined {
  const known = source.cards?.find(({ first, last }) => first <= seq && seq <= last);
  const message = source.get(seq);
  if (known !== undefined || message === undefined || isBetween(message)) {
    return known ?? (message === undefined ? undefined : null);
  }
  const begin = beginOf(seq, source);
  if (begin === null) {
    return undefined;
  }
  const card = cardOf(workFrom(begin, source), source);
  if (card === null || seq > card.last) {
    return null;
  }
  source.cards?.push(card);
  return card;
}

/** True for a message that the agent's work does not include. */
function isBetween({ role, is_summary }: MessageInfo): boolean {
  return role === "user" || role === "system" || is_summary;
}

/** The first message of the work that has one; null if it was not read. Longer work has one card for each block. */
function beginOf(seq: number, { get, first = 1 }: MessageSource): number | null {
  const block = blockOf(seq) - 1;
  const floor = Math.max(first, (block - 1) * BLOCK + 1);
  for (let begin = seq; begin >= floor; begin -= 1) {
    if (begin === first) {
      return begin;
    }
    const before = get(begin - 1);
    if (before === undefined) {
      return null;
    }
    if (isBetween(before)) {
      return begin;
    }
  }
  return block * BLOCK + 1;
}

/** The messages of the work from its first one on, as far as they were read. */
function workFrom(begin: number, { get, first = 1, last }: MessageSource): MessageInfo[] {
  const before = begin === first ? undefined : get(begin - 1);
  const isWhole = begin === first || (before !== undefined && isBetween(before));
  const end = Math.min(last, (blockOf(begin) + (isWhole ? 1 : 0)) * BLOCK);
  const messages: MessageInfo[] = [];
  for (let at = begin; at <= end; at += 1) {
    const message = get(at);
    if (message === undefined || isBetween(message)) {
      break;
    }
    messages.push(message);
  }
  return messages;
}

function cardOf(messages: readonly MessageInfo[], { get, first = 1 }: MessageSource): Card | null {
  const end = messages.at(-1);
  const isAnswer =
    end?.role === "assistant" && !(end.tool_calls ?? []).length && end.content.trim() !== "";
  const work = isAnswer ? messages.slice(0, -1) : messages;
  const [begin, last] = [work[0], work.at(-1)];
  const calls = work.flatMap(({ tool_calls }) => tool_calls ?? []);
  if (begin === undefined || last === undefined || end === undefined || calls.length === 0) {
    return null;
  }
  const asked = begin.seq === first ? begin : (get(begin.seq - 1) ?? begin);
  return {
    first: begin.seq,
    last: last.seq,
    hasAnswer: isAnswer,
    steps: calls.length,
    failed: work.filter(({ status }) => status !== null && FAILED.has(status)).length,
    mayChange: calls.some(({ effect }) => effect === "changes" || effect === "runs"),
    begun_at: asked.ts,
    ended_at: end.ts,
  };
}

const FAILED: ReadonlySet<string> = new Set(["failed", "denied", "not_run"]);

function blockOf(seq: number): number {
  return Math.ceil(seq / BLOCK);
}
