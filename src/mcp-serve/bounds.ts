/** Sizes of results, which a model reads. Characters are UTF-16 units. */

/** Characters of all items of a result: about 5,000 tokens. */
export const MAX_RESULT_CHARS = 20_000;
/** Characters of one text among others; the rest is read with `seq` and `offset`. */
export const MAX_TEXT_CHARS = 4_000;
/** Characters of the arguments of a call, of a question, and of a line about something. */
export const MAX_ARGS_CHARS = 500;
export const MAX_QUESTION_CHARS = 2_000;
export const MAX_LINE_CHARS = 300;
/** Calls of one answer, and keys of phases, that a result names. */
export const MAX_NAMED = 20;

/** A piece of a text, and where the next one begins; null at its end. */
export interface Piece {
  readonly text: string;
  readonly next_offset: number | null;
}

/** Cuts a piece out of a text, never in the middle of a character. */
export function pieceOf(text: string, offset: number, max: number): Piece {
  const from = startOf(text, offset);
  const to = startOf(text, from + max);
  return { text: text.slice(from, to), next_offset: to < text.length ? to : null };
}

/** A position that is not between the two units of a character. */
function startOf(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff && at > 0 ? at - 1 : Math.min(at, text.length);
}

/** The beginning of a text, with a mark if it is cut. */
export function beginning(text: string, max: number): string {
  const { text: begun, next_offset } = pieceOf(text, 0, max);
  return next_offset === null ? begun : `${begun}…`;
}

/** Makes the first items that fit into a result, one at least; what does not fit is not made. */
export function fitting<Given, Item>(
  given: readonly Given[],
  make: (given: Given) => Item,
  max = MAX_RESULT_CHARS,
): readonly Item[] {
  const items: Item[] = [];
  let left = max;
  for (const each of given) {
    const item = make(each);
    left -= JSON.stringify(item).length;
    if (left < 0 && items.length > 0) {
      break;
    }
    items.push(item);
  }
  return items;
}
