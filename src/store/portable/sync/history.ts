import { isRepriseError, RepriseError } from "../../../core/errors.ts";
import { isGone } from "../../records/leases/this-process.ts";
import type { ReadOnlyStore } from "../../store.ts";
import { type PortableExchange, type SessionTree, sessionsOf } from "../export-schema.ts";
import { checksumOf } from "../export-text.ts";
import { atRest, verifyTree } from "../import-tree.ts";
import { checkTree } from "../parse.ts";
import { readWatchedTree } from "../read-watched-tree.ts";

/** A session with its sub-agents, as a database has it. */
export interface History {
  /** Without its queue, and with no exchange that another database would run. */
  readonly tree: SessionTree;
  /** Checksum of all of it. */
  readonly known: string;
  /** True if an exchange waits for a process. */
  readonly isQueued: boolean;
}

interface ReadHistory {
  readonly id: string;
  /** The time at which exchanges count as stopped that were never begun. */
  readonly now: string;
}

/** Null if it is gone, or a process has taken it. Error codes: `database_corrupt`. */
export async function readHistory(
  { read }: Pick<ReadOnlyStore, "read">,
  { id, now }: ReadHistory,
): Promise<History | null> {
  try {
    const { tree, owners } = await read(readWatchedTree, { id });
    return owners.some((owner) => !isGone(owner)) ? null : historyOf(tree, now);
  } catch (error) {
    if (isRepriseError(error, "session_not_found")) {
      return null;
    }
    throw error;
  }
}

function historyOf(tree: SessionTree, now: string): History {
  return {
    tree: atRest(withoutQueue(tree), now),
    known: checksumOf(tree),
    isQueued: [...sessionsOf(tree)].some(({ session }) =>
      session.exchanges?.some(({ state }) => state === "queued"),
    ),
  };
}

/** Without the exchanges that were never begun, at the end of the list; no other one keeps its message. */
function withoutQueue(tree: SessionTree): SessionTree {
  const { exchanges, ...session } = tree.session;
  const children = tree.children.map(withoutQueue);
  if (exchanges === undefined) {
    return { ...tree, children };
  }
  const last = exchanges.findLastIndex((exchange) => !isWaiting(exchange));
  const rest = exchanges.slice(0, last + 1).map((exchange) => {
    const { content: _, ...without } = exchange;
    return isWaiting(exchange) ? without : exchange;
  });
  const { exchange_count: _, ...others } = session;
  const counted = rest.length === 0 ? {} : { exchanges: rest, exchange_count: rest.length };
  return { ...tree, session: { ...others, ...counted }, children };
}

function isWaiting({ state, begun_at }: PortableExchange): boolean {
  return state === "queued" && begun_at === null;
}

/** Returns the history without some of its sub-agents. */
export function without(history: History, ids: readonly string[]): History {
  return ids.length === 0 ? history : { ...history, tree: pruned(history.tree, new Set(ids)) };
}

function pruned(tree: SessionTree, ids: ReadonlySet<string>): SessionTree {
  const children = tree.children.filter(({ session }) => !ids.has(session.id));
  return { ...tree, children: children.map((child) => pruned(child, ids)) };
}

/** Returns the ids of a session and of its sub-agents. */
export function idsOf(tree: SessionTree): readonly string[] {
  return [...sessionsOf(tree)].map(({ session }) => session.id);
}

/** Checks a history as an import checks its file. Error codes: `export_invalid`. */
export function requireSound({ name }: { readonly name: string }, tree: SessionTree): void {
  try {
    checkTree(tree);
    verifyTree(tree);
  } catch (error) {
    if (!isRepriseError(error, "export_invalid")) {
      throw error;
    }
    const [fault] = error.faults;
    const why = fault === undefined ? "" : ` (${fault.pointer}: ${fault.message})`;
    throw new RepriseError(
      "export_invalid",
      `The session is damaged in ${name}${why}. Run \`reprise sessions repair\` there, or delete it there.`,
      { faults: error.faults, cause: error },
    );
  }
}
