import { join } from "node:path";

import { expect, it, onTestFinished } from "vitest";

import { copyStore } from "../../../src/store/portable/copy-store.ts";
import { exportText } from "../../../src/store/portable/export-text.ts";
import { importTree, withNewIds } from "../../../src/store/portable/import-tree.ts";
import { parseExport } from "../../../src/store/portable/parse.ts";
import { readSessionTree } from "../../../src/store/portable/read-tree.ts";
import { openSqliteStore } from "../../../src/store/engines/sqlite/open.ts";
import { deleteSessionTree } from "../../../src/store/records/sessions/delete-tree.ts";
import { pruneSession } from "../../../src/store/records/sessions/prune.ts";
import { readSession } from "../../../src/store/records/sessions/read.ts";
import type { Store } from "../../../src/store/store.ts";
import { describeEngines, openFresh } from "../../helpers/engines.ts";
import { seededRandom } from "../../helpers/random.ts";
import { contentsOf, expectSound, forkOf, threadRows } from "../../helpers/sessions/forks.ts";
import { repair } from "../../helpers/sessions/repair.ts";
import { makeSession, runStep, type Step } from "../../helpers/sessions/steps.ts";
import { exportsOf } from "../../helpers/sessions/stored.ts";
import { testSize } from "../../helpers/size.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

/**
 * A family of sessions, and a model of it: another store, to which each session was copied when it began, so that none
 * shares anything. Whatever is done is done in both.
 */
class Family {
  readonly #store: Store;
  readonly #model: Store;
  readonly #random: () => number;
  readonly #edits: boolean;
  /** In the order in which the sessions began. */
  #exports = new Map<string, string>();

  constructor({ store, model, random }: { store: Store; model: Store; random: () => number }) {
    this.#store = store;
    this.#model = model;
    this.#random = random;
    this.#edits = random() < 0.5;
  }

