import { isRepriseError, RepriseError } from "../../core/errors.ts";
import { readTreeIds } from "../records/sessions/tree-ids.ts";
import { sessionNotFound } from "../records/sessions/read.ts";
import { readSessionIds, sessionPages, walkSessions } from "../records/sessions/trees/walk.ts";
import type { Operation, ReadOnlyStore, Store, Tx } from "../store.ts";
import { copyFreeThreads, type ThreadsReport } from "./copy-free-threads.ts";
import { copySession, type Counts, NO_COUNTS, sumOf } from "./copy-session.ts";
import { readTreeVersions, readVersions, type SessionVersion } from "./read-watched-tree.ts";
import { freeThreadPages, readFreeThreads, readMissingThreads } from "./thread-versions.ts";

export interface CopyStore {
  readonly source: ReadOnlyStore;
  readonly target: Store;
  /** True to copy into a store that holds other sessions too. */
  readonly intoExisting: boolean;
  /** Called after each session that is not a sub-agent, and after each thread without a session. */
  readonly onProgress: (progress: CopyProgress) => void;
}

export interface CopyProgress {
  /** Size of the source when the copy began. */
  readonly all: StoreSize;
  readonly done: Counts;
}

/** A session that was not copied, nor were its sub-agents. */
export interface Refused {
  readonly session_id: string;
  readonly code: RepriseError["code"];
  readonly detail: string;
}

export interface CopyReport extends ThreadsReport {
  readonly copied: Counts;
  /** Counts of what was in the target already, the same to the last field. */
  readonly present: Counts;
  readonly refused: readonly Refused[];
  /** Sessions of the source that somebody began or changed while it was copied. */
  readonly changed: readonly string[];
  /** How many threads without a session were not copied. */
  readonly unowned_threads: number;
}

/**
 * Copies every session of a store into another one with everything that belongs to it except
 * leases, and then every thread without a session, in the same way. Each is written with its sub-agents in one transaction of the target, which compares
 * checksums before it commits: an interrupted copy has whole sessions only, and copying again
 * continues after them. Existing sessions of the target never change. One such session at a time is
 * held in memory.
 *
 * A session that cannot be copied does not stop the others; the report names it with
 * `session_exists`, `session_busy`, `database_corrupt` or `internal`.
 *
 * Error codes: `invalid_usage` if the target has sessions or threads that the source does not have
 * and `intoExisting` is false; `database_*` of either store.
 */
export async function copyStore(input: CopyStore): Promise<CopyReport> {
  const { source, target } = input;
  if (!input.intoExisting) {
    await refuseOtherContent(source, target);
  }
  const all = await source.read(readSize, null);
  const counts = { copied: NO_COUNTS, present: NO_COUNTS };
  const refused: Refused[] = [];
  const seen: Seen = new Map();
  const roots = walkSessions((page) => source.read(readSessionIds, { ...page, roots: true }));
  for await (const { id } of roots) {
    const outcome = await copyTree(input, id, seen);
    counts.copied = sumOf(counts.copied, outcome.copied);
    counts.present = sumOf(counts.present, outcome.present);
    refused.push(...outcome.refused);
    input.onProgress({ all, done: sumOf(counts.copied, counts.present) });
  }
  const changed = await findChanged(source, seen);
  const threads = await copyFreeThreads({
    source,
    target,
    onCopied: (outcome, checkpoints) => {
      counts[outcome] = sumOf(counts[outcome], { ...NO_COUNTS, threads: 1, checkpoints });
      input.onProgress({ all, done: sumOf(counts.copied, counts.present) });
    },
  });
  const unowned_threads = threads.refused_threads.length;
  return { ...counts, refused, changed, ...threads, unowned_threads };
}

/**
 * Copies one session with its sub-agents, beside whatever the target has. It must be nobody's
 * sub-agent. Otherwise as `copyStore`.
 *
 * Error codes: `session_not_found`; `database_*` of either store.
 */
