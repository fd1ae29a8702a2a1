import type { BaseMessage } from "@langchain/core/messages";

import type { Session } from "../core/sessions.ts";
import { threadId } from "../core/threads.ts";
import type { ContextParts, ContextUse } from "../exchange/exchanger.ts";
import { createCheckpointSaver } from "../langgraph/saver.ts";
import type { Store } from "../store/store.ts";
import { tokenCountOf } from "../store/records/messages/mirror-row.ts";
import { messagesOf } from "./messages/thread-state.ts";
import { PREFIX_CHANNEL, prefixTokens, storedPrefix } from "./prefix/prefix.ts";
import { contextTokens, mustSummarise } from "./compaction/compaction.ts";
import { type View, viewOf } from "./compaction/view.ts";

/** Returns how much a model with this context would read of a session's thread now. Error codes: `database_*`. */
export async function contextUse(
  store: Store,
  { id, thread_suffix }: Session,
  window: number,
): Promise<ContextUse> {
  const saver = createCheckpointSaver({ store, isShownOnly: true });
  const thread = { configurable: { thread_id: threadId(id, thread_suffix) } };
  const tuple = await saver.getTuple(thread);
  const messages = messagesOf(tuple);
  const view = viewOf(messages);
  const prefix = storedPrefix(tuple?.checkpoint.channel_values[PREFIX_CHANNEL]);
  const tokens = contextTokens(messages, view, () => (prefix === null ? 0 : prefixTokens(prefix)));
  const isFull = mustSummarise({ messages, view, tokens }, window);
  const parts = partsOf(view, prefix === null ? 0 : prefixTokens(prefix));
  return { tokens, window, isFull, parts: scaled(parts, tokens) };
}

function partsOf({ summary, request, kept }: View, prefix: number): ContextParts {
  const sum = (of: (message: BaseMessage) => boolean): number =>
    kept.filter(of).reduce((total, message) => total + tokenCountOf(message), 0);
  const replaced = [summary, request].filter((message) => message !== null);
  return {
    prefix,
    summary: replaced.reduce((total, message) => total + tokenCountOf(message), 0),
    user: sum(({ type }) => type === "human"),
    answers: sum(({ type }) => type === "ai"),
    results: sum(({ type }) => type === "tool"),
  };
}

/** The estimates in proportion to what the provider counted. */
function scaled(parts: ContextParts, tokens: number): ContextParts {
  const sum = Object.values(parts).reduce((total, part) => total + part, 0);
  const factor = sum === 0 ? 0 : tokens / sum;
  const { prefix, summary, user, answers, results } = parts;
  return {
    prefix: prefix * factor,
    summary: summary * factor,
    user: user * factor,
    answers: answers * factor,
    results: results * factor,
  };
}
