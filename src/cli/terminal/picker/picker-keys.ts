import { type KeyId, matchesKey } from "../pi/keys.ts";

const MOVES: readonly (readonly [KeyId, (page: number) => number])[] = [
  ["up", () => -1],
  ["ctrl+p", () => -1],
  ["down", () => 1],
  ["ctrl+n", () => 1],
  ["pageUp", (page) => -page],
  ["pageDown", (page) => page],
  ["home", () => -Infinity],
  ["end", () => Infinity],
];

/** By how many rows of a list the key moves; null for another key. */
export function moveOf(key: string, page: number): number | null {
  const [, rows] = MOVES.find(([id]) => matchesKey(key, id)) ?? [];
  return rows === undefined ? null : rows(page);
}

export function isLeaving(key: string): boolean {
  return matchesKey(key, "escape") || matchesKey(key, "ctrl+c");
}
