import { isRepriseError, RepriseError } from "../../core/errors.ts";
import { readThreadIds } from "../../store/checkpoints/threads/thread-names.ts";
import { isPostgres } from "../../store/location.ts";
import {
  type CopyLangGraphInput,
  NO_THREADS,
  type RefusedThread,
  sumOfThreads,
  type ThreadCopyReport,
} from "../../store/portable/thread-copies.ts";
import { readSessionIds } from "../../store/records/sessions/trees/walk.ts";
import type { Store } from "../../store/store.ts";
import { type CopiedThread, copyThread } from "./copy-thread.ts";
import { requireThreadId } from "../../langgraph/thread-key.ts";
import type { OfficialSource, ThreadVersion } from "./source.ts";

/**
 * Copies every thread of an official saver of LangGraph.js into a store, each with all its
 * checkpoints, and compares each state with what the saver says. An interrupted copy leaves whole
 * threads and the beginning of one, which copying again completes. Existing threads never change,
 * unless the source has continued one since it was copied.
 *
 * A thread that cannot be copied does not stop the others; the report names it with
 * `thread_exists`, `thread_of_session`, `invalid_request`, `database_corrupt`,
 * `database_unsupported` or `internal`.
 *
 * Error codes: `invalid_usage` if the target has sessions or threads that the source does not have
 * and `intoExisting` is false; `database_*` of either database.
 */
export async function copyThreads(input: CopyLangGraphInput): Promise<ThreadCopyReport> {
  await using source = await openSource(input.from);
  await using target = await input.openTarget();
  if (!input.intoExisting) {
    await refuseOthers(source, target);
  }
  const threads = await source.countThreads();
  const counts = { copied: NO_THREADS, present: NO_THREADS };
  const refused: RefusedThread[] = [];
  const seen: Seen = new Map();
  for await (const { thread_id } of allThreads(source)) {
    const before = sumOfThreads(counts.copied, counts.present);
    const onProgress = (checkpoints: number): void =>
      input.onProgress({ threads, done: sumOfThreads(before, { threads: 0, checkpoints }) });
    try {
      const copied = await copyOne({ source, target, thread_id, onProgress });
      const { version, outcome, checkpoints } = copied;
      counts[outcome] = sumOfThreads(counts[outcome], { threads: 1, checkpoints });
      seen.set(thread_id, version);
    } catch (error) {
      refused.push(refusalOf(thread_id ?? "", error));
      seen.set(thread_id, null);
    }
  }
  const changed = await findChanged(source, seen);
  return { from: source.location, to: target.location, ...counts, refused, changed };
}

/** State of each thread when it was read; null for one that was refused. */
type Seen = Map<ThreadVersion["thread_id"], string | null>;

async function openSource(location: string): Promise<OfficialSource> {
  if (isPostgres(location)) {
    const { openPostgresSaver } = await import("./postgres.ts");
    return openPostgresSaver(location);
  }
  const { openSqliteSaver } = await import("./sqlite.ts");
  return openSqliteSaver(location);
}

interface Copy {
  readonly source: OfficialSource;
  readonly target: Store;
  readonly thread_id: ThreadVersion["thread_id"];
  readonly onProgress: (checkpoints: number) => void;
}

async function copyOne({
  source,
  target,
  thread_id: id,
  onProgress,
}: Copy): Promise<CopiedThread & { readonly version: string }> {
  if (id === null) {
    throw new RepriseError(
      "invalid_request",
      "A thread_id in the source is not text. Correct it there and copy again.",
    );
  }
  const thread_id = requireThreadId(source.graphsId(id));
  if (thread_id !== id && (await source.missingOf([thread_id])).length === 0) {
    throw new RepriseError(
      "invalid_request",
      "The source has a thread for this id as a number and one for it as a text, which are one thread in Reprise. Only the one of the text was copied.",
    );
  }
  return source.readThread(id, async (thread) => ({
    ...(await copyThread({ thread_id, thread, target, onProgress })),
    version: thread.version,
  }));
}

/** Ids that are read at a time. */
const PAGE = 200;

/** In ascending order, which new threads do not disturb. */
async function* allThreads(source: OfficialSource): AsyncGenerator<ThreadVersion> {
  let page = await source.threadsAfter(null, PAGE);
  for (let last = page.at(-1); last !== undefined; last = page.at(-1)) {
    yield* page;
    // ids that are not text come last
    page = last.thread_id === null ? [] : await source.threadsAfter(last.thread_id, PAGE);
  }
}

/** A target that has nothing but threads of the source is empty, or a copy that was interrupted. */
async function refuseOthers(source: OfficialSource, target: Store): Promise<void> {
  const sessions = await target.read(readSessionIds, { after: "", limit: 1, roots: false });
  let page = await target.read(readThreadIds, { after: "", limit: PAGE });
  let isForeign = sessions.length > 0;
  for (let last = page.at(-1); last !== undefined && !isForeign; last = page.at(-1)) {
    const missing = await source.missingOf(page.map(({ id }) => id));
    const asNumbers = missing.map((id) => `${id}.0`);
    isForeign = missing.length > 0 && (await source.missingOf(asNumbers)).length > 0;
    page = await target.read(readThreadIds, { after: last.id, limit: PAGE });
  }
  if (isForeign) {
    throw new RepriseError(
      "invalid_usage",
      "The target is not empty: it has sessions or threads that the source does not have; name an empty database, or give --into-existing to copy beside them.",
    );
  }
}

/** Failures that concern one thread; the others concern all. */
function refusalOf(thread_id: string, error: unknown): RefusedThread {
  if (
    isRepriseError(
      error,
      "thread_exists",
      "thread_of_session",
      "invalid_request",
      "database_corrupt",
      "database_unsupported",
      "internal",
    )
  ) {
    return { thread_id, code: error.code, detail: error.message };
  }
  if (error instanceof RangeError || error instanceof TypeError) {
    const detail =
      "A value of this thread cannot be copied, for example because it is nested too deeply or too long. Shorten it in the source and copy again.";
    return { thread_id, code: "database_corrupt", detail };
  }
  throw error;
}

/** Changes during the copy have to be reported to the user who moves a database. */
async function findChanged(source: OfficialSource, seen: Seen): Promise<string[]> {
  const changed: string[] = [];
  for await (const { thread_id, version } of allThreads(source)) {
    const before = seen.get(thread_id);
    if (before !== null && before !== version) {
      changed.push(thread_id ?? "");
    }
  }
  return changed;
}
