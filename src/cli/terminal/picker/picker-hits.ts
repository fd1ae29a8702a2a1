import type { PickedHit } from "./picked-sessions.ts";
import type { SessionSource } from "./picker-source.ts";

/** Milliseconds without a key after which messages are searched. */
const PAUSE_MS = 150;

export interface HitEvents {
  arrived(): void;
  failed(error: unknown): void;
}

/** Searches messages for what was typed last: a key ends the search before it. */
export function createPickerHits(source: SessionSource, on: HitEvents) {
  let hits: readonly PickedHit[] = [];
  let ending = new AbortController();
  let isSearching = false;

  const find = async (query: string, archived: boolean, signal: AbortSignal): Promise<void> => {
    try {
      const found = await source.search({ query, archived, signal });
      if (!signal.aborted) {
        hits = found;
      }
    } catch (error) {
      if (!signal.aborted) {
        on.failed(error);
      }
    }
    if (!signal.aborted) {
      isSearching = false;
      on.arrived();
    }
  };
  const stop = (): void => {
    ending.abort();
    ending = new AbortController();
    hits = [];
    isSearching = false;
  };
  return {
    found: (): readonly PickedHit[] => hits,
    /** Whether messages may still be found. */
    isSearching: (): boolean => isSearching,
    search: (query: string, archived: boolean): void => {
      stop();
      const { signal } = ending;
      if (query.trim() !== "") {
        isSearching = true;
        const timer = setTimeout(() => void find(query, archived, signal), PAUSE_MS);
        signal.addEventListener("abort", () => clearTimeout(timer));
      }
    },
    close: stop,
  };
}
