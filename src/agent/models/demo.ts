import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import {
  AIMessage,
  AIMessageChunk,
  type BaseMessage,
  type UsageMetadata,
} from "@langchain/core/messages";
import { ChatGenerationChunk, type ChatResult } from "@langchain/core/outputs";

import { estimateTokens } from "../../core/text.ts";
import { SUMMARY_TASK } from "../compaction/prompt.ts";
import { demoAnswer } from "./demo-answer.ts";
import { demoSummary, quotesIn } from "./demo-summary.ts";

/**
 * The offline model: answers at once, the same way every time, from the messages that it is given,
 * so what it knows is what the thread remembers. Usage is an estimate. It never calls a tool.
 */
export class DemoModel extends BaseChatModel {
  override _llmType(): string {
    return "demo";
  }

  override bindTools(): this {
    return this;
  }

  override async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const text = answerTo(messages);
    const message = new AIMessage({ content: text, usage_metadata: usage(messages, text) });
    return { generations: [{ text, message }] };
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    options: this["ParsedCallOptions"],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const answer = answerTo(messages);
    for (const text of answer.split(/(?<=\s)/u)) {
      options.signal?.throwIfAborted();
      const chunk = new ChatGenerationChunk({ text, message: new AIMessageChunk(text) });
      yield chunk;
      await runManager?.handleLLMNewToken(text, undefined, undefined, undefined, undefined, {
        chunk,
      });
    }
    const message = new AIMessageChunk({ content: "", usage_metadata: usage(messages, answer) });
    yield new ChatGenerationChunk({ text: "", message });
  }
}

function answerTo(messages: readonly BaseMessage[]): string {
  if (messages[0]?.type === "system" && messages[0].text.startsWith(SUMMARY_TASK)) {
    return demoSummary(messages.at(-1)?.text ?? "");
  }
  const texts = messages.filter((message) => message.type === "human").map(({ text }) => text);
  // what was summarised was said before, too
  const said = texts.flatMap((text) => quotesIn(text) ?? [text]);
  const first = said.length === texts.length && messages.every(({ type }) => type !== "ai");
  return demoAnswer({ said, first });
}

function usage(messages: readonly BaseMessage[], answer: string): UsageMetadata {
  const input = messages.reduce((sum, { text }) => sum + estimateTokens(text), 0);
  const output = estimateTokens(answer);
  return { input_tokens: input, output_tokens: output, total_tokens: input + output };
}
