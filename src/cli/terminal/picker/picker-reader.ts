import type { PickedSession } from "./picked-sessions.ts";
import type { PickerFilters } from "./picker-filters.ts";
import type { Preview, SessionSource } from "./picker-source.ts";

export interface ReaderEvents {
  /** Whether more sessions are needed than are known. */
  needsMore(): boolean;
  /** Sessions came. */
  arrived(): void;
  previewed(): void;
  failed(error: unknown): void;
}

/** Milliseconds between two times that sessions are shown while many pages are read. */
const SHOWN_MS = 100;

/** Reads sessions and previews of a source while they are needed. */
export function createPickerReader(source: SessionSource, on: ReaderEvents) {
  const known = new Map<string, PickedSession>();
  const previews = new Map<string, Preview>();
  let pages: ReturnType<SessionSource["open"]> | null = null;
  let more = true;
  let reading: Promise<void> | null = null;
  let previewing: string | null = null;
  let isOver = false;

  const readPages = async (): Promise<void> => {
    let shownAt = -Infinity;
    let isShown = true;
    try {
      while (!isOver && pages !== null && more && on.needsMore()) {
        const from = pages;
        const page = await from.next();
        if (from === pages) {
          more = page.more;
          page.sessions.forEach((session) => known.set(session.id, session));
          isShown = performance.now() - shownAt > SHOWN_MS;
          if (isShown) {
            on.arrived();
            shownAt = performance.now();
          }
        }
        // keys come before the next page
        await new Promise((resolve) => setImmediate(resolve));
      }
      if (!isShown) {
        on.arrived();
      }
    } catch (error) {
      more = false;
      on.failed(error);
    }
  };

  return {
    known,
    preview: (id: string | undefined): Preview | null => previews.get(id ?? "") ?? null,
    /** Whether there may be sessions that are not known. */
    more: (): boolean => more,
    /** Begins again with other filters. */
    open: (filters: PickerFilters): void => {
      known.clear();
      more = true;
      pages = source.open(filters);
    },
    /** Resolves when as many are known as are needed; does not reject. */
    read: (): Promise<void> => (reading ??= readPages().finally(() => (reading = null))),
    /** Reads one at a time: a key that is held down queues no reads. `wanted` is the session that is selected then. */
    readPreview: async (wanted: () => string | undefined): Promise<void> => {
      for (let id = wanted(); previewing === null && id !== undefined; id = wanted()) {
        if (previews.has(id) || isOver) {
          return;
        }
        previewing = id;
        const preview = await source.preview(id).catch(() => ({ messages: [], subagents: 0 }));
        previewing = null;
        previews.set(id, preview);
        on.previewed();
      }
    },
    close: (): void => {
      isOver = true;
    },
  };
}
