import { expect, it } from "vitest";

import { importTree, withNewIds } from "../../../src/store/portable/import-tree.ts";
import { readSessionTree } from "../../../src/store/portable/read-tree.ts";
import { endSession } from "../../../src/store/records/sessions/change.ts";
import { deleteSessionTree } from "../../../src/store/records/sessions/delete-tree.ts";
import type { PatchSessionRequest } from "../../../src/core/schemas/patch-session.ts";
import { patchSession } from "../../../src/store/records/sessions/patch.ts";
import type { Store } from "../../../src/store/store.ts";
import { localPrincipal } from "../../../src/core/principal.ts";
import { describeEngine, type Engine, openFresh, sqlite } from "../../helpers/engines.ts";
import { seededRandom } from "../../helpers/random.ts";
import { expectSound, forkOf } from "../../helpers/sessions/forks.ts";
import { makeSession, runStep } from "../../helpers/sessions/steps.ts";
import { exportsOf } from "../../helpers/sessions/stored.ts";
import { changedIn, sharedState, sync } from "../../helpers/sessions/sync.ts";
import { testSize } from "../../helpers/size.ts";

/** The messages of a session in a database, by their ids. */
type Histories = ReadonlyMap<string, readonly string[]>;

const KINDS = [
  "exchange",
  "exchange",
  "exchange",
  "exchange",
  "pending",
  "pending",
  "begin",
  "fork",
  "fold",
  "clear",
  "restart",
  "remove",
  "rename",
  "rename",
  "label",
  "label",
  "end",
  "delete",
  "import",
  "below",
] as const;

/** Databases in which sessions live, and which are synced by twos. */
class World {
  readonly #stores: readonly Store[];
  readonly #random: () => number;
  readonly #deleted = new Set<string>();
  /** Histories of the sessions that were deleted. */
  readonly #given: (readonly string[])[] = [];

  constructor(stores: readonly Store[], random: () => number) {
    this.#stores = stores;
    this.#random = random;
  }

  /** Does one thing in one session of one database. */
  async act(n: number): Promise<void> {
    const store = this.#any(this.#stores);
    const rows = await store.read(
      ({ db }) =>
        db.selectFrom("sessions").select(["id", "state", "depth"]).orderBy("id").execute(),
      null,
    );
    const kind = this.#any(KINDS);
    const row = rows.length === 0 ? undefined : this.#any(rows);
    if (row === undefined || kind === "begin") {
      await makeSession(store, { steps: [exchange(`first ${n}`)], children: [] });
    } else if (kind === "delete") {
      const histories = await historiesOf(store);
      for (const { session } of await store.write(deleteSessionTree, { id: row.id })) {
        this.#deleted.add(session.id);
        this.#given.push(histories.get(session.id) ?? []);
      }
    } else if (kind === "rename" || kind === "label") {
      const change = kind === "rename" ? this.#name(n) : this.#label(n);
      const principal = localPrincipal("terminal", null);
      await store.write(patchSession, { reference: row.id, change, project_key: null, principal });
    } else if (kind === "import") {
      await importTree(store, withNewIds(await store.read(readSessionTree, { id: row.id })));
    } else if (kind === "fork") {
      await forkOf(store, row.id);
    } else if (row.state === "active") {
      await this.#continue(store, { ...row, kind, n });
    }
  }

  #name(n: number) {
    return { name: this.#random() < 0.3 ? null : `name ${n}` };
  }

