import { setTimeout as sleep } from "node:timers/promises";

import { ChangeCounter } from "../../core/change-counter.ts";
import { CHANGES_PAGE_ROWS, LIVE_POLL_MS } from "../../core/limits.ts";
import {
  type ChangePosition,
  type ChangesPage,
  readChanges,
  type ReadChanges,
  type SentAhead,
} from "../../store/records/changes/read-changes.ts";
import type { PhaseTexts } from "../../store/records/changes/read-values.ts";
import type { LostSessions } from "../../store/records/changes/lost-sessions.ts";
import type { Store } from "../../store/store.ts";
import { readRunPhases } from "../../plans/run-detail.ts";
import { pauseAfter } from "../../exchange/live/pause-after.ts";
import { readWhenThere } from "../../exchange/live/read-when-there.ts";
import type { SessionWatcher } from "../../exchange/live/session-watcher.ts";
import { SharedReads } from "../../exchange/live/shared-reads.ts";
import type { Source } from "../../exchange/live/source.ts";
import type { SentPortion } from "../stream/serving.ts";
import { phaseFor } from "../shown-failure.ts";
import { bytesOf } from "./change-events.ts";

/** Where a reader is. */
export interface ChangeCursor {
  /** Null for one that knows nothing. */
  readonly after: ChangePosition | null;
  /** The next of the shared pages; null for a reader that has not come to them yet. */
  readonly page: number | null;
}

export type EncodedChanges = SentPortion<ChangeCursor>;

/** The changes of all sessions, for all readers of a process. */
export interface ChangeFeed extends Source<ChangeCursor, EncodedChanges> {
  close(): void;
}

export interface ChangeFeedOptions {
  readonly store: Store;
  readonly watcher: SessionWatcher;
  /** Bytes that a reader gets at once at most, unless one change has more. */
  readonly unsentBytes: number;
  readonly onFailure: (error: unknown) => void;
  /** Called once it can be read no more: it was closed, or has failed. */
  readonly onOver: () => void;
}

/** Pages that are kept for readers that take them later; one that is slower reads for itself. */
const KEPT_PAGES = 32;
/** How often it is checked whether the processes that run exchanges are alive. */
const REFRESH_MS = 15_000;
/** Changes that come sooner after others go together. */
const GATHER_MS = LIVE_POLL_MS;

const NOTHING_AHEAD: SentAhead = new Map();
const NONE_LOST: LostSessions = new Set();

/**
 * Reads what is new in one loop, for all readers. A reader that was away reads by itself until it has all, and then takes
 * the pages that the loop has read since it asked:
 *
 *     away ── own pages, at its own pace ──> shared pages ──┐
 *       ^                                        ^──────────┤ waits for the next one
 *       └──────────── too slow: its page is not kept ───────┘
 */
export function createChangeFeed(options: ChangeFeedOptions): ChangeFeed {
  const { store, watcher, unsentBytes, onFailure, onOver } = options;
  const closing = new AbortController();
  const pages: EncodedChanges[] = [];
  let nextPage = 0;
  const added = new ChangeCounter();
  const reads = new SharedReads<ChangesPage>();
  /** Failure of the loop: its readers are cut and come again. */
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
    return store.read(operation, { ...input, ...limits, phases: readPhaseTexts });
  };
  const begun = read({ after: null, ahead: NOTHING_AHEAD, lost: NONE_LOST });
  begun.catch(onOver);

  const addPage = (page: ChangesPage): void => {
    const next = encoded(page, nextPage + 1);
    if (next.bytes !== null) {
      pages.push(next);
      pages.splice(0, pages.length - KEPT_PAGES);
      nextPage += 1;
      added.add();
    }
  };
  const run = async (first: ChangesPage): Promise<void> => {
    const { signal } = closing;
    let known = first;
    let lost = first.lost ?? NONE_LOST;
    let refreshAt = performance.now() + REFRESH_MS;
    while (!signal.aborted) {
      await Promise.race([wakeLoop.promise, pause(refreshAt - performance.now(), signal)]);
      wakeLoop = Promise.withResolvers();
      let began = performance.now();
      const isRefresh = began >= refreshAt;
      const { position: after, ahead } = known;
      const page = await readWhenThere(() => {
        // the time in which the database was away is not that of a read
        began = performance.now();
        return read({ after, ahead, lost: isRefresh ? lost : null });
      }, signal);
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
        await pause(Math.max(GATHER_MS, pauseAfter(performance.now() - began)), signal);
      }
    }
  };
  begun
    .then(run, () => undefined)
    .catch((error: unknown) => {
      failure = { error };
      onOver();
      onFailure(error);
      added.add();
    });

  /** After a restart, all readers ask for the same. */
  const readAlone = async (after: ChangePosition | null): Promise<EncodedChanges> => {
    await begun;
    const shared = nextPage;
    const own = await reads.read(`${after?.numbers} ${after?.at} ${shared}`, (onBegin) =>
      read({ after, ahead: NOTHING_AHEAD, lost: NONE_LOST }, onBegin),
    );
    return encoded(own, own.more ? null : shared);
  };

  return {
    changed: ({ page }, signal) => {
      const isThere = page !== nextPage || failure !== null;
      return isThere ? Promise.resolve() : added.changed(added.count, signal);
    },
    read: async ({ after, page }) => {
      if (page !== null && failure !== null) {
        throw failure.error;
      }
      const kept = page === null ? undefined : pages[page - (nextPage - pages.length)];
      return kept ?? readAlone(after);
    },
    close: () => {
      closing.abort();
      endWatch();
      onOver();
    },
  };
}

/** The texts of providers are left out: all callers get the same event. */
const readPhaseTexts: PhaseTexts = async (tx, input) => {
  const phases = await readRunPhases(tx, input);
  return phases.map((phase) => JSON.stringify({ ...input, phase: phaseFor("reader", phase) }));
};

function encoded(page: ChangesPage, next: number | null): EncodedChanges {
  return {
    bytes: bytesOf(page),
    storedMs: [],
    cursor: { after: page.position, page: next },
    more: next === null,
    isLast: false,
  };
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(Math.max(0, ms), null, { signal, ref: false }).catch(() => undefined);
}
