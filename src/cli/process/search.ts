import { RepriseError } from "../../core/errors.ts";
import { searchMessages, type SearchInput, type SearchPage } from "../../store/search.ts";
import type { Store } from "../../store/store.ts";
import { settingsOf } from "./config.ts";
import type { CliContext } from "./context.ts";

/** Whether the user's config lets messages be searched. Error codes: `config_invalid`. */
export async function isSearchOn(cli: CliContext): Promise<boolean> {
  return (await settingsOf(cli).config())?.search !== "off";
}

/** Refuses a search that the user's config turns off. Error codes: `search_off`, `config_invalid`. */
export async function requireSearch(cli: CliContext): Promise<void> {
  if (!(await isSearchOn(cli))) {
    throw new RepriseError(
      "search_off",
      "The search is off in the config. Turn it on with `reprise config set search on`.",
    );
  }
}

/** Results that a terminal shows of one search. */
const LIMIT = 20;

/** The first results, however many messages have to be read for them. Error codes: `invalid_request`. */
export async function firstResults(
  store: Store,
  input: Omit<SearchInput, "limit" | "cursor">,
  signal?: AbortSignal,
): Promise<SearchPage> {
  let page = await searchMessages(store, { ...input, limit: LIMIT });
  const results = [...page.results];
  while (page.next !== null && results.length < LIMIT) {
    signal?.throwIfAborted();
    const limit = LIMIT - results.length;
    page = await searchMessages(store, { ...input, limit, cursor: page.next });
    results.push(...page.results);
  }
  return { ...page, results };
}
