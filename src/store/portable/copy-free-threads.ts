import { isRepriseError, type RepriseError } from "../../core/errors.ts";
import type { ReadOnlyStore, Store } from "../store.ts";
import { copyFreeThread } from "./copy-free-thread.ts";
import { freeThreadPages, readFreeThreads, type ThreadVersion } from "./thread-versions.ts";

/** A thread without a session that was not copied. */
export interface RefusedThread {
  readonly thread_id: string;
  readonly code: RepriseError["code"];
  readonly detail: string;
}

export interface ThreadsReport {
  readonly refused_threads: readonly RefusedThread[];
  /** Threads of the source that somebody began or changed while they were copied. */
  readonly changed_threads: readonly string[];
}

export interface CopyFreeThreads {
  readonly source: ReadOnlyStore;
  readonly target: Store;
  /** Called after each thread that the target has then. */
  readonly onCopied: (outcome: "copied" | "present", checkpoints: number) => void;
}

/**
 * Copies every free thread, each in one transaction of the target. One that cannot be copied does
 * not stop the others: it is reported with `thread_exists`, `thread_of_session`, `database_corrupt`
 * or `internal`.
 *
 * Error codes: `database_*` of either store.
 */
export async function copyFreeThreads(input: CopyFreeThreads): Promise<ThreadsReport> {
  const { source, target, onCopied } = input;
  const refused: RefusedThread[] = [];
  /** Null for one that was refused. */
  const seen = new Map<string, ThreadVersion | null>();
  for await (const { thread_id } of walk(source)) {
    try {
      const { outcome, checkpoints, version } = await copyFreeThread({ source, target, thread_id });
      seen.set(thread_id, version);
      onCopied(outcome, checkpoints);
    } catch (error) {
      refused.push(...refusalOf(thread_id, error));
      seen.set(thread_id, null);
    }
  }
  const changed: string[] = [];
  for await (const { thread_id, version } of walk(source)) {
    const before = seen.get(thread_id);
    if (before !== null && before !== version) {
      changed.push(thread_id);
    }
  }
  return { refused_threads: refused, changed_threads: changed };
}

async function* walk(source: ReadOnlyStore) {
  for await (const page of freeThreadPages((each) => source.read(readFreeThreads, each))) {
    yield* page;
  }
}

/** Failures that concern one thread; the others concern all. None for one that was deleted since. */
function refusalOf(thread_id: string, error: unknown): RefusedThread[] {
  if (isRepriseError(error, "thread_not_found")) {
    return [];
  }
  if (isRepriseError(error, "thread_exists", "thread_of_session", "database_corrupt", "internal")) {
    return [{ thread_id, code: error.code, detail: error.message }];
  }
  throw error;
}
