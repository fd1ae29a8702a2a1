import type { RepriseError } from "../../core/errors.ts";
import type { Store } from "../store.ts";

/** Copies the threads of one of LangGraph's own savers into a store. */
export type CopyLangGraph = (input: CopyLangGraphInput) => Promise<ThreadCopyReport>;

export interface CopyLangGraphInput {
  /** The file of a SqliteSaver, or the postgres:// address of a PostgresSaver. */
  readonly from: string;
  /** Called once the source has been opened. */
  readonly openTarget: () => Promise<Store>;
  /** True to copy into a store that holds sessions and other threads too. */
  readonly intoExisting: boolean;
  /** Called after each transaction, with what is in the target of the threads so far. */
  readonly onProgress: (progress: ThreadCopyProgress) => void;
}

export interface ThreadCopyProgress {
  readonly threads: number;
  readonly done: ThreadCounts;
}

export interface ThreadCounts {
  readonly threads: number;
  readonly checkpoints: number;
}

export interface ThreadCopyReport {
  /** Where they are, for people: without passwords. */
  readonly from: string;
  readonly to: string;
  readonly copied: ThreadCounts;
  /** Counts of what was in the target already, the same in every state. */
  readonly present: ThreadCounts;
  readonly refused: readonly RefusedThread[];
  /** Threads of the source that somebody began or changed while it was copied. */
  readonly changed: readonly string[];
}

export interface RefusedThread {
  readonly thread_id: string;
  readonly code: RepriseError["code"];
  readonly detail: string;
}

export const NO_THREADS: ThreadCounts = { threads: 0, checkpoints: 0 };

export function sumOfThreads(one: ThreadCounts, other: ThreadCounts): ThreadCounts {
  return {
    threads: one.threads + other.threads,
    checkpoints: one.checkpoints + other.checkpoints,
  };
}
