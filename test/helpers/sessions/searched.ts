import { expect } from "vitest";

import {
  comparedText,
  hasWords,
  searchedLabels,
  searchedText,
} from "../../../src/core/search/search.ts";
import type { SearchFilters } from "../../../src/store/records/search/find.ts";
import { indexTail, searchMessages } from "../../../src/store/search.ts";
import type { ReadOnlyStore, Store } from "../../../src/store/store.ts";

interface Scanned {
  /** The session and the position of the message, which is 0 for name and title. */
  readonly key: string;
  readonly text: string;
  /** Position of a message that a fork has of its origin, there; null for others. */
  readonly origin: string | null;
}

interface Searched extends Pick<SearchFilters, "archived" | "project_key"> {
  readonly word: string;
}

/**
 * Expects that a search, once all is indexed, finds what a scan finds. A message that a fork has of its origin may be found
 * in the origin only, with the same text.
 */
export async function expectFound(store: Store, searched: Searched, name: string): Promise<void> {
  while ((await indexTail(store)) !== null) {
    // until all is indexed
  }
  const found = new Set(await search(store, searched));
  const all = await scan(store, searched);
  const isFound = ({ key, text, origin }: Scanned): boolean => {
    const before = origin === null ? undefined : all.get(origin);
    return found.has(key) || (before?.text === text && isFound(before));
  };
  const missing = [...all.values()].filter((each) => !isFound(each)).map(({ key }) => key);
  const wrong = [...found].filter((key) => !all.has(key));
  expect({ missing, wrong }, `${name}: ${searched.word}`).toEqual({ missing: [], wrong: [] });
}

async function search(store: Store, { word, ...filters }: Searched): Promise<string[]> {
  const all: string[] = [];
  for (let cursor: string | undefined; ;) {
    const page = await searchMessages(store, { ...filters, query: word, limit: 50, cursor });
    all.push(...page.results.map(({ session_id, seq }) => `${session_id} ${seq ?? 0}`));
    if (page.next === null) {
      return all;
    }
    cursor = page.next;
  }
}

function scan(
  store: ReadOnlyStore,
  { word, archived = false, project_key }: Searched,
): Promise<ReadonlyMap<string, Scanned>> {
  return store.read(async ({ db }) => {
    const sessions = await db.selectFrom("sessions").selectAll().execute();
    const shown = new Map(
      sessions
        .filter(({ archived_at }) => archived || archived_at === null)
        .filter((session) => project_key === undefined || session.project_key === project_key)
        .map((session) => [session.id, session]),
    );
    const messages = await db.selectFrom("messages").selectAll().execute();
    const documents: Scanned[] = [...shown.values()].map(({ id, name, title }) => ({
      key: `${id} 0`,
      text: searchedLabels(name, title),
      origin: null,
    }));
    for (const message of messages) {
      const session = shown.get(message.session_id);
      if (session !== undefined && (archived || message.archived === 0)) {
        const { forked_from_session_id: from, forked_from_seq } = session;
        const isShared = from !== null && message.seq <= (forked_from_seq ?? 0);
        documents.push({
          key: `${session.id} ${message.seq}`,
          text: searchedText(message),
          origin: isShared ? `${from} ${message.seq}` : null,
        });
      }
    }
    return new Map(
      documents
        .filter(({ text }) => hasWords(comparedText(text), [comparedText(word)]))
        .map((document) => [document.key, document]),
    );
  }, null);
}