  #label(n: number): PatchSessionRequest {
    const isSet = this.#random() < 0.5;
    const value = isSet ? `value ${n}` : null;
    // a pinned session is not deleted by a sync
    return this.#random() < 0.5
      ? { archived: isSet }
      : { metadata: { [this.#random() < 0.5 ? "one" : "two"]: value } };
  }

  async #continue(
    store: Store,
    { id, depth, kind, n }: { id: string; depth: number; kind: (typeof KINDS)[number]; n: number },
  ): Promise<void> {
    switch (kind) {
      case "end":
        await store.write(endSession, { id });
        return;
      case "below":
        if (depth < 3) {
          await makeSession(
            store,
            { steps: [exchange(`below ${n}`)], children: [] },
            { id, call: null },
          );
        }
        return;
      case "exchange":
        return runStep(store, id, exchange(`question ${n}`));
      case "pending":
        return runStep(store, id, { do: "pending", text: `waits ${n}` });
      case "remove":
        return runStep(store, id, { do: kind, at: Math.floor(this.#random() * 9) });
      case "fold":
      case "clear":
      case "restart":
        return runStep(store, id, { do: kind });
      default:
        throw new Error(`${kind} is done elsewhere`);
    }
  }

  /** Syncs two of them, and compares the result with what the lists of messages ask for. */
  async syncTwo(): Promise<void> {
    const here = this.#any(this.#stores);
    const there = this.#any(this.#stores.filter((store) => store !== here));
    const before = [await historiesOf(here), await historiesOf(there)] as const;
    const parents = new Map([...(await parentsOf(here)), ...(await parentsOf(there))]);
    const content = [await contentOf(here), await contentOf(there)];
    const rehearsed = await sync(here, there, { isDry: true });
    expect([await contentOf(here), await contentOf(there)]).toEqual(content);
    const report = await sync(here, there);
    expect(report).toEqual(rehearsed);
    expect(report.filter(({ code }) => code !== null)).toEqual([]);
    expect(await sharedState(here)).toEqual(await sharedState(there));
    expect(changedIn(await sync(there, here))).toEqual([]);
    const after = await historiesOf(here);
    for (const [id, parent] of parents) {
      // it was deleted with the session above it, in a database that did not have it
      if (this.#deleted.has(parent)) {
        this.#deleted.add(id);
      }
    }
    this.#expectDecided(before, after);
    await expectSound(here, ...after.keys());
    await expectSound(there, ...after.keys());
  }

  #expectDecided([here, there]: readonly [Histories, Histories], after: Histories): void {
    for (const id of new Set([...here.keys(), ...there.keys()])) {
      const [one, other] = [here.get(id), there.get(id)];
      const now = after.get(id);
      if (now === undefined) {
        // a sub-agent of a history that is a fork since has another id
        const moved = [one, other].every((list) => isElsewhere(after, list ?? []));
        expect(moved || this.#deleted.has(id), `${id} is gone`).toBe(true);
        continue;
      }
      const common = commonPart(one ?? [], other ?? []);
      if (
        one === undefined ||
        other === undefined ||
        common === Math.min(one.length, other.length)
      ) {
        const longer = (one?.length ?? 0) > (other?.length ?? 0) ? one : other;
        // a sub-agent may have come with another history of its parent
        if (!isElsewhere(after, longer ?? [])) {
          expect(now, id).toEqual(longer);
        }
        continue;
      }
      const lost = isSame(now, one) ? other : one;
      expect(isSame(now, one) || isSame(now, other), `${id} has one of both`).toBe(true);
      const isThere = [...after.values(), ...this.#given].some(
        (list) => list !== now && isBeginning(lost, list),
      );
      expect(isThere, `what ${id} lost is in a fork`).toBe(true);
    }
  }

  /** Syncs all in a circle until nothing changes, which is after two rounds at most. */
  async converge(): Promise<void> {
    let changed = Infinity;
    for (let round = 0; changed > 0; round += 1) {
      expect(round).toBeLessThan(4);
      changed = 0;
      for (const [at, store] of this.#stores.entries()) {
        const next = this.#stores[(at + 1) % this.#stores.length]!;
        changed += changedIn(await sync(store, next)).length;
      }
    }
    const [first, ...others] = await Promise.all(this.#stores.map(sharedState));
    for (const other of others) {
      expect(other).toEqual(first);
    }
    for (const id of first?.keys() ?? []) {
      expect(this.#deleted).not.toContain(id);
    }
  }

  #any<T>(items: readonly T[]): T {
    return items[Math.floor(this.#random() * items.length)]!;
  }
}

function exchange(text: string) {
  return { do: "exchange", text } as const;
}

async function historiesOf(store: Store): Promise<Histories> {
  const rows = await store.read(
    ({ db }) => db.selectFrom("sessions").select("id").orderBy("id").execute(),
    null,
  );
  const messages = await store.read(
    ({ db }) =>
      db.selectFrom("messages").select(["session_id", "message_id"]).orderBy("seq").execute(),
    null,
  );
  const lists = Map.groupBy(messages, ({ session_id }) => session_id);
  return new Map(
    rows.map(({ id }) => [id, (lists.get(id) ?? []).map(({ message_id }) => message_id)]),
  );
}

/** The session above each sub-agent, the highest first. */
async function parentsOf(store: Store): Promise<readonly (readonly [string, string])[]> {
  const rows = await store.read(
    ({ db }) =>
      db.selectFrom("sessions").select(["id", "parent_session_id"]).orderBy("depth").execute(),
    null,
  );
  return rows.flatMap(({ id, parent_session_id: parent }) =>
    parent === null ? [] : [[id, parent] as const],
  );
}

/** Everything that a database holds of sessions and their deletion. */
async function contentOf(store: Store): Promise<unknown> {
  const deleted = await store.read(
    ({ db }) => db.selectFrom("deleted_sessions").selectAll().orderBy("id").execute(),
    null,
  );
  return [await exportsOf(store), deleted];
}

function commonPart(one: readonly string[], other: readonly string[]): number {
  const at = one.findIndex((id, index) => other[index] !== id);
  return at === -1 ? one.length : at;
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && isBeginning(one, other);
}

function isBeginning(part: readonly string[], whole: readonly string[]): boolean {
  return commonPart(part, whole) === part.length;
}

function isElsewhere(after: Histories, list: readonly string[]): boolean {
  return [...after.values()].some((other) => isBeginning(list, other));
}

async function openAll(engines: readonly Engine[]): Promise<Store[]> {
  const stores: Store[] = [];
  for (const engine of engines) {
    stores.push(await openFresh(engine));
  }
  return stores;
}

describeEngine("random lives of synced databases", (engine) => {
  it("[SYNC-1] [SYNC-2] [SYNC-3] [SYNC-11] [SYNC-20] end alike, as their lists of messages decide", async () => {
    const random = seededRandom(`synced databases with ${engine.name}`);
    for (let life = 0; life < testSize("syncs"); life += 1) {
      const stores = await openAll(life % 2 === 0 ? [sqlite, engine, sqlite] : [sqlite, engine]);
      const world = new World(stores, random);
      for (let n = 0; n < 40; n += 1) {
        await world.act(n);
        if (n % 8 === 7) {
          await world.syncTwo();
        }
      }
      await world.converge();
      await Promise.all(stores.map((store) => store.close()));
    }
  }, 600_000_000);
});
