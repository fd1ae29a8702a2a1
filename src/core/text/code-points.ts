/** Code points of a well-formed text. */
export function codePoints(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at += 1) {
    count += isSecondHalf(text.charCodeAt(at)) ? 0 : 1;
  }
  return count;
}

/** Where so many code points of a well-formed text end, in UTF-16 units; null if it has fewer. */
export function endOf(text: string, points: number): number | null {
  let at = 0;
  for (let left = points; left > 0; left -= 1) {
    if (at >= text.length) {
      return null;
    }
    at += isSecondHalf(text.charCodeAt(at + 1)) ? 2 : 1;
  }
  return at;
}

function isSecondHalf(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
