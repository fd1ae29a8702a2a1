import { type BaseMessage, HumanMessage } from "@langchain/core/messages";
import type { RunnableConfig } from "@langchain/core/runnables";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import {
  BaseCheckpointSaver,
  type Checkpoint,
  type CheckpointMetadata,
  type CheckpointTuple,
} from "@langchain/langgraph-checkpoint";

import { newId } from "../src/core/ids.ts";
import { copierOf } from "../src/langgraph/messages/copy-message.ts";
import { fingerprintOf } from "../src/langgraph/messages/message-hash.ts";
import { answerOf, questionOf } from "./texts.ts";

/** Exchanges that are stored in one checkpoint when a thread is filled. */
const BATCH = 250;

/**
 * A thread of a graph that knows nothing of Reprise, with exchanges of one question and one answer;
 * returns what runs one more. Its checkpointer stores each checkpoint before the next step.
 */
export async function foreignThread(
  checkpointer: BaseCheckpointSaver,
  exchanges: number,
): Promise<() => Promise<unknown>> {
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("model", ({ messages }) => ({ messages: answerOf(messages.slice(-1), 0) }))
    .addEdge(START, "model")
    .compile({ checkpointer });
  const thread = { configurable: { thread_id: newId() }, durability: "sync" as const };
  for (let start = 0; start < exchanges; start += BATCH) {
    const messages: BaseMessage[] = [];
    for (let index = start; index < Math.min(start + BATCH, exchanges); index += 1) {
      const question = new HumanMessage(questionOf(index));
      messages.push(question, answerOf([question], 0));
    }
    await graph.updateState(thread, { messages }, "model");
  }
  let index = exchanges;
  return () => {
    index += 1;
    return graph.invoke({ messages: [new HumanMessage(questionOf(index))] }, thread);
  };
}

/** Keeps the latest checkpoint of one thread as it is: what is left is the cost of LangGraph. */
export class KeepingSaver extends BaseCheckpointSaver {
  #tuple: CheckpointTuple | undefined;

  override getTuple(): Promise<CheckpointTuple | undefined> {
    if (this.#tuple === undefined) {
      return Promise.resolve(undefined);
    }
    const { checkpoint } = this.#tuple;
    const channel_values = { ...checkpoint.channel_values };
    return Promise.resolve({ ...this.#tuple, checkpoint: { ...checkpoint, channel_values } });
  }

  override put(
    { configurable }: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
  ): Promise<RunnableConfig> {
    const config = { configurable: { ...configurable, checkpoint_id: checkpoint.id } };
    this.#tuple = { config, checkpoint, metadata, pendingWrites: [] };
    return Promise.resolve(config);
  }

  override putWrites(): Promise<void> {
    return Promise.resolve();
  }

  override deleteThread(): Promise<void> {
    return Promise.resolve();
  }

  // eslint-disable-next-line @typescript-eslint/require-await
  override async *list(): AsyncGenerator<CheckpointTuple> {
    // nothing but the latest checkpoint is kept
  }
}

/** Also copies every message for each read: no saver whose readers may change messages does less. */
export class CopyingSaver extends KeepingSaver {
  readonly #copies: (() => BaseMessage)[] = [];

  override async getTuple(): Promise<CheckpointTuple | undefined> {
    const tuple = await super.getTuple();
    const messages = tuple?.checkpoint.channel_values["messages"];
    if (tuple !== undefined && Array.isArray(messages)) {
      for (const message of messages.slice(this.#copies.length)) {
        this.#copies.push(copierFor(message));
      }
      tuple.checkpoint.channel_values["messages"] = this.#copies.map((copy) => copy());
    }
    return tuple;
  }
}

function copierFor(message: BaseMessage): () => BaseMessage {
  const fingerprint = fingerprintOf(message, "");
  const copy = fingerprint === null ? null : copierOf(message, fingerprint);
  if (fingerprint === null || copy === null) {
    throw new TypeError("the bench has a message that cannot be copied");
  }
  return () => copy(fingerprint);
}
