/**
 * Cuts a text into chunks. Only the characters before a cut decide that it is one, so an edit, an
 * insertion or a removal changes the chunks around it, and all others stay the same texts.
 */
export function chunksOf(text: string): string[] {
  const chunks: string[] = [];
  const average = averageFor(text.length);
  for (let start = 0; start < text.length;) {
    const end = cutAfter(text, start, average);
    chunks.push(text.slice(start, end));
    start = end;
  }
  return chunks;
}

/** UTF-16 units of a chunk, up to `FEW` of them in a text. */
const SMALL = 1024;
const FEW = 32;

/**
 * A changed chunk is stored again, and the number of every chunk is in each checkpoint. So both
 * grow with the square root of the text: 50 KB are 25 chunks of 2 KB, and 1 MB are 128 of 8 KB.
 */
function averageFor(length: number): number {
  let average = SMALL;
  for (let most = FEW; length > most * average; most *= 2) {
    average *= 2;
  }
  return average;
}

/** Any odd number whose bits are well mixed. */
const SPREAD = 0x9e3779b1;

/** The end of the chunk that begins at `start`. */
function cutAfter(text: string, start: number, average: number): number {
  const min = average / 2;
  const end = Math.min(text.length, start + 4 * average);
  const unlikely = 32 - Math.log2(min);
  // each character moves up one bit with every one after it, so the last 32 decide
  let hash = 0;
  for (let index = start + min - 32; index < end; index += 1) {
    hash = ((hash << 1) + Math.imul(text.charCodeAt(index), SPREAD)) | 0;
    // true once in `min` characters
    if (hash >>> unlikely === 0 && index >= start + min) {
      return afterCharacter(text, index + 1);
    }
  }
  return afterCharacter(text, end);
}

/** Returns the place, or the next one if it is within a surrogate pair: neither engine keeps a half. */
function afterCharacter(text: string, place: number): number {
  const next = text.charCodeAt(place);
  return next >= 0xdc00 && next <= 0xdfff ? place + 1 : place;
}
