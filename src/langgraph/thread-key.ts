import type { RunnableConfig } from "@langchain/core/runnables";
import { getCheckpointId } from "@langchain/langgraph-checkpoint";

import { RepriseError } from "../core/errors.ts";
import { MAX_THREAD_ID_BYTES } from "../core/limits.ts";
import { isStorableText } from "../core/text/text.ts";

/** Where a checkpoint belongs: its thread, and "" or the chain of subgraphs, outermost first. */
export interface ThreadKey {
  readonly thread_id: string;
  readonly ns: string;
}

/** The longest texts in UTF-8 bytes: PostgreSQL indexes them together, in 2,700 bytes. */
const MAX_BYTES = {
  thread_id: MAX_THREAD_ID_BYTES,
  checkpoint_id: 255,
  checkpoint_ns: 1900,
  task_id: 255,
  ts: 255,
};

type Name = keyof typeof MAX_BYTES;

/**
 * The key that a LangGraph config names; null if it names no thread.
 * Error codes: `invalid_request` for an id that no thread can have.
 */
export function threadKeyOf(config: RunnableConfig): ThreadKey | null {
  const thread_id = threadIdOf(config.configurable?.["thread_id"]);
  return thread_id === null ? null : { thread_id, ns: textOf(config, "checkpoint_ns") ?? "" };
}

/** As `threadKeyOf`. Error codes: `invalid_request` also if the config names no thread. */
export function requireThreadKey(config: RunnableConfig): ThreadKey {
  const thread_id = requireThreadId(config.configurable?.["thread_id"]);
  return { thread_id, ns: textOf(config, "checkpoint_ns") ?? "" };
}

/**
 * A thread id as it is stored: 42 and "42" are the same. Null for undefined, null and "".
 * Error codes: `invalid_request`.
 */
function threadIdOf(value: unknown): string | null {
  if (typeof value === "number") {
    if (!Number.isSafeInteger(value)) {
      throw new RepriseError(
        "invalid_request",
        "A thread_id that is a number has to be an integer between -(2^53 - 1) and 2^53 - 1. Use a string instead.",
      );
    }
    return String(value);
  }
  return storableOf("thread_id", value);
}

/** As `threadIdOf`, for a thread that has to be named. Error codes: `invalid_request`. */
export function requireThreadId(value: unknown): string {
  const thread_id = threadIdOf(value);
  if (thread_id === null) {
    throw new RepriseError(
      "invalid_request",
      "No thread_id was given. For a graph, set `configurable.thread_id`.",
    );
  }
  return thread_id;
}

/**
 * A text of the config's `configurable`; null if it is missing or empty.
 * Error codes: `invalid_request`.
 */
export function textOf(
  config: RunnableConfig,
  name: "checkpoint_ns" | "checkpoint_id",
): string | null {
  return storableOf(name, config.configurable?.[name]);
}

/** The checkpoint to read, under its present or its former name; null for the latest. */
export function wantedCheckpointOf(config: RunnableConfig): string | null {
  return storableOf("checkpoint_id", getCheckpointId(config));
}

/** A text that is part of a key. Error codes: `invalid_request` also for an empty one. */
export function requireText(name: Name, value: unknown): string {
  const text = storableOf(name, value);
  if (text === null) {
    throw new RepriseError("invalid_request", `The ${name} is missing. Give one.`);
  }
  return text;
}

/** A text that the database keeps unchanged; null if it is missing or empty. Error codes: `invalid_request`. */
export function storableOf(name: Name, value: unknown): string | null {
  if (value === undefined || value === null || value === "") {
    return null;
  }
  if (typeof value !== "string") {
    throw new RepriseError(
      "invalid_request",
      name === "thread_id"
        ? "The thread_id is neither a string nor a number. Give one of them."
        : `The ${name} is not a string. Give a string.`,
    );
  }
  if (!isStorableText(value)) {
    throw new RepriseError(
      "invalid_request",
      `The ${name} contains a NUL character or half a surrogate pair, which no database stores. Remove it.`,
    );
  }
  if (Buffer.byteLength(value) > MAX_BYTES[name]) {
    throw new RepriseError(
      "invalid_request",
      `The ${name} is longer than ${MAX_BYTES[name]} bytes of UTF-8. Give a shorter one.`,
    );
  }
  return value;
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
