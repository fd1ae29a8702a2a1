import { expect, it } from "vitest";

import { deleteSessionTree } from "../../../src/store/records/sessions/delete-tree.ts";
import { importTree, withNewIds } from "../../../src/store/portable/import-tree.ts";
import { readSessionTree } from "../../../src/store/portable/read-tree.ts";
import { readSession } from "../../../src/store/records/sessions/read.ts";
import type { Store } from "../../../src/store/store.ts";
import { describeEngines, openFresh } from "../../helpers/engines.ts";
import { seededRandom } from "../../helpers/random.ts";
import { contentsOf, expectSound, forkOf, threadRows } from "../../helpers/sessions/forks.ts";
import { repair } from "../../helpers/sessions/repair.ts";
import { makeSession, runStep, type Step } from "../../helpers/sessions/steps.ts";
import { exportsOf } from "../../helpers/sessions/stored.ts";
import { testSize } from "../../helpers/size.ts";

/** A family of sessions, and what each of them has to be as long as nobody works in it. */
class Family {
  readonly #store: Store;
  readonly #random: () => number;
  readonly #edits: boolean;
  #exports = new Map<string, string>();

  constructor(store: Store, random: () => number) {
    this.#store = store;
    this.#random = random;
    this.#edits = random() < 0.5;
  }

  async begin(): Promise<void> {
    await makeSession(this.#store, { steps: [exchange("first"), { do: "fold" }], children: [] });
    this.#exports = await exportsOf(this.#store);
  }

  /** Does one thing in one session, and expects that no other one has noticed. */
  async step(n: number): Promise<void> {
    const ids = [...this.#exports.keys()];
    const id = this.#any(ids);
    const what = this.#any<Kind>(this.#edits ? [...KINDS, "edit"] : KINDS);
    await this.#do(what, { id, n });
    const after = await exportsOf(this.#store);
    const changed = ids.filter((one) => after.get(one) !== this.#exports.get(one));
    expect(
      changed.filter((one) => one !== id),
      `${n}: ${what} in ${id}`,
    ).toEqual([]);
    await expectSound(
      this.#store,
      ...[...after.keys()].filter((one) => one === id || !this.#exports.has(one)),
    );
    this.#exports = after;
  }

  /** Deletes all, in random order. */
  async end(): Promise<void> {
    while (this.#exports.size > 0) {
      const id = this.#any([...this.#exports.keys()]);
      await this.#delete(id);
      const after = await exportsOf(this.#store);
      this.#exports.delete(id);
      expect([...after]).toEqual([...this.#exports]);
      await expectSound(this.#store, ...after.keys());
    }
  }

  async #do(what: Kind, { id, n }: { id: string; n: number }): Promise<void> {
    switch (what) {
      case "exchange":
        await runStep(this.#store, id, exchange(`question ${n}`));
        await runStep(this.#store, id, { do: "fold" });
        return;
      case "forked":
        return this.#fork(id);
      case "delete":
        return this.#exports.size > 2 ? this.#delete(id) : undefined;
      case "import": {
        const tree = await this.#store.read(readSessionTree, { id });
        await importTree(this.#store, withNewIds(tree));
        return;
      }
      case "repair":
        await repair(this.#store, id);
        return;
      case "pending":
        return runStep(this.#store, id, { do: "pending", text: `waits ${n}` });
      case "edit":
      case "remove":
        return runStep(this.#store, id, { do: what, at: Math.floor(this.#random() * 9) });
      case "branch":
        return runStep(this.#store, id, { do: "fork", at: Math.floor(this.#random() * 9) });
      default:
        return runStep(this.#store, id, { do: what });
    }
  }

  async #fork(id: string): Promise<void> {
    const { last_seq } = await this.#store.read(readSession, { id });
    const at = this.#random() < 0.3 ? undefined : Math.floor(this.#random() * (last_seq + 1));
    const fork = await forkOf(this.#store, id, at);
    const has = await contentsOf(this.#store, fork);
    expect(has.length).toBeLessThanOrEqual(at ?? last_seq);
    // after an edit, a fork from before it has the old text
    if (!this.#edits) {
      expect(has).toEqual((await contentsOf(this.#store, id)).slice(0, has.length));
    }
  }

  async #delete(id: string): Promise<void> {
    await this.#store.write(deleteSessionTree, { id });
  }

  #any<T>(items: readonly T[]): T {
    return items[Math.floor(this.#random() * items.length)]!;
  }
}

const KINDS = [
  "exchange",
  "exchange",
  "exchange",
  "forked",
  "forked",
  "forked",
  "delete",
  "import",
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

describeEngines("random lives of families", (engine) => {
  it("[FORK-3] leave every session as if each had a copy of everything, and nothing at the end", async () => {
    const random = seededRandom(`families on ${engine.name}`);
    const lives = testSize("families");
    for (let life = 0; life < lives; life += 1) {
      const store = await openFresh(engine);
      const family = new Family(store, random);
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
  }, 600_000);
});