  async begin(): Promise<void> {
    await makeSession(this.#store, { steps: [exchange("first"), { do: "fold" }], children: [] });
    await this.#notice();
  }

  /** Does one thing in one session, and expects the same there as in the model, and nothing in any other. */
  async step(n: number): Promise<void> {
    const before = this.#exports;
    const id = this.#any([...before.keys()]);
    const what = this.#any<Kind>(this.#edits ? [...KINDS, "edit"] : KINDS);
    await this.#do(what, { id, n });
    const begun = await this.#notice();
    const name = `${n}: ${what} in ${id}`;
    for (const [one, text] of before) {
      if (one !== id) {
        expect(this.#exports.get(one), name).toBe(text);
      }
    }
    const changed = this.#exports.has(id) ? [id, ...begun] : begun;
    await expectSound(this.#store, ...changed);
    for (const one of changed) {
      expect(await stateOf(this.#store, one), name).toEqual(await stateOf(this.#model, one));
    }
  }

  /** Deletes all, in random order. */
  async end(): Promise<void> {
    while (this.#exports.size > 0) {
      const left = new Map(this.#exports);
      const id = this.#any([...left.keys()]);
      left.delete(id);
      await this.#delete(id);
      await this.#notice();
      expect(this.#exports).toEqual(left);
      await expectSound(this.#store, ...left.keys());
    }
  }

  /** Copies sessions that have begun to the model, and returns their ids. */
  async #notice(): Promise<string[]> {
    const after = await exportsOf(this.#store);
    const known = [...this.#exports.keys()].filter((id) => after.has(id));
    const begun = [...after.keys()].filter((id) => !this.#exports.has(id));
    this.#exports = new Map([...known, ...begun].map((id) => [id, after.get(id) ?? ""]));
    for (const id of begun) {
      await importTree(this.#model, await this.#store.read(readSessionTree, { id }));
    }
    return begun;
  }

  async #do(what: Kind, { id, n }: { id: string; n: number }): Promise<void> {
    switch (what) {
      case "exchange":
        await this.#both(id, exchange(`question ${n}`));
        return this.#both(id, { do: "fold" });
      case "forked":
        return this.#fork(id);
      case "delete":
      case "prune":
        return this.#exports.size > 2 ? this.#delete(id, what) : undefined;
      case "import": {
        const tree = await this.#store.read(readSessionTree, { id });
        await importTree(this.#store, withNewIds(parseExport([...exportText(tree, NOW)].join(""))));
        return;
      }
      case "copy":
        return this.#copy();
      case "repair":
        await repair(this.#store, id);
        return;
      case "pending":
        return this.#both(id, { do: "pending", text: `waits ${n}` });
      case "edit":
      case "remove":
        return this.#both(id, { do: what, at: this.#below(9) });
      case "branch":
        return this.#both(id, { do: "fork", at: this.#below(9) });
      default:
        return this.#both(id, { do: what });
    }
  }

  async #both(id: string, step: Step): Promise<void> {
    await runStep(this.#store, id, step);
    await runStep(this.#model, id, step);
  }

  async #fork(id: string): Promise<void> {
    const { last_seq } = await this.#store.read(readSession, { id });
    const at = this.#random() < 0.3 ? undefined : this.#below(last_seq + 1);
    const fork = await forkOf(this.#store, id, at);
    const has = await contentsOf(this.#store, fork);
    expect(has.length).toBeLessThanOrEqual(at ?? last_seq);
    // after an edit, a fork from before it has the old text
    if (!this.#edits) {
      expect(has).toEqual((await contentsOf(this.#store, id)).slice(0, has.length));
    }
  }

  async #delete(id: string, how: "delete" | "prune" = "delete"): Promise<void> {
    for (const store of [this.#store, this.#model]) {
      await (how === "delete"
        ? store.write(deleteSessionTree, { id })
        : store.write(pruneSession, { id, older_than_ms: -60_000, state: null }));
    }
  }

  async #copy(): Promise<void> {
    const target = await openModel();
    const parts = { source: this.#store, target, intoExisting: false, onProgress: () => {} };
    expect((await copyStore(parts)).refused).toEqual([]);
    expect([...(await exportsOf(target)).values()].sort()).toEqual(
      [...this.#exports.values()].sort(),
    );
    await target.close();
  }

  #below(end: number): number {
    return Math.floor(this.#random() * end);
  }

  #any<T>(items: readonly T[]): T {
    return items[this.#below(items.length)]!;
  }
}

/** Whatever both have in common: ids of messages and times are given out separately. */
async function stateOf(store: Store, id: string): Promise<unknown> {
  const { session, messages, threads } = await store.read(readSessionTree, { id });
  const { title, state, last_seq, cleared_seq, thread_suffix } = session;
  const { total_input_tokens, total_output_tokens, input_tokens_ahead } = session;
  return {
    session: { title, state, last_seq, cleared_seq, thread_suffix },
    totals: { total_input_tokens, total_output_tokens, input_tokens_ahead },
    messages: messages.map(({ message_id: _id, ts: _ts, idempotency_key: _key, ...row }) => row),
    threads: threads.map(({ suffix, checkpoints }) => [suffix, checkpoints.length]),
  };
}

const NOW = "2026-01-01T00:00:00.000Z";

const KINDS = [
  "exchange",
  "exchange",
  "exchange",
  "forked",
  "forked",
  "forked",
  "delete",
  "prune",
  "import",
  "copy",
  "repair",
  "pending",
  "remove",
  "branch",
  "fold",
  "clear",
  "restart",
] as const;
type Kind = (typeof KINDS)[number] | "edit";

function exchange(text: string): Step {
  return { do: "exchange", text };
}

async function openModel(): Promise<Store> {
  const store = await openSqliteStore({ path: join(temporaryFolder(), "model.db") });
  onTestFinished(() => store.close());
  return store;
}

describeEngines("random lives of families", (engine) => {
  it("[FORK-3] [FORK-20] leave every session as if each had a copy of everything, and nothing at the end", async () => {
    const random = seededRandom(`families on ${engine.name}`);
    const lives = testSize("families");
    for (let life = 0; life < lives; life += 1) {
      const store = await openFresh(engine);
      const family = new Family({ store, model: await openModel(), random });
      await family.begin();
      for (let n = 0; n < 25; n += 1) {
        await family.step(n);
      }
      await family.end();
      expect(await threadRows(store)).toEqual({
        bodies: 0,
        bytes: 0,
        lists: 0,
        items: 0,
        checkpoints: 0,
        families: 0,
      });
    }
  }, 3_600_000);
});
