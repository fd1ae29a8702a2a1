import { invalidRequest } from "../core/invalid-request.ts";
import {
  DEFAULT_SEARCH_RESULTS,
  INDEXED_BEFORE,
  INDEXED_BEFORE_MS,
  queryGrams,
  SCANNED_MESSAGES,
  searchWords,
} from "../core/search/search.ts";
import { findMessages, type SearchFilters, type SearchResult } from "./records/search/find.ts";
import { mergeStep, readUnmerged } from "./records/search/forget.ts";
import { indexStep, readUnindexed } from "./records/search/index-step.ts";
import type { Store } from "./store.ts";

/** Documents that are read at a time: other readers get their turn in between. */
const FIRST_DOCUMENTS = 100;
const MAX_DOCUMENTS = 500;
/** Milliseconds after which a search that has found too little returns what it has, and where it continues. */
const SEARCH_MS = 2000;
/** Milliseconds for which a search removes what is left of deleted messages. */
const MERGE_MS = 200;

export interface SearchInput extends SearchFilters {
  readonly query: string;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

export interface SearchPage {
  readonly results: readonly SearchResult[];
  /** False if messages were left out: they are not indexed yet, or words were too short to find them in the index. */
  readonly complete: boolean;
  /** When the session that is indexed next was last used; null if all are. */
  readonly indexed_until: string | null;
  /** Cursor of the next page. */
  readonly next: string | null;
}

/**
 * Finds messages, names and titles by their words: those of a higher rank first, then those that are newer. Indexes the
 * newest messages before. Error codes: `invalid_request`.
 */
export async function searchMessages(store: Store, input: SearchInput): Promise<SearchPage> {
  const { query, limit = DEFAULT_SEARCH_RESULTS, cursor, ...filters } = input;
  const words = searchWords(query);
  if (words.length === 0) {
    throw invalidRequest([{ pointer: "/q", message: "Must have a word." }]);
  }
  const start = cursor === undefined ? FIRST : readCursor(cursor);
  const indexed_until = await indexTail(store);
  const results: SearchResult[] = [];
  const isScan = queryGrams(words).length === 0;
  const until = performance.now() + SEARCH_MS;
  let { before, scanned } = start;
  for (let documents = FIRST_DOCUMENTS; ; documents = MAX_DOCUMENTS) {
    const left = isScan ? SCANNED_MESSAGES - scanned : documents;
    const found = await store.read(findMessages, {
      ...filters,
      words,
      before,
      limit: limit - results.length,
      documents: Math.min(documents, left),
    });
    results.push(...found.results);
    scanned += found.documents;
    const isCut = isScan && scanned >= SCANNED_MESSAGES;
    if (found.next === null || isCut) {
      return { results, complete: indexed_until === null && !isCut, indexed_until, next: null };
    }
    before = found.next;
    if (results.length === limit || performance.now() > until) {
      const next = cursorOf({ before, scanned });
      return { results, complete: indexed_until === null, indexed_until, next };
    }
  }
}

/**
 * Indexes what was stored since, as much as a search waits for. Returns when the next session was last used; null if
 * all are in the index. Error codes: none.
 */
export async function indexTail(
  store: Store,
  { messages = INDEXED_BEFORE, ms = INDEXED_BEFORE_MS } = {},
): Promise<string | null> {
  const until = performance.now() + ms;
  let next = await store.read(readUnindexed, null);
  for (let indexed = 0; next !== null && indexed < messages && performance.now() < until;) {
    const step = await store.write(indexStep, null);
    indexed += step.messages;
    next = step.more ? await store.read(readUnindexed, null) : null;
  }
  await forgetDeleted(store, MERGE_MS);
  return next;
}

/** Removes what the index still holds of deleted messages, for so long at most. Error codes: none. */
export async function forgetDeleted(store: Store, ms = Infinity): Promise<void> {
  if (!(await store.read(readUnmerged, null))) {
    return;
  }
  const until = performance.now() + ms;
  while ((await store.write(mergeStep, { isFirst: false })) && performance.now() < until) {
    // the next step
  }
}

interface SearchPosition {
  readonly before: number;
  /** Documents that pages before have read. */
  readonly scanned: number;
}

const FIRST: SearchPosition = { before: Number.MAX_SAFE_INTEGER, scanned: 0 };

function cursorOf({ before, scanned }: SearchPosition): string {
  return Buffer.from(JSON.stringify([before, scanned])).toString("base64url");
}

/** Any position is harmless. Error codes: `invalid_request`. */
function readCursor(cursor: string): SearchPosition {
  const parts = parse(cursor);
  const [before, scanned, ...more]: unknown[] = Array.isArray(parts) ? parts : [];
  if (!isCount(before) || !isCount(scanned) || more.length > 0) {
    throw invalidRequest([
      { pointer: "/cursor", message: "Must be a cursor from a Link header of a search." },
    ]);
  }
  return { before, scanned };
}

function parse(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
  } catch {
    return null;
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
