/** Finished group of calls, in lines for a pager. */
export interface Details {
  readonly title: string;
  readonly rows: string[];
}

interface Entry {
  readonly title: string;
  /** Characters that it keeps. */
  readonly size: number;
  readonly lines: () => string[];
}

/** Groups and characters that are kept at most, of the latest groups. */
const MAX_ENTRIES = 500;
const MAX_KEPT = 4 * 1024 * 1024;

/** Finished groups by their numbers, the latest ones. */
export interface CallLog {
  /** The number of the next group. */
  next(): number;
  /** Keeps a group under a number that `next` returned. */
  keep(n: number, entry: Entry): void;
  /** The group with this number, else the latest; null for one that is not kept. Lines are clean, and of any width. */
  details(n?: number): Details | null;
}

export function createCallLog(): CallLog {
  const entries = new Map<number, Entry>();
  let last = 0;
  let kept = 0;
  return {
    next: () => (last += 1),
    keep: (n, entry) => {
      entries.set(n, entry);
      kept += entry.size;
      for (const [oldest, { size }] of entries) {
        if (oldest === n || (entries.size <= MAX_ENTRIES && kept <= MAX_KEPT)) {
          return;
        }
        entries.delete(oldest);
        kept -= size;
      }
    },
    details: (n = last) => {
      const entry = entries.get(n);
      return entry === undefined ? null : { title: entry.title, rows: entry.lines() };
    },
  };
}
