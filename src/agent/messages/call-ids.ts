import { AIMessage, type BaseMessage } from "@langchain/core/messages";

import { isStorableText } from "../../core/text/text.ts";

/**
 * In an answer's `response_metadata`: the id that the provider gave each of its calls, in their order;
 * null for one that cannot be sent back.
 */
const CALL_IDS = "reprise_call_ids";

/** Characters of a provider's id that is kept. */
const MAX_ID = 256;

/** Keeps the provider's ids beside those of the calls. */
export function keepProviderIds(answer: AIMessage, ids: readonly string[]): void {
  const kept = ids.map((id) =>
    id !== "" && id.length <= MAX_ID && isStorableText(id) ? id : null,
  );
  answer.response_metadata = { ...answer.response_metadata, [CALL_IDS]: kept };
  answer.lc_kwargs["response_metadata"] = answer.response_metadata;
}

/** The provider's ids, by call; null for an answer that has none, or other calls by now. */
export function providerIdsOf(message: BaseMessage | undefined): readonly (string | null)[] | null {
  if (!AIMessage.isInstance(message)) {
    return null;
  }
  const ids: unknown = message.response_metadata[CALL_IDS];
  const count = message.tool_calls?.length ?? 0;
  return Array.isArray(ids) && count > 0 && ids.length === count
    ? ids.map((id) => (typeof id === "string" ? id : null))
    : null;
}
