import type { BaseMessage } from "@langchain/core/messages";
import { expect } from "vitest";

import { viewOf } from "../../../src/agent/compaction/view.ts";
import { messagesOf } from "../../../src/agent/messages/thread-state.ts";
import { noteOf } from "../../../src/agent/prefix/note.ts";
import { PREFIX_CHANNEL, type Prefix, storedPrefix } from "../../../src/agent/prefix/prefix.ts";
import { threadId } from "../../../src/core/threads.ts";
import { createCheckpointSaver } from "../../../src/langgraph/saver.ts";
import { readLeaseState } from "../../../src/store/records/leases/lease.ts";
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
  readonly #rule: () => string | null;
  #store: Store;
  #id: string;

  /** `rule` is what the instructions of the folder say now: `Rule N.`, or null without any. */
  constructor(store: Store, id: string, rule: () => string | null = () => null) {
    this.#store = store;
    this.#id = id;
    this.#rule = rule;
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

  /** Returns the prefix that counts for what the model is shown now; null if the next request begins one. */
  async prefix(): Promise<Prefix | null> {
    const saver = createCheckpointSaver({ store: this.#store });
    const tuple = await saver.getTuple({ configurable: { thread_id: threadId(this.#id, 0) } });
    const stored = storedPrefix(tuple?.checkpoint.channel_values[PREFIX_CHANNEL]);
    const messages = messagesOf(tuple);
    if (stored?.summary !== (viewOf(messages).summary?.id ?? null)) {
      return null;
    }
    const { prefix_mark } = await this.#store.read(readLeaseState, { session_id: this.#id });
    return stored.mark === prefix_mark || !this.#isDoubted(stored, messages) ? stored : null;
  }

  /** True if a file has brought a prefix, or a note after it, with other instructions than those of the folder. */
  #isDoubted({ system, after }: Prefix, messages: readonly BaseMessage[]): boolean {
    const sent = messages.slice(messages.findIndex(({ id }) => id === after) + 1);
    const texts = [system, ...sent.map((message) => noteOf(message)?.text ?? "")];
    const rules = texts.flatMap((text) => text.match(/Rule \d\./g) ?? []);
    return rules.some((rule) => rule !== this.#rule());
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
