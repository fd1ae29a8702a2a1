import { BaseMessage } from "@langchain/core/messages";
import { Send } from "@langchain/langgraph";
import type { CheckpointTuple } from "@langchain/langgraph-checkpoint";

/** A tuple as plain data: messages with their class. */
export function plainTuple(tuple: CheckpointTuple | undefined): unknown {
  if (tuple === undefined) {
    return undefined;
  }
  const { checkpoint_id, checkpoint_ns } = tuple.parentConfig?.configurable ?? {};
  return plain({
    id: tuple.config.configurable?.["checkpoint_id"],
    checkpoint: tuple.checkpoint,
    metadata: tuple.metadata,
    parent: { checkpoint_id, checkpoint_ns },
    writes: tuple.pendingWrites ?? [],
  });
}

/** A value of a checkpoint as plain data: messages with their class, sends as they are stored. */
export function plain(value: unknown): unknown {
  if (BaseMessage.isInstance(value)) {
    return { class: value.constructor.name, shown: value.toDict(), json: value.toJSON() };
  }
  if (Array.isArray(value)) {
    return value.map(plain);
  }
  if (value instanceof Send) {
    return { node: value.node, args: plain(value.args) };
  }
  if (typeof value === "object" && value !== null && !(value instanceof Error)) {
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, plain(member)]));
  }
  return value;
}
