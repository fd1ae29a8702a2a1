import type { SearchPage } from "../../src/entries/client.ts";

/** A part of an excerpt. */
export interface ExcerptPart {
  readonly text: string;
  readonly isMarked: boolean;
}

/** The parts of an excerpt between and in its marks; empty ones are left out. */
export function markedParts({
  excerpt,
  marks,
}: Pick<SearchPage["results"][number], "excerpt" | "marks">): ExcerptPart[] {
  const parts: ExcerptPart[] = [];
  let last = 0;
  for (const [from = 0, to = 0] of marks) {
    parts.push({ text: excerpt.slice(last, from), isMarked: false });
    parts.push({ text: excerpt.slice(from, to), isMarked: true });
    last = to;
  }
  parts.push({ text: excerpt.slice(last), isMarked: false });
  return parts.filter(({ text }) => text !== "");
}

/** A sentence about messages that a search left out; null if it left out none. */
export function incompleteSentence({
  complete,
  indexed_until,
}: Pick<SearchPage, "complete" | "indexed_until">): string | null {
  if (complete) {
    return null;
  }
  return indexed_until === null
    ? "Words of one or two characters are searched in the newest 50,000 messages only."
    : "Not every session is indexed yet: search again to index the next ones.";
}
