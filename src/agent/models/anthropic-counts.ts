import type Anthropic from "@anthropic-ai/sdk";
import { AIMessageChunk } from "@langchain/core/messages";
import type { ChatGenerationChunk } from "@langchain/core/outputs";

import { countOf } from "../../store/records/messages/mirror-row.ts";

type Event = Anthropic.RawMessageStreamEvent;

/** In the `additional_kwargs` of the last piece, until `withReasoningCount` has read it. */
const COUNTS = "reprise_counts";

/** Lets the counts at the end of an answer through LangChain's conversion, which passes on `delta` alone. */
export async function* keepLastCounts(events: AsyncIterable<Event>): AsyncGenerator<Event> {
  for await (const event of events) {
    if (event.type === "message_delta") {
      const delta = { ...event.delta, [COUNTS]: event.usage };
      yield { ...event, delta };
    } else {
      yield event;
    }
  }
}

/**
 * Adds to the counts of a piece what LangChain leaves out: of the output, what was reasoning. The first piece has a
 * count of the output so far, which LangChain would add to the whole one of the last piece.
 */
export function withReasoningCount(chunk: ChatGenerationChunk): ChatGenerationChunk {
  const { message } = chunk;
  if (!AIMessageChunk.isInstance(message) || message.usage_metadata === undefined) {
    return chunk;
  }
  const usage = message.usage_metadata;
  if (!("stop_reason" in message.additional_kwargs)) {
    message.usage_metadata = { ...usage, output_tokens: 0, total_tokens: usage.input_tokens };
    return chunk;
  }
  const reasoning = reasoningIn(message.additional_kwargs[COUNTS]);
  delete message.additional_kwargs[COUNTS];
  if (reasoning !== null) {
    message.usage_metadata = { ...usage, output_token_details: { reasoning } };
  }
  return chunk;
}

function reasoningIn(counts: unknown): number | null {
  return countOf(memberOf(memberOf(counts, "output_tokens_details"), "thinking_tokens"));
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}
