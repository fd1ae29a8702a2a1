import { setTimeout as sleep } from "node:timers/promises";

import { newId } from "../../core/ids.ts";
import { announceNode, NODE_SEEN_MS, withdrawNode } from "../../store/records/exchanges/nodes.ts";
import { type Dispatcher, type DispatcherOptions, startDispatcher } from "./dispatcher.ts";
import { reportSeldom } from "../report-seldom.ts";
import type { ServedFolders } from "../served-folders.ts";

export interface NodeOptions extends Omit<DispatcherOptions, "serves"> {
  readonly agent: string | null;
  readonly folders: ServedFolders;
  /** Time between two announcements; `NODE_SEEN_MS` by default. */
  readonly seenMs?: number;
}

export interface RunningNode {
  /** Exchanges that it runs now. */
  readonly running: number;
  /** Takes up nothing more, and is no longer announced; what runs continues. Idempotent. */
  retire(): Promise<void>;
  /** Stops what runs and gives it back. Idempotent. */
  close(): Promise<void>;
}

/** Runs queued exchanges, and announces to others in which sessions. */
export async function startNode(options: NodeOptions): Promise<RunningNode> {
  const { store, agent, folders, seenMs = NODE_SEEN_MS } = options;
  const onFailure = reportSeldom(options.onFailure);
  const id = newId();
  const retired = new AbortController();
  let last: string | null = null;

  const announce = async (dispatcher: Dispatcher | null): Promise<void> => {
    try {
      const announced = await folders.announced();
      const text = JSON.stringify(announced);
      if (last !== text) {
        // the user trusts another folder by now
        dispatcher?.rescan();
      }
      last = text;
      await store.write(announceNode, { id, agent, folders: announced });
    } catch (error) {
      onFailure(error);
    }
  };
  const keepAnnouncing = async (dispatcher: Dispatcher): Promise<void> => {
    const { signal } = retired;
    for (;;) {
      await sleep(seenMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) {
        return;
      }
      await announce(dispatcher);
    }
  };
  await announce(null);
  const dispatcher = startDispatcher({
    ...options,
    onFailure,
    serves: async (folder) => folder === null || folders.serves(folder),
  });
  const announcing = keepAnnouncing(dispatcher);
  let retiring: Promise<void> | null = null;
  const retire = async (): Promise<void> => {
    dispatcher.retire();
    retired.abort();
    await announcing;
    await store.write(withdrawNode, { id }).catch(onFailure);
  };
  return {
    get running() {
      return dispatcher.running;
    },
    retire: () => (retiring ??= retire()),
    close: async () => {
      await Promise.all([(retiring ??= retire()), dispatcher.close()]);
    },
  };
}
