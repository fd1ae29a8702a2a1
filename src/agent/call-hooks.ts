import type { BaseMessage, ToolCall, ToolMessage } from "@langchain/core/messages";

import type { Tool } from "../core/tools.ts";

/** Hooks of the calls and answers of one exchange. */
export interface CallHooks {
  /** Runs a call with the hooks before and after it. */
  around<Result>(
    call: ToolCall,
    declared: Tool,
    signal: AbortSignal | undefined,
    run: () => Promise<Result>,
  ): Promise<Result | ToolMessage>;
  /** Lets the hooks see an answer that would be the last one; one of them may let the model continue. */
  stop(
    answer: BaseMessage | undefined,
    before: readonly BaseMessage[],
    signal: AbortSignal | undefined,
  ): Promise<void>;
}
