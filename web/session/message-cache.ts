import type { MessageInfo } from "../../src/entries/client.ts";

/** Messages of one page: `seq` from `n * PAGE_SIZE + 1` on. */
export const PAGE_SIZE = 100;
/** Pages that are kept at most, and characters of their messages. */
const MAX_PAGES = 40;
const MAX_CHARACTERS = 3 * 1024 * 1024;
/** Pages that are read at the same time. */
const MAX_READS = 2;
const RETRY_MS = 2000;

export interface CacheOptions {
  /** All messages after and before these positions, archived ones too, ascending; possibly the first of them only. */
  read(after: number, before: number): Promise<readonly MessageInfo[]>;
  /** Something was read, or a read has failed. */
  changed(): void;
  readonly maxPages?: number;
  readonly maxCharacters?: number;
  readonly retryMs?: number;
}

/** Messages of one session by `seq`: those near to where somebody reads, read page by page. */
export interface MessageCache {
  get(seq: number): MessageInfo | undefined;
  /** Messages that came otherwise: with the feed, or with the first read. */
  put(messages: readonly MessageInfo[]): void;
  /** Reads what is missing between two positions, and one page around it; forgets earlier wishes. */
  want(first: number, last: number): void;
  /** The last read failed, and is tried again. */
  readonly error: unknown;
  /** Ends attempts. */
  close(): void;
}

interface Page {
  readonly messages: Map<number, MessageInfo>;
  characters: number;
}

export function createMessageCache({
  read,
  changed,
  maxPages = MAX_PAGES,
  maxCharacters = MAX_CHARACTERS,
  retryMs = RETRY_MS,
}: CacheOptions): MessageCache {
  /** The page that was used last is the last one. */
  const pages = new Map<number, Page>();
  const reading = new Set<number>();
  let wished = { first: 1, last: 0 };
  let error: unknown = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isClosed = false;

  const put = (messages: readonly MessageInfo[]): void => {
    for (const message of messages) {
      const n = pageOf(message.seq);
      const page = pages.get(n) ?? { messages: new Map(), characters: 0 };
      const before = page.messages.get(message.seq);
      page.messages.set(message.seq, message);
      page.characters += sizeOf(message) - (before === undefined ? 0 : sizeOf(before));
      pages.set(n, page);
    }
  };
  /** Removes first the page that nobody shows and that was used longest ago. */
  const forget = (): void => {
    let characters = 0;
    for (const page of pages.values()) {
      characters += page.characters;
    }
    for (const [n, page] of pages) {
      if (pages.size <= maxPages && characters <= maxCharacters) {
        return;
      }
      if (n < pageOf(wished.first) || n > pageOf(wished.last)) {
        pages.delete(n);
        characters -= page.characters;
      }
    }
  };
  const missingIn = (n: number): { readonly after: number; readonly before: number } | null => {
    const [first, last] = [Math.max(1, n * PAGE_SIZE + 1), (n + 1) * PAGE_SIZE];
    const page = pages.get(n)?.messages;
    let after = first - 1;
    const end = Math.min(last, Math.max(wished.last, first));
    while (after < end && page?.has(after + 1) === true) {
      after += 1;
    }
    let before = end + 1;
    while (before > after + 1 && page?.has(before - 1) === true) {
      before -= 1;
    }
    return after + 1 < before ? { after, before } : null;
  };
  const readPage = async (n: number): Promise<void> => {
    const missing = missingIn(n);
    if (missing === null) {
      return;
    }
    reading.add(n);
    try {
      const found = await read(missing.after, missing.before);
      error = null;
      put(found);
      if (found.length === 0) {
        throw new Error("the messages are not there");
      }
    } catch (cause) {
      error = cause;
      clearTimeout(timer);
      timer = setTimeout(pump, retryMs);
    } finally {
      reading.delete(n);
    }
    if (!isClosed) {
      forget();
      changed();
      if (error === null) {
        pump();
      }
    }
  };
  const pump = (): void => {
    for (const n of wishedPages(wished)) {
      if (isClosed || reading.size >= MAX_READS) {
        return;
      }
      if (!reading.has(n) && missingIn(n) !== null) {
        void readPage(n);
      }
    }
  };
  return {
    get: (seq) => pages.get(pageOf(seq))?.messages.get(seq),
    put: (messages) => {
      put(messages);
      forget();
    },
    want: (first, last) => {
      wished = { first, last };
      for (const n of wishedPages(wished)) {
        const page = pages.get(n);
        if (page !== undefined) {
          pages.delete(n);
          pages.set(n, page);
        }
      }
      if (error === null) {
        pump();
      }
    },
    get error() {
      return error;
    },
    close: () => {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}

function pageOf(seq: number): number {
  return Math.floor((seq - 1) / PAGE_SIZE);
}

function wishedPages({ first, last }: { readonly first: number; readonly last: number }): number[] {
  const [from, to] = [pageOf(first), pageOf(last)];
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
}

function sizeOf({ content, tool_calls }: MessageInfo): number {
  return content.length + (tool_calls === null ? 0 : JSON.stringify(tool_calls).length);
}
