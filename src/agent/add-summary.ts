import type { AIMessage } from "@langchain/core/messages";
import { START } from "@langchain/langgraph";

import type { AgentThread } from "./agent.ts";
import { MODEL_NODE } from "./agent-graph.ts";

/** Appends a summary to the thread's messages. What the agent has to do next is unchanged. */
export async function addSummary(
  { agent, config }: AgentThread,
  summary: AIMessage,
): Promise<void> {
  const { next } = await agent.getState(config);
  // the model continues as from new input, or has finished
  const node = next.length > 0 ? START : MODEL_NODE;
  await agent.updateState(config, { messages: [summary] }, node);
}
