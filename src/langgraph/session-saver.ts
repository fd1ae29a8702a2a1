import type { BaseCheckpointSaver, CheckpointTuple } from "@langchain/langgraph-checkpoint";

import type { PrunedIds } from "../store/checkpoints/plan-prune.ts";
import type { Fence } from "../store/records/leases/fence.ts";
import type { NewCalls } from "../store/records/model-calls/store-calls.ts";
import type { StoredMessage } from "../store/records/messages/mirror.ts";
import type { Store } from "../store/store.ts";

export interface SaverParts {
  readonly store: Pick<Store, "read" | "write">;
  /** The lease of the running exchange; null if none is needed. Asked at every write. */
  readonly fence?: () => Fence | null;
  /** True for graphs that change no message in place: all readers share frozen messages. */
  readonly frozen?: boolean | undefined;
  /**
   * True for an agent that needs no message from before those that its last summary keeps: readers of
   * frozen messages get only the rest, marked with `markPart`, and what is put is appended to the whole
   * thread. Its reducer has to be `appendMessages`.
   */
  readonly isShownOnly?: boolean | undefined;
}

/** Called with the rows of a checkpoint's messages, and with all of its messages. */
export type OnStored = (stored: readonly StoredMessage[], messages: readonly unknown[]) => void;

/** Requests of models that are not stored yet: each write stores those that no other one is storing. */
export interface PendingCalls {
  take(): NewCalls | null;
  /** Called when a write that took some has ended. */
  ended(calls: NewCalls, isStored: boolean): void;
}

export interface Holding {
  /**
   * False for an agent that changes messages in place: whatever it reads then belongs to it alone.
   * True if it is not given.
   */
  readonly frozen?: boolean | undefined;
  /** Called after each checkpoint with the messages that it adds or changes. */
  readonly onStored?: OnStored | undefined;
  readonly calls?: PendingCalls | undefined;
  /** Is still the latest: not read again before the first write. */
  readonly latest?: LatestRead | undefined;
}

export interface LatestRead {
  readonly thread_id: string;
  /**
   * Undefined for a thread without checkpoints. Whatever is not shared is created again each time.
   */
  tuple(): Promise<CheckpointTuple | undefined>;
}

/** A saver that remembers what its threads have. */
export interface SessionSaver extends BaseCheckpointSaver {
  /**
   * A saver for one exchange, which remembers the same. Whatever it writes carries this lease, also
   * what a stopped exchange leaves unfinished and the agent writes when the lease is long gone.
   *
   * Unless `frozen` is false, messages that it reads are frozen and others have them too, so that
   * reading a thread and storing it again takes no longer for each message that it has: only arrays
   * and what surrounds the messages belong to the reader.
   */
  holding(fence: Fence, more?: Holding): SessionSaver;
  /** The latest checkpoint of a thread, as a saver of `holding` reads it. */
  readLatest(threadId: string, how?: Pick<Holding, "frozen">): Promise<LatestRead>;
  /** Takes the id as configs do: 42 and "42" are the same thread. */
  deleteThread(threadId: string | number): Promise<void>;
  /** Called with what was pruned, so that the cache does not take it for stored. */
  forgetPruned(threadId: string, pruned: PrunedIds): void;
}
