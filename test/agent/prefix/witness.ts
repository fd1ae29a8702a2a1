import { expect } from "vitest";

import { viewOf } from "../../../src/agent/compaction/view.ts";
import { messagesOf } from "../../../src/agent/messages/thread-state.ts";
import { PREFIX_CHANNEL, type Prefix, storedPrefix } from "../../../src/agent/prefix/prefix.ts";
import { threadId } from "../../../src/core/threads.ts";
import { createCheckpointSaver } from "../../../src/langgraph/saver.ts";
import type { Store } from "../../../src/store/store.ts";
import { sentRequest } from "../../helpers/providers/sent-messages.ts";
import type { Received } from "../../helpers/providers/server.ts";
import { isSummaryRequest } from "./requests.ts";
import { partsOfAny } from "./switch-bench.ts";

/** First words of the task of a sub-agent: its requests belong to another thread. */
export const TASK = "task";

interface Noted {
  readonly to: string;
  readonly received: Received;
  /** Prefix that counted when the request arrived; null if it begins one. */
  readonly stored: Prefix | null;
}

/** Judges the requests of a thread by what the store had of its prefix when each of them arrived. */
export class Witness {
  readonly #noted: Noted[] = [];
  #store: Store;
  #id: string;

  constructor(store: Store, id: string) {
    this.#store = store;
    this.#id = id;
  }

  /** Follows the session to another store, or to another id. */
  follow(store: Store, id: string): void {
    this.#store = store;
    this.#id = id;
  }

  /** Keeps a request before it is answered. */
  async note(to: string, received: Received): Promise<void> {
    const [first] = sentRequest(received).messages;
    if (first?.content.startsWith(TASK) !== true && !isSummaryRequest(textOf(received))) {
      this.#noted.push({ to, received, stored: await this.prefix() });
    }
  }

  /** Returns the prefix that the store has for what the model is shown now; null if the next request begins one. */
  async prefix(): Promise<Prefix | null> {
    const saver = createCheckpointSaver({ store: this.#store });
    const tuple = await saver.getTuple({ configurable: { thread_id: threadId(this.#id, 0) } });
    const stored = storedPrefix(tuple?.checkpoint.channel_values[PREFIX_CHANNEL]);
    const { summary } = viewOf(messagesOf(tuple));
    return stored?.summary === (summary?.id ?? null) ? stored : null;
  }

  /**
   * Throws unless each request is the one before to its provider with more at its end, or begins a prefix: then none
   * was stored, and all that follow have what the store keeps from then on. Returns how many were begun.
   */
  judge(story: string): number {
    const last = new Map<string, { readonly begun: number; readonly parts: readonly string[] }>();
    let begun = 0;
    for (const { to, received, stored } of this.#noted) {
      if (stored === null) {
        begun += 1;
      } else {
        expect(sentRequest(received).system, story).toBe(stored.system);
      }
      const before = last.get(to);
      const parts = partsOfAny(received.body);
      if (before?.begun === begun) {
        expect(changeBetween(before.parts, parts), story).toBeNull();
      }
      last.set(to, { begun, parts });
    }
    return begun;
  }
}

function textOf({ body }: Received): string {
  return JSON.stringify(body);
}

/** Returns the first part of a request that the next one has in another form; null if there is none. */
function changeBetween(before: readonly string[], after: readonly string[]) {
  const at = before.findIndex((part, index) => part !== after[index]);
  return at === -1 ? null : { at, before: before[at], after: after[at], next: after[at + 1] };
}
