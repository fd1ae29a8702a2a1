import { RepriseError } from "../core/errors.ts";
import { requireOptions } from "../core/options.ts";
import { quote } from "../core/text/terminal-text.ts";
import { plural } from "../core/text/text.ts";
import {
  deleteOldThreads,
  type OldThreadPage,
  readOldThreads,
} from "../store/checkpoints/threads/delete-old-threads.ts";
import {
  type ListedThread,
  listThreads,
  type ThreadPosition,
} from "../store/checkpoints/threads/list-threads.ts";
import {
  pruneFreeThread,
  type PruneReport,
} from "../store/checkpoints/threads/prune-free-thread.ts";
import type { Store } from "../store/store.ts";
import type { SessionSaver } from "./session-saver.ts";
import { requireThreadId } from "./thread-key.ts";

export interface PruneOptions {
  /** How many of the latest checkpoints of each branch stay: 1 by default. */
  readonly keep?: number;
}

export interface DeleteOptions {
  /** True to delete also threads that wait for an answer or have tasks that have not run. */
  readonly interrupted?: boolean;
}

export interface ThreadsOptions {
  /** 50 by default. */
  readonly limit?: number;
  /** The `next_cursor` of the page before. */
  readonly cursor?: string;
  /** True to list the threads of sessions, too. */
  readonly sessions?: boolean;
}

export interface ThreadList {
  readonly threads: readonly ListedThread[];
  /** For the next page; null on the last one. */
  readonly next_cursor: string | null;
}

export interface SaverInUse {
  readonly store: Store;
  readonly saver: SessionSaver;
}

/** See `RepriseSaver.prune`. */
export async function prune(
  { store, saver }: SaverInUse,
  threadId: unknown,
  options: PruneOptions,
): Promise<PruneReport> {
  const { keep = 1 } = requireOptions(options, "invalid_usage");
  const thread_id = requireThreadId(threadId);
  requireWhole(keep, "keep");
  const { gone, ...report } = await store.write(pruneFreeThread, { thread_id, keep });
  saver.forgetPruned(thread_id, gone);
  return report;
}

/** Above it the unit is a mistake, for example microseconds. */
const MAX_AGE_MS = 1000 * 365 * 86_400_000;

/** See `RepriseSaver.deleteOlderThan`. */
export async function deleteOlderThan(
  { store }: Pick<SaverInUse, "store">,
  older_than_ms: number,
  options: DeleteOptions,
): Promise<number> {
  const { interrupted = false } = requireOptions(options, "invalid_usage");
  if (!Number.isFinite(older_than_ms) || older_than_ms < 0 || older_than_ms > MAX_AGE_MS) {
    throw invalid(
      "The age must be a number of milliseconds from 0 to 31,536,000,000,000, which are 1,000 years.",
    );
  }
  const old = { older_than_ms, interrupted };
  const damaged: string[] = [];
  let deleted = 0;
  let after: number | null = 0;
  while (after !== null) {
    const page: OldThreadPage = await store.read(readOldThreads, { ...old, after });
    const { thread_ids, next } = page;
    deleted += (await store.write(deleteOldThreads, { ...old, thread_ids })).length;
    damaged.push(...page.damaged);
    after = next;
  }
  if (damaged.length > 0) {
    throw keptDamaged(damaged, deleted);
  }
  return deleted;
}

/** Threads that a message names. */
const MAX_NAMED = 5;

function keptDamaged(damaged: readonly string[], deleted: number): RepriseError {
  const more = damaged.length - MAX_NAMED;
  const names = `${damaged.slice(0, MAX_NAMED).map(quote).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
  return new RepriseError(
    "database_corrupt",
    `${plural(deleted, "thread")} deleted, ${plural(damaged.length, "damaged thread")} kept: ${names}. Restore a backup, or delete what is damaged with \`deleteThread\`.`,
  );
}

/** See `RepriseSaver.threads`. */
export async function threads(
  { store }: Pick<SaverInUse, "store">,
  options: ThreadsOptions,
): Promise<ThreadList> {
  const { limit = 50, cursor, sessions = false } = requireOptions(options, "invalid_usage");
  requireWhole(limit, "limit");
  const after = cursor === undefined ? undefined : readCursor(cursor);
  const page = await store.read(listThreads, { limit, sessions, after });
  const { next } = page;
  return { threads: page.threads, next_cursor: next === null ? null : cursorOf(next) };
}

function cursorOf({ head_row, id }: ThreadPosition): string {
  return Buffer.from(JSON.stringify([head_row, id])).toString("base64url");
}

function readCursor(cursor: string): ThreadPosition {
  const [head_row, id, ...more] = parseList(cursor);
  if (!Number.isSafeInteger(head_row) || !Number.isSafeInteger(id) || more.length > 0) {
    throw invalid("The cursor is not one that `threads` returned. Begin without a cursor.");
  }
  return { head_row: Number(head_row), id: Number(id) };
}

function parseList(cursor: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString());
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

function requireWhole(value: number, name: string): void {
  if (!Number.isSafeInteger(value) || value < 1) {
    throw invalid(`\`${name}\` must be a whole number, 1 or more.`);
  }
}

function invalid(sentence: string): RepriseError {
  return new RepriseError("invalid_usage", sentence);
}
