/** From an offset in UTF-16 code units to a line and a column, both from 1. */
export type LineIndex = (offset: number) => { readonly line: number; readonly column: number };

/** Indexes the text's lines, which end with LF, CR LF or CR. */
export function createLineIndex(text: string): LineIndex {
  const starts = lineStarts(text);
  return (offset) => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((starts[middle] ?? 0) <= offset) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  };
}

function lineStarts(text: string): number[] {
  const starts = [0];
  if (text.includes("\r")) {
    for (const match of text.matchAll(/\r\n|\n|\r/g)) {
      starts.push(match.index + match[0].length);
    }
    return starts;
  }
  // several times as fast as the pattern, and nearly every text is written so
  for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", end + 1)) {
    starts.push(end + 1);
  }
  return starts;
}
