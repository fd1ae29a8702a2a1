import { RepriseError } from "../../core/errors.ts";
import { isStorableText } from "../../core/text.ts";
import type { ReadOnlyStore, Store } from "../store.ts";
import { checksumOf } from "./checksum.ts";
import { copyTree } from "./copy-tree.ts";
import { type Counts, countsOf } from "./counts.ts";
import { type SessionTree, sessionsOf } from "./export-schema.ts";
import { type Mark, readWatchedTree } from "./read-watched-tree.ts";
import { isGone, type LeaseOwner } from "../leases/this-process.ts";

export interface CopySession {
  readonly source: ReadOnlyStore;
  readonly target: Store;
  /** Of a session that is nobody's sub-agent. */
  readonly id: string;
}

export interface CopiedSession {
  readonly outcome: "copied" | "present";
  readonly counts: Counts;
  /** What it and its sub-agents were like when they were read, by id. */
  readonly marks: ReadonlyMap<string, Mark>;
}

/**
 * Takes one session with its sub-agents to another store, or finds that it is there already.
 *
 * Error codes: as `copyTree`; `session_not_found`; `session_busy` while an exchange is at work in
 * one of them, unless its process is known to be dead; `database_corrupt` where it cannot be read
 * whole.
 */
export async function copySession({ source, target, id }: CopySession): Promise<CopiedSession> {
  const { tree, owners, marks } = await source.read(readWatchedTree, { id });
  const owner = owners.find((each) => !isGone(each));
  if (owner !== undefined) {
    throw busy(owner);
  }
  refuseUnstorable(tree);
  const outcome = await target.write(copyTree, { tree, sha256: checksumOf(tree) });
  return { outcome, counts: countsOf(tree), marks };
}

function busy({ pid, host, command, since }: LeaseOwner): RepriseError {
  return new RepriseError(
    "session_busy",
    `An exchange is at work in it or in a sub-agent of it: process ${pid} on ${host} (${command}), since ${since}; copy again once it is done.`,
  );
}

/** Nothing of Reprise's writes such text, and what an engine makes of it differs. */
function refuseUnstorable(tree: SessionTree): void {
  for (const { session, messages, threads } of sessionsOf(tree)) {
    const texts = [
      ...Object.values(session),
      session.failure?.sentence,
      ...messages.flatMap((message) => Object.values(message)),
      ...threads.flatMap(({ bodies }) => bodies),
    ];
    if (texts.some((text) => typeof text === "string" && !isStorableText(text))) {
      throw new RepriseError(
        "database_corrupt",
        "A text of this session holds NUL or half a character, which not every engine keeps; another program has written it. Mend it in the source.",
      );
    }
  }
}
