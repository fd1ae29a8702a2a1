import { KillRing } from "../pi/kill-ring.ts";
import { lineAt, type Move, type Spot } from "./moves.ts";

/** Text that is written and not sent yet. Values are never changed, so that the one before can be kept for undo. */
export interface Written extends Spot {
  readonly lines: readonly string[];
  /** Something of it was pasted, so that it is never a command. */
  readonly pasted: boolean;
}

/** Text with a cursor, undo and what was killed. A character may be a chip. */
export interface Draft {
  readonly now: Written;
  text(): string;
  isEmpty(): boolean;
  move(move: Move): void;
  /** Typed characters of one word are undone together. */
  type(text: string): void;
  insert(text: string, pasted: boolean): void;
  /** Replaces what is between a spot and the cursor. */
  splice(from: Spot, text: string): void;
  /** Removes what is between the cursor and where the move ends. */
  remove(move: Move): void;
  /** Removes text and keeps it for `yank`. Kills one after the other are yanked together. */
  kill(move: Move): void;
  yank(): void;
  /** Replaces what was just yanked by what was killed before it. */
  yankPop(): void;
  undo(): void;
  /** Replaces everything; the cursor is at the end. */
  set(text: string, pasted: boolean): void;
  /** Replaces the text, with the cursor at the given position. */
  replace(next: Written): void;
  /** The last character before the cursor was typed, and is this one. */
  hasJustTyped(character: string): boolean;
  /** Everything that `yank` and `yankPop` can bring back. */
  killed(): string;
  /** Forgets what undo would bring back. */
  forget(): void;
}

const EMPTY: Written = { lines: [""], line: 0, column: 0, pasted: false };
const MAX_UNDO = 500;

export function createDraft(): Draft {
  const ring = new KillRing();
  let now = EMPTY;
  let undos: Written[] = [];
  let last: "word" | "space" | "kill" | "yank" | null = null;
  let hasKilledPaste = false;

  const change = (next: Written): void => {
    undos.push(now);
    if (undos.length > MAX_UNDO) {
      undos.shift();
    }
    now = isBlank(next) ? EMPTY : next;
  };
  const draft: Draft = {
    get now() {
      return now;
    },
    text: () => now.lines.join("\n"),
    isEmpty: () => isBlank(now),
    move: (move) => {
      now = { ...now, ...move(now.lines, now) };
      last = null;
    },
    type: (text) => {
      const kind = /^\s/.test(text) ? "space" : "word";
      if (kind === "word" && (last === "word" || last === "space")) {
        now = inserted(now, text);
      } else {
        change(inserted(now, text));
      }
      last = kind;
    },
    insert: (text, pasted) => {
      change({ ...inserted(now, text), pasted: now.pasted || pasted });
      last = null;
    },
    splice: (from, text) => {
      change(inserted(without(now, from).rest, text));
      last = null;
    },
    remove: (move) => {
      const to = move(now.lines, now);
      if (!isSame(to, now)) {
        change(without(now, to).rest);
      }
      last = null;
    },
    kill: (move) => {
      const to = move(now.lines, now);
      if (isSame(to, now)) {
        return;
      }
      const { rest, cut } = without(now, to);
      ring.push(cut, { prepend: isBefore(to, now), accumulate: last === "kill" });
      hasKilledPaste ||= now.pasted;
      change(rest);
      last = "kill";
    },
    yank: () => {
      const text = ring.peek();
      if (text !== undefined) {
        change({ ...inserted(now, text), pasted: now.pasted || hasKilledPaste });
        last = "yank";
      }
    },
    yankPop: () => {
      if (last === "yank" && ring.length > 1) {
        now = undos.pop() ?? EMPTY;
        ring.rotate();
        draft.yank();
      }
    },
    undo: () => {
      now = undos.pop() ?? now;
      last = null;
    },
    set: (text, pasted) => {
      const lines = text.split("\n");
      const line = lines.length - 1;
      change({ lines, line, column: lineAt(lines, line).length, pasted });
      last = null;
    },
    replace: (next) => {
      change(next);
      last = null;
    },
    hasJustTyped: (character) =>
      last === "word" && lineAt(now.lines, now.line).slice(0, now.column).endsWith(character),
    killed: () => {
      let all = "";
      for (let n = 0; n < ring.length; n += 1) {
        all += ring.peek() ?? "";
        ring.rotate();
      }
      return all;
    },
    forget: () => {
      undos = [];
      now = EMPTY;
      last = null;
    },
  };
  return draft;
}

function isBlank({ lines }: Written): boolean {
  return lines.length === 1 && lines[0] === "";
}

function inserted(written: Written, text: string): Written {
  const { lines, line, column } = written;
  const current = lineAt(lines, line);
  const added = (current.slice(0, column) + text).split("\n");
  const end = added.at(-1) ?? "";
  return {
    ...written,
    lines: [
      ...lines.slice(0, line),
      ...added.slice(0, -1),
      end + current.slice(column),
      ...lines.slice(line + 1),
    ],
    line: line + added.length - 1,
    column: end.length,
  };
}

/** Without what is between the cursor and a spot. */
function without(written: Written, to: Spot): { readonly rest: Written; readonly cut: string } {
  const [from, until] = isBefore(to, written) ? [to, written] : [written, to];
  const { lines } = written;
  const text = lines.slice(from.line, until.line + 1).join("\n");
  const after = lineAt(lines, until.line).length - until.column;
  const joined = lineAt(lines, from.line).slice(0, from.column) + text.slice(text.length - after);
  return {
    rest: {
      ...written,
      lines: [...lines.slice(0, from.line), joined, ...lines.slice(until.line + 1)],
      line: from.line,
      column: from.column,
    },
    cut: text.slice(from.column, text.length - after),
  };
}

function isBefore(one: Spot, other: Spot): boolean {
  return one.line < other.line || (one.line === other.line && one.column < other.column);
}

function isSame(one: Spot, other: Spot): boolean {
  return one.line === other.line && one.column === other.column;
}
