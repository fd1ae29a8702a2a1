import type { RunnableConfig } from "@langchain/core/runnables";

import { RepriseError } from "../core/errors.ts";

/** Where a checkpoint belongs: its thread, and "" or the chain of subgraphs, outermost first. */
export interface ThreadKey {
  readonly thread_id: string;
  readonly ns: string;
}

/** The key that a LangGraph config names; null if it names no thread. */
export function threadKeyOf(config: RunnableConfig): ThreadKey | null {
  const thread_id = textOf(config, "thread_id");
  return thread_id === null ? null : { thread_id, ns: textOf(config, "checkpoint_ns") ?? "" };
}

/** As `threadKeyOf`. Error codes: `internal` if the config names no thread. */
export function requireThreadKey(config: RunnableConfig): ThreadKey {
  const key = threadKeyOf(config);
  if (key === null) {
    throw new RepriseError(
      "internal",
      "A checkpoint can only be stored in a thread; give the agent a thread_id in its config.",
    );
  }
  return key;
}

/** A text of the config's `configurable`; null if it is missing or empty. */
export function textOf(config: RunnableConfig, key: string): string | null {
  const value: unknown = config.configurable?.[key];
  return typeof value === "string" && value !== "" ? value : null;
}

/** The config that names a checkpoint. */
export function configOf(key: ThreadKey, checkpointId: string): RunnableConfig {
  return {
    configurable: {
      thread_id: key.thread_id,
      checkpoint_ns: key.ns,
      checkpoint_id: checkpointId,
    },
  };
}
