import type { CheckpointName } from "../../store/checkpoints/threads/thread-names.ts";

/** Value as an official saver stored it: the type that its serializer gave it, and the bytes. */
export interface TypedValue {
  readonly type: string;
  readonly content: string | Uint8Array;
}

export interface OfficialWrite {
  readonly task_id: string;
  readonly task_path: string;
  readonly index: number;
  readonly channel: string;
  readonly value: TypedValue;
}

export interface OfficialCheckpoint extends CheckpointName {
  readonly parent_id: string | null;
  readonly checkpoint: TypedValue;
  /** Values of channels that are not in the checkpoint's own JSON. */
  readonly channels: readonly { readonly name: string; readonly value: TypedValue }[];
  readonly metadata: TypedValue;
}

/** Thread in one state, however long it is read. */
export interface OfficialThread {
  /** In the order in which the saver lists them, the oldest first. */
  readonly names: readonly CheckpointName[];
  /** Differs once checkpoints or writes were added or deleted. */
  readonly version: string;
  read(name: CheckpointName): Promise<OfficialCheckpoint>;
  /** Returns what the tasks of a checkpoint wrote, in no order. The checkpoint itself may be missing. */
  readWrites(name: CheckpointName): Promise<readonly OfficialWrite[]>;
}

export interface ThreadVersion {
  /** Null for one that is not text; all after it are not, either. */
  readonly thread_id: string | null;
  readonly version: string;
}

/** The database of one of LangGraph's own savers, which is only read. */
export interface OfficialSource extends AsyncDisposable {
  /** Where it is, for people: a path or an address without the password. */
  readonly location: string;
  /** The id under which a graph finds a thread with any other saver. */
  readonly graphsId: (threadId: string) => string;
  countThreads(): Promise<number>;
  /** The threads after an id, or the first ones, in the order of their ids. */
  threadsAfter(after: string | null, limit: number): Promise<readonly ThreadVersion[]>;
  /** Which of these threads the source does not have. */
  missingOf(ids: readonly string[]): Promise<readonly string[]>;
  /** Runs work on one thread. Nothing that is written meanwhile is seen. */
  readThread<Output>(
    threadId: string,
    work: (thread: OfficialThread) => Promise<Output>,
  ): Promise<Output>;
}
