import { titleLine, visible } from "../../core/text/terminal-text.ts";
import type { SearchResult } from "../../store/records/search/find.ts";
import type { SearchPage } from "../../store/search.ts";
import { age } from "./ages.ts";

/** Results of one page: a line for each session in a row, and below it one for each message. */
export function searchLines(results: readonly SearchResult[]): string[] {
  const lines: string[] = [];
  let before: string | null = null;
  for (const result of results) {
    if (result.session_id !== before) {
      lines.push(`${result.session_id}  ${titleLine(result)}`);
      before = result.session_id;
    }
    lines.push(`  ${placeOf(result)}  ${visible(result.excerpt).trim()}`);
  }
  return lines;
}

function placeOf({ seq, role, ts }: SearchResult): string {
  const ago = age(Date.now() - Date.parse(ts));
  return seq === null ? `title, ${ago}` : `${seq} ${role ?? ""}, ${ago}`;
}

/** Commands that open a result. */
export const OPEN_RESULT =
  "`reprise sessions show <id> --at <n>` shows a message and those around it; `reprise resume <id>` continues its session.";

/** Sentences about what a search did not show. */
export function searchNotices({ results, next, complete, indexed_until }: SearchPage): string[] {
  const incomplete =
    indexed_until === null
      ? "Words of one or two characters are searched in the newest 50,000 messages only; add a longer word to search all of them."
      : "Not every session is indexed yet; search once more to index the next ones.";
  return [
    ...(results.length === 0 ? ["Nothing was found."] : []),
    ...(next === null ? [] : ["There are more; add a word."]),
    ...(complete ? [] : [incomplete]),
  ];
}
