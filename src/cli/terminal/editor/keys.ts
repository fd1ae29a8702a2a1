import type { Draft } from "./draft.ts";
import {
  killEnd,
  killStart,
  left,
  lineEnd,
  lineStart,
  type Move,
  right,
  wordLeft,
  wordRight,
} from "./moves.ts";

/** Edits of a draft by the name that `parseKey` gives each key. */
const EDITS: Readonly<Record<string, (draft: Draft) => void>> = {
  ...each(["left", "ctrl+b"], moving(left)),
  ...each(["right", "ctrl+f"], moving(right)),
  ...each(["alt+left", "ctrl+left", "alt+b"], moving(wordLeft)),
  ...each(["alt+right", "ctrl+right", "alt+f"], moving(wordRight)),
  ...each(["home", "ctrl+a"], moving(lineStart)),
  ...each(["end", "ctrl+e"], moving(lineEnd)),
  ...each(
    ["ctrl+home"],
    moving(() => ({ line: 0, column: 0 })),
  ),
  ...each(
    ["ctrl+end"],
    moving((lines) => lineEnd(lines, { line: lines.length - 1, column: 0 })),
  ),
  ...each(["backspace", "shift+backspace", "ctrl+h"], removing(left)),
  ...each(["delete", "shift+delete", "ctrl+d"], removing(right)),
  ...each(["ctrl+w", "alt+backspace", "ctrl+backspace"], killing(wordLeft)),
  ...each(["alt+d", "alt+delete", "ctrl+delete"], killing(wordRight)),
  ...each(["ctrl+u"], killing(killStart)),
  ...each(["ctrl+k"], killing(killEnd)),
  ...each(["ctrl+y"], (draft) => draft.yank()),
  ...each(["alt+y"], (draft) => draft.yankPop()),
  ...each(["ctrl+-", "ctrl+/", "ctrl+_"], (draft) => draft.undo()),
  ...each(["shift+enter", "alt+enter", "ctrl+j", "ctrl+enter"], (draft) => draft.type("\n")),
};

/** Returns what a key does to a draft; undefined if it does nothing. */
export function editOf(key: string): ((draft: Draft) => void) | undefined {
  return Object.hasOwn(EDITS, key) ? EDITS[key] : undefined;
}

function each(keys: readonly string[], edit: (draft: Draft) => void) {
  return Object.fromEntries(keys.map((key) => [key, edit]));
}

function moving(move: Move) {
  return (draft: Draft): void => draft.move(move);
}

function removing(move: Move) {
  return (draft: Draft): void => draft.remove(move);
}

function killing(move: Move) {
  return (draft: Draft): void => draft.kill(move);
}
