import type { BaseMessage } from "@langchain/core/messages";

import { parseThreadId } from "../core/threads.ts";
import { MESSAGES } from "../store/checkpoints/head-mark.ts";
import type { CheckpointMirror } from "../store/checkpoints/put.ts";
import type { ListVersion } from "../store/checkpoints/value.ts";
import { mirrorOf, tokenCountOf } from "../store/messages/mirror-row.ts";
import type { AddedSequence } from "./write-batch.ts";
import type { ThreadKey } from "./thread-key.ts";
import type { ThreadCache } from "./thread-cache.ts";

/** The session whose mirror follows a checkpoint; null for subgraphs and threads of no session. */
export function mirroredSession(key: ThreadKey): string | null {
  return key.ns === "" ? (parseThreadId(key.thread_id)?.sessionId ?? null) : null;
}

export interface MirrorParts {
  readonly session_id: string;
  readonly messages: readonly BaseMessage[];
  /** The same messages as in the write batch. */
  readonly sequence: AddedSequence;
  /** The parent's messages; the cache has the list. */
  readonly parent: ListVersion | null;
  readonly cache: ThreadCache;
}

/**
 * The rows of those messages that a checkpoint adds to its parent's or changes. What it removes
 * has a row already and keeps it: the history stays readable.
 */
export function mirrorRows(parts: MirrorParts): CheckpointMirror {
  const { session_id, messages, parent, cache } = parts;
  const { hashAt, known } = parts.sequence;
  const shared =
    known?.list === parent?.list ? Math.min(known?.length ?? 0, parent?.length ?? 0) : 0;
  const items = parent === null ? [] : (cache.lists.get(parent.list)?.items ?? []);
  const others = new Set(items.slice(shared, parent?.length ?? 0).map((item) => item.hash));
  const tokensAt = (index: number): number => {
    const hash = hashAt(index);
    const known = cache.tokens.get(hash) ?? tokenCountOf(messages[index]);
    cache.tokens.set(hash, known);
    return known;
  };
  const rows = messages
    .slice(shared)
    .flatMap((_, index) =>
      others.has(hashAt(shared + index))
        ? []
        : (mirrorOf(messages, shared + index, tokensAt) ?? []),
    );
  return { session_id, channel: MESSAGES, parent, messages: rows };
}