export async function copyOneTree(
  { source, target }: Pick<CopyStore, "source" | "target">,
  id: string,
): Promise<CopyReport> {
  const seen: Seen = new Map();
  const outcome = await copyTree({ source, target }, id, seen);
  const after = await source.read(readTreeVersions, { id });
  if (after.length === 0) {
    throw sessionNotFound();
  }
  const changed = after.filter(([each, version]) => isChanged(seen, each, version));
  const threads = { refused_threads: [], changed_threads: [], unowned_threads: 0 };
  return { ...outcome, changed: changed.map(([each]) => each), ...threads };
}

async function copyTree(
  { source, target }: Pick<CopyStore, "source" | "target">,
  id: string,
  seen: Seen,
): Promise<Pick<CopyReport, "copied" | "present" | "refused">> {
  const counts = { copied: NO_COUNTS, present: NO_COUNTS };
  try {
    const { outcome, versions, counts: one } = await copySession({ source, target, id });
    for (const [each, version] of versions) {
      seen.set(each, version);
    }
    return { ...counts, [outcome]: one, refused: [] };
  } catch (error) {
    for (const each of await source.read(readTreeIds, { id })) {
      seen.set(each, null);
    }
    return { ...counts, refused: refusalOf(id, error) };
  }
}

/** Version of each session when it was read; null for one that was refused. */
type Seen = Map<string, SessionVersion | null>;

/**
 * A target that has nothing but sessions and threads of the source is empty, or a copy that was
 * broken off. Whether those are the same shows when their turn comes.
 */
async function refuseOtherContent(source: ReadOnlyStore, target: Store): Promise<void> {
  for await (const page of sessionPages((page) => target.read(readVersions, page))) {
    const ids = page.map(({ id }) => id);
    if ((await source.read(readMissing, ids)).length > 0) {
      throw notEmpty("sessions");
    }
  }
  for await (const page of freeThreadPages((each) => target.read(readFreeThreads, each))) {
    const ids = page.map(({ thread_id }) => thread_id);
    if ((await source.read(readMissingThreads, ids)).length > 0) {
      throw notEmpty("threads");
    }
  }
}

function notEmpty(what: "sessions" | "threads"): RepriseError {
  return new RepriseError(
    "invalid_usage",
    `The target is not empty: it has ${what} that the source does not have; name an empty database, or give --into-existing to copy beside them.`,
  );
}

/**
 * Failures that concern one session; the others concern all. None for one that was deleted since.
 */
function refusalOf(id: string, error: unknown): Refused[] {
  if (isRepriseError(error, "session_not_found")) {
    return [];
  }
  if (isRepriseError(error, "session_exists", "session_busy", "database_corrupt", "internal")) {
    return [{ session_id: id, code: error.code, detail: error.message }];
  }
  throw error;
}

/** Changes during the copy have to be reported to the user who moves a store. */
async function findChanged(source: ReadOnlyStore, seen: Seen): Promise<string[]> {
  const changed: string[] = [];
  for await (const { id, version } of walkSessions((page) => source.read(readVersions, page))) {
    if (isChanged(seen, id, version)) {
      changed.push(id);
    }
  }
  return changed;
}

function isChanged(seen: Seen, id: string, version: SessionVersion): boolean {
  const before = seen.get(id);
  return before !== null && before !== version;
}

/** Returns those of these ids that no session has. */
const readMissing: Operation<readonly string[], readonly string[]> = async (tx, ids) => {
  const rows = await tx.db.selectFrom("sessions").select("id").where("id", "in", ids).execute();
  const there = new Set(rows.map(({ id }) => id));
  return ids.filter((id) => !there.has(id));
};

type StoreSize = Omit<Counts, "checkpoints">;

const readSize: Operation<null, StoreSize> = async (tx) => ({
  sessions: await countRows(tx, "sessions"),
  messages: await countRows(tx, "messages"),
  threads: await countRows(tx, "threads"),
});

async function countRows(tx: Tx, table: "sessions" | "messages" | "threads"): Promise<number> {
  const { rows } = await tx.db
    .selectFrom(table)
    .select(({ fn }) => fn.countAll<number>().as("rows"))
    .executeTakeFirstOrThrow();
  return rows;
}
