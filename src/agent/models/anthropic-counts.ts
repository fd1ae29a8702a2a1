import type Anthropic from "@anthropic-ai/sdk";
import { AIMessageChunk, type UsageMetadata } from "@langchain/core/messages";
import type { ChatGenerationChunk } from "@langchain/core/outputs";

import { countOf } from "../../store/records/messages/mirror-row.ts";

type Event = Anthropic.RawMessageStreamEvent;

/** In the `additional_kwargs` of a later piece, until `withAddedCounts` has read them: its counts, and those before. */
const COUNTS = "reprise_counts";

/** Counts of a request so far, as Anthropic names them. */
interface Counts {
  readonly input_tokens?: unknown;
  readonly cache_creation_input_tokens?: unknown;
  readonly cache_read_input_tokens?: unknown;
  readonly output_tokens?: unknown;
}

/**
 * Lets the counts at the end of an answer through LangChain's conversion, which passes on `delta` alone and fails without
 * an object for the counts: compatible servers leave it out.
 */
export async function* keepLastCounts(events: AsyncIterable<Event>): AsyncGenerator<Event> {
  let before: Counts = {};
  for await (const event of events) {
    if (event.type === "message_start") {
      const usage = objectOf(event.message.usage);
      // an answer begins with a count of what is written so far, which is part of the last one
      before = { ...usage, output_tokens: 0 };
      yield { ...event, message: { ...event.message, usage } };
    } else if (event.type === "message_delta") {
      const usage = objectOf(event.usage);
      const delta = { ...event.delta, [COUNTS]: { before, usage } };
      yield { ...event, usage, delta };
      before = { ...before, ...usage };
    } else {
      yield event;
    }
  }
}

function objectOf<Value extends object>(value: Value): Value {
  const given: unknown = value;
  return (typeof given === "object" && given !== null ? given : {}) as Value;
}

/**
 * Makes the counts of a later piece what it adds to those before, because LangChain sums them: each piece of Anthropic
 * counts all so far, and compatible servers count what was read only at the end. Adds what LangChain leaves out, the
 * part of the output that was reasoning. What no piece has counted is not a number.
 */
export function withAddedCounts(chunk: ChatGenerationChunk): ChatGenerationChunk {
  const { message } = chunk;
  if (!AIMessageChunk.isInstance(message) || message.usage_metadata === undefined) {
    return chunk;
  }
  const counts = message.additional_kwargs[COUNTS];
  if (counts === undefined) {
    const { input_tokens } = message.usage_metadata;
    message.usage_metadata = {
      ...message.usage_metadata,
      output_tokens: 0,
      total_tokens: input_tokens,
    };
    return chunk;
  }
  delete message.additional_kwargs[COUNTS];
  message.usage_metadata = addedCounts(
    counts as { readonly before: Counts; readonly usage: Counts },
  );
  return chunk;
}

function addedCounts({
  before,
  usage,
}: {
  readonly before: Counts;
  readonly usage: Counts;
}): UsageMetadata {
  const added = (name: keyof Counts): number =>
    Math.max(
      0,
      (countOf(usage[name]) ?? countOf(before[name]) ?? 0) - (countOf(before[name]) ?? 0),
    );
  const cache_creation = added("cache_creation_input_tokens");
  const cache_read = added("cache_read_input_tokens");
  const isRead = [usage, before].some(({ input_tokens }) => countOf(input_tokens) !== null);
  const input_tokens = isRead ? added("input_tokens") + cache_creation + cache_read : Number.NaN;
  const output_tokens = countOf(usage.output_tokens) === null ? Number.NaN : added("output_tokens");
  const reasoning = reasoningIn(usage);
  return {
    input_tokens,
    output_tokens,
    total_tokens: input_tokens + output_tokens,
    ...(cache_creation + cache_read === 0
      ? {}
      : { input_token_details: { cache_creation, cache_read } }),
    ...(reasoning === null
      ? {}
      : {
          output_token_details: { reasoning: Math.max(0, reasoning - (reasoningIn(before) ?? 0)) },
        }),
  };
}

function reasoningIn(counts: Counts): number | null {
  return countOf(memberOf(memberOf(counts, "output_tokens_details"), "thinking_tokens"));
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}
