import { oneLine, titleLine, visible } from "../../core/text/terminal-text.ts";
import type { SearchResult } from "../../store/records/search/find.ts";
import type { SearchPage } from "../../store/search.ts";
import { age } from "./ages.ts";

/** Results of one page: a line for each session in a row, and below it one for each message. */
export function searchLines(
  results: readonly SearchResult[],
  mark: (word: string) => string,
): string[] {
  const lines: string[] = [];
  let before: string | null = null;
  for (const result of results) {
    if (result.session_id !== before) {
      lines.push(`${result.session_id}  ${titleLine(result)}`);
      before = result.session_id;
    }
    lines.push(`  ${placeOf(result)}  ${excerptLine(result, mark)}`);
  }
  return lines;
}

function placeOf({ seq, role, ts }: SearchResult): string {
  const ago = age(Date.now() - Date.parse(ts));
  return seq === null ? `title, ${ago}` : `${seq} ${role ?? ""}, ${ago}`;
}

/** An excerpt for a terminal, with its marked words. */
function excerptLine(
  { excerpt, marks }: Pick<SearchResult, "excerpt" | "marks">,
  mark: (word: string) => string,
): string {
  let line = "";
  let at = 0;
  for (const [from, to] of marks) {
    line += visible(excerpt.slice(at, from)) + mark(oneLine(excerpt.slice(from, to)));
    at = to;
  }
  return (line + visible(excerpt.slice(at))).trim();
}

/** A sentence about messages that a search could not reach; null if it reached all. */
export function incompleteNote({ complete, indexed_until }: SearchPage): string | null {
  if (complete) {
    return null;
  }
  return indexed_until === null
    ? "Words of one or two characters are searched in the newest 50,000 messages only; add a longer word to search all of them."
    : "Not every session is indexed yet; search once more to index the next ones.";
}
