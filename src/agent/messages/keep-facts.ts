import type { AIMessage, BaseMessage, ToolMessage } from "@langchain/core/messages";

import { type CallStatus, factsOfCall } from "../../core/calls.ts";
import type { ToolSet } from "../../core/tools.ts";
import { CALL_FACTS, CALL_STATUS } from "../../store/records/messages/call-facts.ts";

/** Keeps beside an answer what is known of its calls, for screens; no provider is sent it. */
export function keepCallFacts(answer: AIMessage, tools: ToolSet): void {
  const calls = answer.tool_calls ?? [];
  if (calls.length > 0) {
    keep(
      answer,
      CALL_FACTS,
      calls.map((call) => factsOfCall(call, tools)),
    );
  }
}

/** Keeps beside a tool's result how its call ended. Returns the result. */
export function keepStatus(result: ToolMessage, status: CallStatus): ToolMessage {
  keep(result, CALL_STATUS, status);
  return result;
}

function keep(message: BaseMessage, name: string, value: unknown): void {
  message.response_metadata = { ...message.response_metadata, [name]: value };
  message.lc_kwargs["response_metadata"] = message.response_metadata;
}
