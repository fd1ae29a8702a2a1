import { noticeLine } from "../../process/context.ts";
import { wrongUsage } from "../../process/wrong-usage.ts";
import { firstResults, requireSearch } from "../../process/search.ts";
import { OPEN_RESULT, searchLines, searchNotices } from "../../output/search-lines.ts";
import type { SlashContext } from "./slash-context.ts";

/** `/search`: messages of all sessions that have the words. Error codes: `invalid_usage`, `search_off`. */
export async function searchSlash(
  { cli, store, signal }: Pick<SlashContext, "cli" | "store" | "signal">,
  query: string,
): Promise<void> {
  if (query.replaceAll('"', "").trim() === "") {
    throw wrongUsage("Write /search and the words that a message has.");
  }
  await requireSearch(cli);
  const page = await firstResults(store, { query }, signal);
  for (const line of [...searchLines(page.results), ...searchNotices(page)]) {
    noticeLine(cli, line);
  }
  if (page.results.length > 0) {
    noticeLine(cli, OPEN_RESULT);
  }
}
