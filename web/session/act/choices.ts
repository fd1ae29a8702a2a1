/** Lines of a question that are shown at first: from its head, and from its end. */
const HEAD_LINES = 140;
const TAIL_LINES = 50;

/** The first line says what is asked; the rest is what would happen. */
export interface Asked {
  readonly title: string;
  readonly head: string;
  /** Null if all is in the head. */
  readonly tail: string | null;
  readonly leftOut: number;
  readonly isDiff: boolean;
}

export function askedOf(text: string): Asked {
  const [title = "", ...lines] = text.split("\n");
  const isDiff = lines.some((line) => /^@@ -\d/.test(line));
  if (lines.length <= HEAD_LINES + TAIL_LINES) {
    return { title, head: lines.join("\n"), tail: null, leftOut: 0, isDiff };
  }
  return {
    title,
    head: lines.slice(0, HEAD_LINES).join("\n"),
    tail: lines.slice(-TAIL_LINES).join("\n"),
    leftOut: lines.length - HEAD_LINES - TAIL_LINES,
    isDiff,
  };
}
