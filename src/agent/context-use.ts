import type { Session } from "../core/sessions.ts";
import { threadId } from "../core/threads.ts";
import type { ContextUse } from "../exchange/exchanger.ts";
import { createCheckpointSaver } from "../langgraph/saver.ts";
import type { Store } from "../store/store.ts";
import { messagesOf } from "./messages/thread-state.ts";
import { PREFIX_CHANNEL, prefixTokens, storedPrefix } from "./prefix/prefix.ts";
import { contextTokens, mustSummarise } from "./compaction/compaction.ts";
import { viewOf } from "./compaction/view.ts";

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
  return { tokens, window, isFull: mustSummarise({ messages, view, tokens }, window) };
}
