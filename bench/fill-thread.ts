import { type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";

import { createCheckpointSaver } from "../src/langgraph/saver.ts";
import { threadId } from "../src/core/threads.ts";
import { releaseLease, takeLease } from "../src/store/records/leases/lease.ts";
import { thisProcess } from "../src/store/records/leases/this-process.ts";
import type { Store } from "../src/store/store.ts";
import { answerOf, fileText, questionOf } from "./texts.ts";

/** Exchanges in one checkpoint. */
const BATCH = 250;

/**
 * Puts exchanges into a session's thread, with their rows, in a few checkpoints of many messages:
 * what a long session has, in a fraction of the time that it took.
 */
export async function fill(
  store: Store,
  input: { readonly session_id: string; readonly exchanges: number; readonly rounds: number },
): Promise<void> {
  const { session_id } = input;
  const owner = thisProcess("bench");
  const fence = await store.write(takeLease, { session_id, owner, life_ms: 60 * 60_000 });
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("model_request", () => ({}))
    .addEdge(START, "model_request")
    .compile({ checkpointer: createCheckpointSaver({ store, fence: () => fence }) });
  const thread = { configurable: { thread_id: threadId(session_id, 0) } };
  for (let start = 0; start < input.exchanges; start += BATCH) {
    const messages: BaseMessage[] = [];
    for (let index = start; index < Math.min(start + BATCH, input.exchanges); index += 1) {
      messages.push(...exchangeOf(index, input.rounds));
    }
    await graph.updateState(thread, { messages }, "model_request");
  }
  await store.write(releaseLease, { fence, finished: true });
}

function exchangeOf(index: number, rounds: number): BaseMessage[] {
  const messages: BaseMessage[] = [new HumanMessage(questionOf(index))];
  for (let round = 0; round < rounds; round += 1) {
    const call = answerOf(messages, rounds);
    const content = fileText(`exchange ${index}, round ${round}`);
    const tool_call_id = call.tool_calls?.[0]?.id ?? "";
    messages.push(call, new ToolMessage({ content, tool_call_id, name: "read_file" }));
  }
  return [...messages, answerOf(messages, rounds)];
}
