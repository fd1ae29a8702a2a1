import type { BaseMessageChunk } from "@langchain/core/messages";
import { ChatOpenAI, ChatOpenAICompletions, type OpenAIClient } from "@langchain/openai";

import type { IdleLimits } from "../../rules/models/config.ts";
import { receiveStreams } from "./receive-stream.ts";

type ClientFields = NonNullable<ConstructorParameters<typeof ChatOpenAICompletions>[0]>;

/**
 * LangChain's client of OpenAI's chat completions, for compatible servers too: what a server streams
 * without a role is the assistant's. LangChain makes it a message of no role instead, and the text
 * and the tool calls are lost.
 */
export function openAiClient(fields: ClientFields, idle: IdleLimits): ChatOpenAI {
  return new ChatOpenAI({
    ...fields,
    useResponsesApi: false,
    // `bindTools` makes a new client, with these completions again
    completions: receiveStreams(new Completions(fields), idle),
  });
}

class Completions extends ChatOpenAICompletions {
  protected override _convertCompletionsDeltaToBaseMessageChunk(
    delta: Record<string, unknown>,
    raw: OpenAIClient.Chat.Completions.ChatCompletionChunk,
  ): BaseMessageChunk {
    const role = delta["role"] || "assistant";
    return super._convertCompletionsDeltaToBaseMessageChunk({ ...delta, role }, raw);
  }
}
