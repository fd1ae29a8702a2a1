import { RepriseError } from "../../core/errors.ts";
import { isStorableText } from "../../core/text/text.ts";
import { isGone, type LeaseOwner } from "../records/leases/this-process.ts";
import type { ReadOnlyStore, Store, Operation } from "../store.ts";
import { checksumOf } from "./export-text.ts";
import { type SessionTree, sessionsOf } from "./export-schema.ts";
import { readSessionTree } from "./read-tree.ts";
import { readWatchedTree, type SessionVersion, type WatchedTree } from "./read-watched-tree.ts";
import { writeTree } from "./write-tree.ts";

export interface CopySession {
  readonly source: ReadOnlyStore;
  readonly target: Store;
  /** Id of a session that is nobody's sub-agent. */
  readonly id: string;
}

export interface CopiedSession {
  readonly outcome: "copied" | "present";
  readonly counts: Counts;
  /** Versions of it and its sub-agents when they were read, by id. */
  readonly versions: ReadonlyMap<string, SessionVersion>;
}

/**
 * Takes one session with its sub-agents to another store, or finds that it is there already.
 *
 * Error codes: as `copyTree`; `session_not_found`; `session_busy` while an exchange is running
 * in one of them, unless its process is known to be dead; `database_corrupt` if it cannot be
 * read completely.
 */
export async function copySession({ source, target, id }: CopySession): Promise<CopiedSession> {
  const { tree, owners, versions, marks } = await source.read(readWatchedTree, { id });
  const owner = owners.find((each) => !isGone(each));
  if (owner !== undefined) {
    throw busy(owner);
  }
  refuseUnstorable(tree);
  const outcome = await target.write(copyTree, { tree, marks, sha256: checksumOf(tree) });
  return { outcome, counts: countsOf(tree), versions };
}

function busy({ pid, host, command, since }: LeaseOwner): RepriseError {
  return new RepriseError(
    "session_busy",
    `An exchange is running in this session or in a sub-agent of it: process ${pid} on ${host} (${command}), since ${since}. Copy again when it has finished.`,
  );
}

/** Reprise never writes such text, and engines store it differently. */
function refuseUnstorable(tree: SessionTree): void {
  for (const { session, messages, threads } of sessionsOf(tree)) {
    const texts = [
      ...Object.values(session),
      session.failure?.sentence,
      ...Object.values(session.metadata ?? {}),
      ...messages.flatMap((message) => Object.values(message)),
      ...threads.flatMap(({ bodies }) => bodies),
    ];
    if (texts.some((text) => typeof text === "string" && !isStorableText(text))) {
      throw new RepriseError(
        "database_corrupt",
        "A text of this session, written by another program, holds NUL or an unpaired surrogate, which not every engine stores. Correct it in the source.",
      );
    }
  }
}

/**
 * Stores a copy of a session with its sub-agents, reads all of it again in the same transaction and
 * keeps it only if it has the same checksum. A session that is already there with the same checksum
 * is skipped: `present`.
 *
 * Error codes: `session_exists` if a different session has the id of one of them; `internal` if the
 * database returns something else than was written.
 */
const copyTree: Operation<
  Pick<WatchedTree, "tree" | "marks"> & { readonly sha256: string },
  CopiedSession["outcome"]
> = async (tx, { tree, marks, sha256 }) => {
  const { id } = tree.session;
  const found = await tx.db
    .selectFrom("sessions")
    .select("id")
    .where("id", "=", id)
    .executeTakeFirst();
  if (found !== undefined) {
    if (checksumOf(await readSessionTree(tx, { id })) === sha256) {
      return "present";
    }
    throw new RepriseError(
      "session_exists",
      "The target has another session with this id, or a later state of it, so it was not changed. If the source is right, delete it in the target and copy again.",
    );
  }
  await writeTree(tx, tree, { root: id, markOf: (each) => marks.get(each) ?? null });
  if (checksumOf(await readSessionTree(tx, { id })) !== sha256) {
    throw new RepriseError(
      "internal",
      "The target returned this session with different content, so it was rolled back. Please report this.",
    );
  }
  return "copied";
};

/** How much of each kind. */
export interface Counts {
  readonly sessions: number;
  readonly messages: number;
  readonly threads: number;
  readonly checkpoints: number;
}

export const NO_COUNTS: Counts = { sessions: 0, messages: 0, threads: 0, checkpoints: 0 };

/** Counts what a session and its sub-agents have. */
function countsOf(tree: SessionTree): Counts {
  return [...sessionsOf(tree)]
    .map(({ messages, threads }) => ({
      sessions: 1,
      messages: messages.length,
      threads: threads.length,
      checkpoints: threads.flatMap(({ checkpoints }) => checkpoints).length,
    }))
    .reduce(sumOf, NO_COUNTS);
}

export function sumOf(one: Counts, other: Counts): Counts {
  return {
    sessions: one.sessions + other.sessions,
    messages: one.messages + other.messages,
    threads: one.threads + other.threads,
    checkpoints: one.checkpoints + other.checkpoints,
  };
}
