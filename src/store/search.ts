import { invalidRequest } from "../core/invalid-request.ts";
import {
  DEFAULT_SEARCH_RESULTS,
  INDEXED_BEFORE,
  INDEXED_BEFORE_MS,
  queryGrams,
  SCANNED_MESSAGES,
  searchWords,
} from "../core/search/search.ts";
import {
  type FindInput,
  findIfIndexed,
  findMessages,
  type SearchFilters,
  type SearchResult,
} from "./records/search/find.ts";
import { isUnmerged, mergeStep } from "./records/search/forget.ts";
import { indexStep } from "./records/search/index-step.ts";
import type { Store } from "./store.ts";

/** Documents that are read at a time, after as many as results are wanted: other readers get their turn in between. */
const MAX_DOCUMENTS = 500;
/** Milliseconds after which a search that has found too little returns what it has, and where it continues. */
const SEARCH_MS = 2000;
/** Milliseconds for which a search, and a deletion, removes what is left of deleted messages. */
const MERGE_MS = 200;
const DELETION_MS = 5000;

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
 * newest messages before. The signal ends it between two steps. Error codes: `invalid_request`.
 */
export async function searchMessages(
  store: Store,
  input: SearchInput,
  signal?: AbortSignal,
): Promise<SearchPage> {
  const { query, limit = DEFAULT_SEARCH_RESULTS, cursor, ...filters } = input;
  const words = searchWords(query);
  if (words.length === 0) {
    throw invalidRequest([{ pointer: "/q", message: "Must have a word." }]);
  }
  const start = cursor === undefined ? FIRST : readCursor(cursor);
  const isScan = queryGrams(words).length === 0;
  let { before, scanned } = start;
  const inputOf = (documents: number): FindInput => ({
    ...filters,
    words,
    before,
    limit: limit - results.length,
    documents: isScan ? Math.min(documents, SCANNED_MESSAGES - scanned) : documents,
  });
  const results: SearchResult[] = [];
  const indexed = await store.read(findIfIndexed, inputOf(limit));
  const indexed_until = indexed === null ? await indexTail(store, { signal }) : null;
  const until = performance.now() + SEARCH_MS;
  let found = indexed ?? (await store.read(findMessages, inputOf(limit)));
  for (;;) {
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
    signal?.throwIfAborted();
    found = await store.read(findMessages, inputOf(MAX_DOCUMENTS));
  }
}

interface IndexLimits {
  readonly messages?: number;
  readonly ms?: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Indexes what was stored since, as much as a search waits for. Returns when the next session was last used; null if
 * all are in the index. Error codes: none.
 */
export async function indexTail(
  store: Store,
  { messages = INDEXED_BEFORE, ms = INDEXED_BEFORE_MS, signal }: IndexLimits = {},
): Promise<string | null> {
  const until = performance.now() + ms;
  for (let indexed = 0; ;) {
    signal?.throwIfAborted();
    const step = await store.write(indexStep, null);
    indexed += step.messages;
    if (step.next === null || indexed >= messages || performance.now() > until) {
      await forgetDeleted(store, MERGE_MS);
      return step.next;
    }
  }
}

/** Removes what the index still holds of deleted messages, for so long at most. Error codes: none. */
export async function forgetDeleted(store: Store, ms = DELETION_MS): Promise<void> {
  if (!(await store.read(isUnmerged, null))) {
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
