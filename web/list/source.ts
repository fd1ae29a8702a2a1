import { computed, signal } from "@preact/signals";

import type { Client, SessionEvent, SessionSummary } from "../../src/entries/client.ts";
import { sentenceOf } from "../parts/sentence-of.ts";
import { type Filters, listQueryOf, passes } from "./filters.ts";
import {
  compare,
  isPinned,
  mergePage,
  type Position,
  positionOf,
  rowsOf,
  type Sessions,
} from "./rows.ts";

/** Sessions that are read at once. */
const PAGE = 200;
/** Milliseconds. */
const PAUSE_MS = 50;

interface SourceOptions {
  readonly client: Pick<Client, "listSessions">;
  /** Follows what changes in all sessions: see `web/streams/`. */
  readonly follow: (listener: (event: SessionEvent) => void) => () => void;
  readonly filters: Filters;
  /** For how long changes are collected before they are shown. */
  readonly pauseMs?: number;
}

/** The list as far as it is read, and kept up to date. */
export type ListSource = ReturnType<typeof createListSource>;

/**
 * Reads the list page by page, and follows what changes in it. After `reset` all that was read is read again, and what
 * is shown stays until then.
 */
export function createListSource({ client, follow, filters, pauseMs = PAUSE_MS }: SourceOptions) {
  const sessions = signal<Sessions>(new Map());
  const open = signal<ReadonlySet<string>>(new Set());
  /** Where the next page begins; null if all is read. */
  const next = signal<{
    readonly cursor: string | undefined;
    readonly after: Position | null;
  } | null>({ cursor: undefined, after: null });
  const problem = signal<string | null>(null);
  const isReading = signal(false);
  const hasBegun = signal(false);
  const folderKeys = new Set<string>();
  let isEnded = false;
  let again: "all" | "first" | null = null;

  /** Changes that came while a page was read: it may be older than they are. */
  const meanwhile: SessionEvent[] = [];

  /** Few sessions are pinned: all of them, however old. */
  const readPinned = async (): Promise<readonly SessionSummary[]> => {
    const query = { ...listQueryOf(filters), pinned: true, limit: PAGE };
    const found: SessionSummary[] = [];
    let page = await client.listSessions(query);
    found.push(...page.sessions);
    while (page.next !== null && !isEnded) {
      page = await client.listSessions({ ...query, cursor: page.next });
      found.push(...page.sessions);
    }
    return found;
  };

  const readPage = async (
    cursor: string | undefined,
    after: Position | null,
  ): Promise<typeof next.value> => {
    meanwhile.length = 0;
    const query = { ...listQueryOf(filters), limit: PAGE };
    const [page, pinned] = await Promise.all([
      client.listSessions(cursor === undefined ? query : { ...query, cursor }),
      cursor === undefined ? readPinned() : null,
    ]);
    const last = page.sessions.at(-1);
    const found = [...page.sessions, ...(pinned ?? [])];
    for (const { project_key } of filters.folder === null ? [] : found) {
      if (project_key !== null) {
        folderKeys.add(project_key);
      }
    }
    if (!isEnded) {
      sessions.value = mergePage(sessions.value, page.sessions, {
        after,
        isLast: page.next === null,
        pinned,
      });
      hasBegun.value = true;
      applyAll(meanwhile.splice(0));
    }
    return page.next === null || last === undefined
      ? null
      : { cursor: page.next, after: positionOf(last) };
  };

  /** One read at a time; a problem is kept until a read succeeds. */
  const reading = async (read: () => Promise<void>): Promise<void> => {
    isReading.value = true;
    try {
      await read();
      problem.value = null;
    } catch (error) {
      problem.value = sentenceOf(error);
    }
    isReading.value = false;
    if (again !== null && !isEnded) {
      const what = again;
      again = null;
      void reload(what);
    }
  };

  const reload = async (what: "all" | "first"): Promise<void> => {
    if (isReading.value) {
      again = again === "all" ? "all" : what;
      return;
    }
    await reading(async () => {
      if (what === "first" && hasBegun.value) {
        const following = await readPage(undefined, null);
        next.value = following === null ? null : next.value;
        return;
      }
      const until = next.value?.after ?? null;
      const isAll = next.value === null;
      let from: typeof next.value = await readPage(undefined, null);
      while (
        from !== null &&
        !isEnded &&
        (isAll || (until !== null && from.after !== null && compare(from.after, until) < 0))
      ) {
        from = await readPage(from.cursor, from.after);
      }
      next.value = from;
    });
  };

  /** Reads the page that follows, unless one is read or all are. */
  const readMore = async (): Promise<void> => {
    const from = next.value;
    if (from !== null && !isReading.value) {
      await reading(async () => {
        next.value = await readPage(from.cursor, from.after);
      });
    }
  };

  /** The sessions while several changes are made at once: they are copied once for all. */
  let draft: Map<string, SessionSummary> | null = null;
  const edit = (change: (map: Map<string, SessionSummary>) => void): void => {
    if (draft === null) {
      const map = new Map(sessions.value);
      change(map);
      sessions.value = map;
    } else {
      change(draft);
    }
  };
  const knownOf = (id: string): SessionSummary | null => (draft ?? sessions.value).get(id) ?? null;

  const put = (session: SessionSummary): void => {
    const known = knownOf(session.id);
    const end = next.value?.after ?? null;
    const isRead = next.value === null || (end !== null && compare(positionOf(session), end) <= 0);
    const isListed =
      passes(session, filters, { known, folderKeys }) &&
      (isRead || known !== null || isPinned(session));
    if (isListed) {
      edit((map) => map.set(session.id, session));
    } else if (known !== null) {
      edit((map) => map.delete(session.id));
    }
  };

  const apply = (change: SessionEvent): void => {
    switch (change.event) {
      case "reset":
        // without a position it is a poll, which comes every few seconds
        void reload(change.id === "" ? "first" : "all");
        break;
      case "created":
      case "changed":
        put(change.data);
        break;
      case "deleted":
        if (knownOf(change.data.id) !== null) {
          edit((map) => map.delete(change.data.id));
        }
        break;
      case "exchange":
      case "question":
      case "phase":
        // their session has a change, too
        break;
    }
  };

  const applyAll = (changes: readonly SessionEvent[]): void => {
    if (changes.length > 0) {
      draft = new Map(sessions.value);
      changes.forEach(apply);
      sessions.value = draft;
      draft = null;
    }
  };

  /** Changes within one frame are shown together. */
  let waiting: SessionEvent[] = [];
  const flush = (): void => {
    const changes = waiting;
    waiting = [];
    if (!isEnded) {
      applyAll(changes);
    }
  };
  const hear = (change: SessionEvent): void => {
    if (isReading.value && change.event !== "reset") {
      meanwhile.push(change);
    }
    waiting.push(change);
    if (waiting.length === 1) {
      setTimeout(flush, pauseMs);
    }
  };

  return {
    rows: computed(() => {
      const listed = [...sessions.value.values()].filter((session) =>
        passes(session, filters, { known: session, folderKeys }),
      );
      return rowsOf(listed, open.value);
    }),
    sessions,
    /** False until the first page is read. */
    hasBegun,
    problem,
    isReading,
    /** True if all sessions that the filters let through are read. */
    isComplete: computed(() => next.value === null),
    readMore,
    /** Reads again, after a problem. */
    retry: () => reload("all"),
    /** Shows or hides the sub-agents of a session. */
    toggle: (id: string, isOpen: boolean): void => {
      const changed = new Set(open.value);
      if (isOpen) {
        changed.add(id);
      } else {
        changed.delete(id);
      }
      open.value = changed;
    },
    /** Shows a change that this page has made before its event comes. */
    put,
    remove: (ids: readonly string[]): void => edit((map) => ids.forEach((id) => map.delete(id))),
    start: (): (() => void) => {
      void reload("all");
      const stop = follow(hear);
      return () => {
        isEnded = true;
        stop();
      };
    },
  };
}
