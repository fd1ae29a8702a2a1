/** Widths of cleaned text in columns of a terminal, before it is styled. */
export interface Measure {
  width(text: string): number;
  /** At most so many columns; what is cut off is an ellipsis. */
  cut(text: string, width: number): string;
  /** Cuts the beginning off: the end of the text is kept, which is what differs between paths. */
  cutStart(text: string, width: number): string;
}

/** Characters of one column each, on every terminal. */
const SINGLE = /^[\u0020-\u007e\u00a1-\u00ac\u00ae-\u02ff·…└├│]*$/;

/** Loads what knows about wide characters only if some text has characters that may not be one column. */
export async function measureFor(texts: Iterable<string>): Promise<Measure> {
  for (const text of texts) {
    if (!SINGLE.test(text)) {
      const { sliceByColumn, visibleWidth } = await import("../pi/text.ts");
      return createMeasure(visibleWidth, (text, from, width) =>
        sliceByColumn(text, from, width, true),
      );
    }
  }
  return SINGLE_COLUMNS;
}

function createMeasure(
  widthOf: (text: string) => number,
  slice: (text: string, from: number, width: number) => string,
): Measure {
  const fits = (text: string, width: number): boolean => widthOf(text) <= width;
  return {
    width: widthOf,
    cut: (text, width) => (fits(text, width) ? text : `${slice(text, 0, width - 1).trimEnd()}…`),
    cutStart: (text, width) =>
      fits(text, width) ? text : `…${slice(text, widthOf(text) - width + 1, width - 1)}`,
  };
}

/** For text of which each character has one column. */
const SINGLE_COLUMNS = createMeasure(
  (text) => text.length,
  (text, from, width) => text.slice(from, from + width),
);
