import { setTimeout as sleep } from "node:timers/promises";

import { CHANGES_PAGE_ROWS, LIVE_POLL_MS } from "../../core/limits.ts";
import {
  type ChangePosition,
  type ChangesPage,
  readChanges,
  type ReadChanges,
  type SentAhead,
} from "../../store/changes/read-changes.ts";
import type { LostSessions } from "../../store/changes/lost-sessions.ts";
import type { Store } from "../../store/store.ts";
import { readWhenThere } from "../../exchange/live/read-when-there.ts";
import type { SessionWatcher } from "../../exchange/live/session-watcher.ts";
import { bytesOf } from "./change-events.ts";

/** Where a reader is. */
export interface ChangeCursor {
  /** Null for one that knows nothing. */
  readonly after: ChangePosition | null;
  /** The next of the shared pages; null for a reader that has not come to them yet. */
  readonly page: number | null;
}

export interface EncodedChanges {
  /** Null if there is nothing. */
  readonly bytes: Buffer | null;
  readonly cursor: ChangeCursor;
}

/** The changes of all sessions, for all readers of a process. */
export interface ChangeFeed {
  /** What follows the cursor, once there is something. Error codes: `database_*`. */
  next(cursor: ChangeCursor, signal: AbortSignal): Promise<EncodedChanges>;
  close(): void;
}

export interface ChangeFeedOptions {
  readonly store: Store;
  readonly watcher: SessionWatcher;
  /** Bytes that a reader gets at once at most, unless one change has more. */
  readonly unsentBytes: number;
  readonly onFailure: (error: unknown) => void;
}

/** Pages that are kept for readers that take them later; one that is slower reads for itself. */
const KEPT_PAGES = 32;
/** How often it is checked whether the processes that run exchanges are alive. */
const REFRESH_MS = 15_000;
/** Changes that come sooner after others go together. */
const GATHER_MS = LIVE_POLL_MS;
/** Reading takes at most this part of the time. */
const READ_SHARE = 1 / 20;

const NOTHING_AHEAD: SentAhead = new Map();
const NONE_LOST: LostSessions = new Set();

/**
 * One loop reads what is new, for all readers. A reader that was away reads by itself until it has all, and then takes
 * the pages that the loop has read since it asked:
 *
 *     away ── own pages, at its own pace ──> shared pages ──┐
 *       ^                                        ^──────────┤ waits for the next one
 *       └──────────── too slow: its page is not kept ───────┘
 */
export function createChangeFeed(options: ChangeFeedOptions): ChangeFeed {
  const { store, watcher, unsentBytes, onFailure } = options;
  const closing = new AbortController();
  const pages: { readonly bytes: Buffer; readonly position: ChangePosition }[] = [];
  let nextPage = 0;
  const waiting = new Set<() => void>();
  const notBegun = new Map<string, Promise<ChangesPage>>();
  /** Of the loop: its readers are cut and come again. */
  let failure: { readonly error: unknown } | null = null;
  let wakeLoop = Promise.withResolvers<void>();
  const endWatch = watcher.watchAll(() => wakeLoop.resolve());

  const read = (
    input: Pick<ReadChanges, "after" | "ahead" | "lost">,
    onBegin?: () => void,
  ): Promise<ChangesPage> => {
    const operation: typeof readChanges = (tx, given) => {
      onBegin?.();
      return readChanges(tx, given);
    };
    const limits = { max_rows: CHANGES_PAGE_ROWS, max_bytes: unsentBytes };
    return store.read(operation, { ...input, ...limits });
  };
  const begun = read({ after: null, ahead: NOTHING_AHEAD, lost: NONE_LOST });
  begun.catch(() => undefined);

  const resumeWaiting = (): void => {
    for (const resume of waiting) {
      resume();
    }
    waiting.clear();
  };
  const addPage = (page: ChangesPage): void => {
    const bytes = bytesOf(page);
    if (bytes === null) {
      return;
    }
    pages.push({ bytes, position: page.position });
    pages.splice(0, pages.length - KEPT_PAGES);
    nextPage += 1;
    resumeWaiting();
  };
  const run = async (first: ChangesPage): Promise<void> => {
    const { signal } = closing;
    let known = first;
    let lost = first.lost ?? NONE_LOST;
    let refreshAt = performance.now() + REFRESH_MS;
    while (!signal.aborted) {
      await Promise.race([wakeLoop.promise, pause(refreshAt - performance.now(), signal)]);
      wakeLoop = Promise.withResolvers();
      const began = performance.now();
      const isRefresh = began >= refreshAt;
      const { position: after, ahead } = known;
      const page = await readWhenThere(
        () => read({ after, ahead, lost: isRefresh ? lost : null }),
        signal,
      );
      if (page === null) {
        return;
      }
      const changed = new Set(page.changes.map(({ id }) => id));
      lost = page.lost ?? new Set([...lost].filter((id) => !changed.has(id)));
      refreshAt = isRefresh ? began + REFRESH_MS : refreshAt;
      known = page;
      addPage(page);
      if (page.more) {
        wakeLoop.resolve();
      } else {
        await pause(Math.max(GATHER_MS, (performance.now() - began) / READ_SHARE), signal);
      }
    }
  };
  begun
    .then(run, () => undefined)
    .catch((error: unknown) => {
      failure = { error };
      onFailure(error);
      resumeWaiting();
    });

  /** Readers that ask for the same before its read has begun share it: after a restart, all do. */
  const readAlone = (after: ChangePosition | null): Promise<ChangesPage> => {
    const key = `${after?.numbers} ${after?.at} ${nextPage}`;
    const over = (): void => {
      if (notBegun.get(key) === page) {
        notBegun.delete(key);
      }
    };
    const page: Promise<ChangesPage> =
      notBegun.get(key) ??
      read({ after, ahead: NOTHING_AHEAD, lost: NONE_LOST }, over).finally(over);
    notBegun.set(key, page);
    return page;
  };
  const pageAfter = async (page: number, signal: AbortSignal): Promise<void> => {
    while (page === nextPage && failure === null && !signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const stop = (): void => resolve();
      waiting.add(stop);
      signal.addEventListener("abort", stop);
      await promise;
      signal.removeEventListener("abort", stop);
      waiting.delete(stop);
    }
  };

  return {
    next: async ({ after, page }, signal) => {
      if (page !== null) {
        await pageAfter(page, signal);
        if (failure !== null) {
          throw failure.error;
        }
        const kept = pages[page - (nextPage - pages.length)];
        if (kept !== undefined) {
          return { bytes: kept.bytes, cursor: { after: kept.position, page: page + 1 } };
        }
      }
      await begun;
      const shared = nextPage;
      const own = await readAlone(after);
      const cursor = { after: own.position, page: own.more ? null : shared };
      return { bytes: bytesOf(own), cursor };
    },
    close: () => {
      closing.abort();
      endWatch();
    },
  };
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(Math.max(0, ms), null, { signal, ref: false }).catch(() => undefined);
}
