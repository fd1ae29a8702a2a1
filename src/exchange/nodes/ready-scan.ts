import { hasThread } from "../../store/checkpoints/threads.ts";
import {
  type ReadyPosition,
  type ReadySession,
  readReady,
} from "../../store/records/exchanges/ready.ts";
import type { Store } from "../../store/store.ts";
import { threadId } from "../../core/threads.ts";
import { isOfNode } from "../other-agent.ts";

export interface ReadyScanOptions {
  readonly store: Store;
  /** The name of the agent that this node runs; null for the built-in one. */
  readonly agent: string | null;
  /** True if this node runs the exchanges of sessions in the folder; null for no folder. */
  readonly serves: (repo_path: string | null) => Promise<boolean>;
}

export interface ReadyScan {
  /** Yields the sessions that wait for this node, the one that waits longest first. */
  sessions(): AsyncGenerator<ReadySession, void>;
  /** Leaves a session to other nodes until all that waits is read again. */
  leave(id: string): void;
  /** Asks again about what was left to other nodes. */
  restart(): void;
}

/** Sessions that one query reads. */
const PAGE = 100;
/** How often all that waits is read again: a folder or an agent may have changed. */
const WHOLE_MS = 60_000;

/**
 * Finds sessions for a node. What comes before the first of its sessions is left to other nodes, and
 * the next scan begins after it: however many of these wait, a poll reads only what is new.
 */
export function createReadyScan({ store, agent, serves }: ReadyScanOptions): ReadyScan {
  let mark: ReadyPosition | null = null;
  let wholeAt = Number.NEGATIVE_INFINITY;
  const refused = new Set<string>();
  const left = new Set<string>();

  const servesFolder = async (folder: string | null): Promise<boolean> => {
    if (folder !== null && refused.has(folder)) {
      return false;
    }
    const isServed = await serves(folder);
    if (folder !== null && !isServed) {
      refused.add(folder);
    }
    return isServed;
  };
  const isMine = async (session: ReadySession): Promise<boolean> => {
    const { id, thread_suffix, repo_path } = session;
    if (left.has(id)) {
      return false;
    }
    if (!isOfNode(session, { agent, hasBegun: false }) || !(await servesFolder(repo_path))) {
      return false;
    }
    // a session without an agent is the built-in one's once it has begun
    return (
      session.agent === agent ||
      session.agent !== null ||
      !(await store.read(hasThread, { thread_id: threadId(id, thread_suffix) }))
    );
  };

  return {
    leave: (id) => {
      left.add(id);
    },
    restart: () => {
      wholeAt = Number.NEGATIVE_INFINITY;
    },
    sessions: async function* () {
      const now = performance.now();
      if (now - wholeAt > WHOLE_MS) {
        wholeAt = now;
        mark = null;
        refused.clear();
        left.clear();
      }
      let after: ReadyPosition | null = mark;
      let onlyOthers = true;
      let page: readonly ReadySession[];
      do {
        page = await store.read(readReady, { after, limit: PAGE });
        for (const session of page) {
          if (await isMine(session)) {
            onlyOthers = false;
            yield session;
          }
          onlyOthers &&= session.is_settled;
          mark = onlyOthers ? session : mark;
        }
        after = page.at(-1) ?? null;
      } while (page.length === PAGE);
    },
  };
}
