import type Anthropic from "@anthropic-ai/sdk";
import { ChatAnthropic } from "@langchain/anthropic";
import type { ChatGenerationChunk } from "@langchain/core/outputs";

import type { CacheLife } from "../../core/model-settings.ts";
import { keepLastCounts, withAddedCounts } from "./anthropic-counts.ts";
import type { CallOptions } from "./call-options.ts";

type Streamed = Anthropic.MessageCreateParamsStreaming;
type Whole = Anthropic.MessageCreateParamsNonStreaming;
type Sent = Anthropic.MessageParam;
type Mark = Anthropic.CacheControlEphemeral;

/** Beta of `block_binding`: "Fix a thinking block bound to a different conversation" of Anthropic's documentation. */
const BINDING_BETA = "thinking-binding-controls-2026-08-01";

/** LangChain's client of Anthropic's Messages API, which asks for the prompt cache and reports all counts. */
export class AnthropicClient extends ChatAnthropic {
  override invocationParams(options?: this["ParsedCallOptions"] & Partial<CallOptions>) {
    const params = super.invocationParams(options);
    const { cache_life = "off", drops_reasoning = false } = options ?? {};
    return {
      ...params,
      ...(cache_life === "off" ? {} : { cache_control: markOf(cache_life) }),
      ...(drops_reasoning ? dropping(params) : {}),
    };
  }

  override async *_streamResponseChunks(
    ...given: Parameters<ChatAnthropic["_streamResponseChunks"]>
  ): AsyncGenerator<ChatGenerationChunk> {
    for await (const chunk of super._streamResponseChunks(...given)) {
      yield withAddedCounts(chunk);
    }
  }

  protected override async createStreamWithRetry(
    request: Streamed,
    ...more: readonly [options?: Anthropic.RequestOptions]
  ) {
    const events = await super.createStreamWithRetry(withMarks(request), ...more);
    const iterate = events[Symbol.asyncIterator].bind(events);
    events[Symbol.asyncIterator] = () => keepLastCounts({ [Symbol.asyncIterator]: iterate });
    return events;
  }

  protected override completionWithRetry(request: Whole, options: Anthropic.RequestOptions) {
    return super.completionWithRetry(withMarks(request), options);
  }
}

function dropping({ thinking, betas }: ReturnType<ChatAnthropic["invocationParams"]>) {
  return {
    thinking: {
      ...(thinking ?? { type: "adaptive" as const }),
      block_binding: { prefix_mismatch_behavior: "drop_block" },
    },
    betas: [...(betas ?? []), BINDING_BETA],
  };
}

function markOf(life: Exclude<CacheLife, "off">): Mark {
  return life === "1h" ? { type: "ephemeral", ttl: "1h" } : { type: "ephemeral" };
}

/**
 * Replaces the mark of the whole request with three marks of blocks: the system prompt, the end of the request
 * before, and the end of this one. What was stored at a mark is found up to 20 blocks before another mark, and an
 * answer with twelve calls has more: "Prompt caching" of Anthropic's documentation.
 */
function withMarks<Request extends Streamed | Whole>(request: Request): Request {
  const { cache_control: mark, ...rest } = request;
  if (mark === undefined || mark === null) {
    return request;
  }
  const { messages, system } = request;
  const lastAnswer = messages.findLastIndex(({ role }) => role === "assistant");
  const ends = new Set([lastAnswer - 1, messages.length - 1]);
  return {
    ...rest,
    messages: messages.map((message, at) => marked(message, ends.has(at) ? mark : null)),
    ...(system === undefined ? {} : { system: markedBlocks(system, mark) }),
  } as Request;
}

/** A message of the user is sent as blocks also without a mark: it has the same bytes in each request. */
function marked(message: Sent, mark: Mark | null): Sent {
  return message.role === "user"
    ? { ...message, content: markedBlocks(message.content, mark) }
    : message;
}

/** Returns the blocks with a mark on the last one: a text is one block, and an empty one takes no mark. */
function markedBlocks<Block extends object>(
  content: string | readonly Block[],
  mark: Mark | null,
): (Block | Anthropic.TextBlockParam)[] {
  const blocks = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
  const last = blocks.at(-1);
  return mark === null || last === undefined || ("text" in last && last.text === "")
    ? [...blocks]
    : [...blocks.slice(0, -1), { ...last, cache_control: mark }];
}
