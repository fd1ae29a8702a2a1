import { type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { MemorySaver } from "@langchain/langgraph-checkpoint";
import { createAgent } from "langchain";
import { z } from "zod";

import { newId } from "../src/core/ids.ts";
import { InstantModel } from "./instant-model.ts";
import { answerOf } from "./texts.ts";

/** A new thread of langchain's agent on LangGraph's own saver, all in memory, without tool calls. */
export function memoryThread(): (text: string) => Promise<unknown> {
  const agent = createAgent({
    model: new InstantModel((messages) => answerOf(messages, 0)),
    tools: [unused],
    checkpointer: new MemorySaver(),
  });
  const thread = { configurable: { thread_id: newId() }, durability: "sync" as const };
  return (text) => {
    const messages: BaseMessage[] = [new HumanMessage(text)];
    return agent.invoke({ messages }, thread);
  };
}

const unused = tool(() => "", { name: "unused", description: "not called", schema: z.object({}) });
