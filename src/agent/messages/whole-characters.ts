/** The first half of a pair of surrogates: the second one comes with the next piece of the text. */
const HALF_CHARACTER = /[\ud800-\udbff]$/;

/** Cuts a piece of a text before a half character at its end. */
export function cutBeforeHalf(piece: string): { readonly whole: string; readonly half: string } {
  const half = HALF_CHARACTER.exec(piece)?.[0] ?? "";
  return { whole: piece.slice(0, piece.length - half.length), half };
}
