import type { RunnableConfig } from "@langchain/core/runnables";
import type { CheckpointMetadata } from "@langchain/langgraph-checkpoint";

import { textOf, threadKeyOf } from "./thread-key.ts";

/** Which checkpoints LangGraph asks `list` for. */
export function listInput(config: RunnableConfig, before: RunnableConfig | undefined) {
  const ns = config.configurable?.["checkpoint_ns"] === "" ? "" : textOf(config, "checkpoint_ns");
  const checkpoint_id = before === undefined ? null : textOf(before, "checkpoint_id");
  const key = before === undefined ? null : threadKeyOf(before);
  return {
    thread_id: threadKeyOf(config)?.thread_id,
    ns: ns ?? undefined,
    checkpoint_id: textOf(config, "checkpoint_id") ?? undefined,
    ...(checkpoint_id === null ? {} : { before: { ...key, checkpoint_id } }),
  };
}

/** True for metadata with all members of a filter. */
export function matches(metadata: CheckpointMetadata | undefined, filter: object): boolean {
  return Object.entries(filter).every(
    ([key, value]) => metadata !== undefined && Reflect.get(metadata, key) === value,
  );
}
