import { AIMessageChunk } from "@langchain/core/messages";
import { ChatGenerationChunk } from "@langchain/core/outputs";

import { endFor, endMetadata, type ModelApi, type ReportedEnd, textIn } from "./answer-end.ts";

/** An answer that its provider gave up after it had begun. */
export class BrokenAnswerError extends Error {
  override readonly name = "BrokenAnswerError";
  /** The provider's short code, or ours if it gave none. */
  readonly code: string;

  constructor(code: string, message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.code = code;
  }
}

/** The code of an answer that ended without a reason, or with one that names no error. */
export const ENDED_EARLY = "ended_early";

/** The code of an answer whose connection broke after it had begun. */
export const BROKEN_OFF = "broken_off";

/**
 * Follows a model's stream to its end. An answer that is not whole carries its end (see `endOf`); a broken one
 * is thrown as `BrokenAnswerError`.
 */
export async function* followEnd(
  api: ModelApi,
  chunks: AsyncIterable<ChatGenerationChunk>,
): AsyncGenerator<ChatGenerationChunk> {
  let seen: ReportedEnd = { reason: null, category: null, isRefusal: false, isCounted: false };
  for await (const chunk of chunks) {
    seen = withChunk(api, chunk, seen);
    yield chunk;
  }
  const known = endFor(api, seen);
  if (known.end === "broken") {
    throw new BrokenAnswerError(ENDED_EARLY, "The provider ended the answer before it was whole.");
  }
  if (known.end !== "whole") {
    const message = new AIMessageChunk({ content: "", response_metadata: endMetadata(known) });
    yield new ChatGenerationChunk({ text: "", message });
  }
}

function withChunk(api: ModelApi, chunk: ChatGenerationChunk, seen: ReportedEnd): ReportedEnd {
  const { message } = chunk;
  const { additional_kwargs } = message;
  const isCount = AIMessageChunk.isInstance(message) && message.usage_metadata !== undefined;
  const reason = reasonIn(api, chunk);
  const category = textIn(additional_kwargs["stop_details"], "category");
  const isRefusal = textIn(additional_kwargs, "refusal") !== null;
  // nearly every chunk says nothing
  return isCount || isRefusal || reason !== null || category !== null
    ? {
        reason: reason ?? seen.reason,
        category: category ?? seen.category,
        isRefusal: isRefusal || seen.isRefusal,
        isCounted: isCount || seen.isCounted,
      }
    : seen;
}

function reasonIn(api: ModelApi, { message, generationInfo }: ChatGenerationChunk): string | null {
  const { additional_kwargs, response_metadata } = message;
  switch (api) {
    case "anthropic":
      return textIn(additional_kwargs, "stop_reason");
    case "chat":
    case "google":
    case "bedrock":
      return textIn(generationInfo, "finish_reason")?.toLowerCase() ?? null;
    case "ollama":
      return Reflect.get(response_metadata, "done") === true
        ? (textIn(response_metadata, "done_reason") ?? "stop")
        : null;
    case "responses": {
      const status = textIn(response_metadata, "status");
      const why = textIn(Reflect.get(response_metadata, "incomplete_details"), "reason");
      return status === null || why === null ? status : `${status} ${why}`;
    }
  }
}
