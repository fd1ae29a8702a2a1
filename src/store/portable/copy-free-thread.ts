import { RepriseError } from "../../core/errors.ts";
import { isStorableText } from "../../core/text/text.ts";
import { targetHasThread, threadNotFound } from "../records/threads/free-threads.ts";
import type { Operation, ReadOnlyStore, Store } from "../store.ts";
import { threadChecksumOf } from "./export-text.ts";
import type { FreeThread } from "./portable-threads.ts";
import { readContent, storeFreeThread } from "./free-thread.ts";
import { findFreeThread, type ThreadVersion } from "./thread-versions.ts";

export interface CopyFreeThread {
  readonly source: ReadOnlyStore;
  readonly target: Store;
  readonly thread_id: string;
}

export interface CopiedThread {
  readonly outcome: "copied" | "present";
  readonly checkpoints: number;
  readonly version: ThreadVersion;
}

/**
 * Takes one free thread to another store, or finds that it is there already.
 *
 * Error codes: as `copyIn`; `thread_not_found`; `database_corrupt` if it cannot be read completely.
 */
export async function copyFreeThread(input: CopyFreeThread): Promise<CopiedThread> {
  const { source, target, thread_id } = input;
  const { thread, version } = await source.read(readWatchedThread, { thread_id });
  refuseUnstorable(thread);
  const outcome = await target.write(copyIn, { thread, sha256: threadChecksumOf(thread) });
  return { outcome, checkpoints: thread.checkpoints.length, version };
}

const readWatchedThread: Operation<
  { readonly thread_id: string },
  { readonly thread: FreeThread; readonly version: ThreadVersion }
> = async (tx, { thread_id }) => {
  const found = await findFreeThread(tx, thread_id);
  if (found === null) {
    throw threadNotFound();
  }
  return { thread: await readContent(tx, thread_id), version: found.version };
};

/** Reprise never writes such text, and engines store it differently. */
function refuseUnstorable({ thread_id, bodies }: FreeThread): void {
  if (![thread_id, ...bodies].every(isStorableText)) {
    throw new RepriseError(
      "database_corrupt",
      "A text of this thread, written by another program, holds NUL or an unpaired surrogate, which not every engine stores. Correct it in the source.",
    );
  }
}

/**
 * Stores a copy of a thread, reads all of it again in the same transaction and keeps it only if it
 * has the same checksum. A thread that is already there with the same checksum is skipped:
 * `present`.
 *
 * Error codes: `thread_exists` if a different thread has its id; `thread_of_session` if a session
 * owns it here; `internal` if the database returns something else than was written.
 */
const copyIn: Operation<
  { readonly thread: FreeThread; readonly sha256: string },
  CopiedThread["outcome"]
> = async (tx, { thread, sha256 }) => {
  const { thread_id } = thread;
  const found = await findFreeThread(tx, thread_id);
  if (found !== null) {
    if (threadChecksumOf(await readContent(tx, thread_id)) === sha256) {
      return "present";
    }
    throw targetHasThread();
  }
  await storeFreeThread(tx, thread);
  if (threadChecksumOf(await readContent(tx, thread_id)) !== sha256) {
    throw new RepriseError(
      "internal",
      "The target returned this thread with different content, so it was rolled back. Please report this.",
    );
  }
  return "copied";
};
