import type { History, HistoryEntry } from "../../chat/history.ts";
import type { Draft, Written } from "./draft.ts";
import type { Layout } from "./layout.ts";
import { lineAt, lineEnd, lineStart } from "./moves.ts";

/** Keys that move by rows, and from the first and last row through the history. Each returns if it did anything. */
export interface RowKeys {
  up(): boolean;
  down(): boolean;
  move(by: number): boolean;
}

export function createRowKeys({
  draft,
  layout,
  history,
  set,
}: {
  readonly draft: Draft;
  readonly layout: () => Layout;
  readonly history: Pick<History, "entries">;
  readonly set: (entry: HistoryEntry) => void;
}): RowKeys {
  /** The entry that is shown, counted from the latest: 1; and those that it is one of. */
  let steps = 0;
  let entries: readonly HistoryEntry[] = [];
  let shown: Written | null = null;
  /** Text that was being written before. */
  let first: Written | null = null;

  /** True if the entry that is shown was not changed; a move of the cursor keeps the lines. */
  const isEntry = (): boolean => shown !== null && shown.lines === draft.now.lines;
  const move = (by: number): boolean => {
    const to = layout().vertical(by);
    if (to !== null) {
      draft.move(to);
    }
    return to !== null;
  };
  const older = (): boolean => {
    if (steps === 0 || !isEntry()) {
      [steps, first, entries] = [0, draft.now, history.entries()];
    }
    const entry = entries.at(-steps - 1);
    if (entry === undefined) {
      return false;
    }
    steps += 1;
    set(entry);
    // at the end of the first line: one more Up is the next older one
    draft.move((lines) => lineEnd(lines, { line: 0, column: 0 }));
    shown = draft.now;
    return true;
  };
  const newer = (): boolean => {
    if (!isEntry() || steps === 0) {
      return false;
    }
    steps -= 1;
    const entry = entries.at(-steps);
    if (steps > 0 && entry !== undefined) {
      set(entry);
    } else if (first !== null) {
      draft.replace(first);
    }
    shown = draft.now;
    return true;
  };
  return {
    move,
    up: () => {
      if (move(-1)) {
        return true;
      }
      if (draft.now.column === 0 || isEntry()) {
        return older();
      }
      draft.move(lineStart);
      return true;
    },
    down: () => {
      if (move(1) || newer()) {
        return true;
      }
      const { lines, line, column } = draft.now;
      draft.move(lineEnd);
      return column < lineAt(lines, line).length;
    },
  };
}
