/** Text that may be written at the cursor. */
export interface Completion {
  /** Replaces what was written of it. */
  readonly text: string;
  /** As the list shows it; of a long one its end. */
  readonly label: string;
  readonly help?: string;
  /** A command without an argument: Enter sends it. */
  readonly isWhole?: boolean;
}

export interface Found {
  /** How many characters before the cursor are replaced. */
  readonly length: number;
  /** The best first. */
  readonly items: readonly Completion[];
  /** Sentence below them: what happens with the one that is taken. */
  readonly note?: string;
}

/** Finds what may be written, without waiting: what is not known yet comes later. */
export interface Completions {
  /** Another number once `find` may find more. */
  version(): number;
  /** Null if nothing can be completed after this text. */
  find(before: string): Found | null;
}

/** Asks one after the other; the first that finds something is used. */
export function firstOf(all: readonly Completions[]): Completions {
  return {
    version: () => all.reduce((sum, each) => sum + each.version(), 0),
    find: (before) => {
      for (const each of all) {
        const found = each.find(before);
        if (found !== null) {
          return found;
        }
      }
      return null;
    },
  };
}
