import { expect, it } from "vitest";

import { newId } from "../../../src/core/ids.ts";
import { importTree, withNewIds } from "../../../src/store/portable/import-tree.ts";
import { readSessionTree } from "../../../src/store/portable/read-tree.ts";
import { createSession } from "../../../src/store/sessions/create.ts";
import { fillRoots } from "../../../src/store/sessions/fill-roots.ts";
import type { Store } from "../../../src/store/store.ts";
import { verifySession } from "../../../src/store/verify/verify-session.ts";
import {
  describeEngines,
  type Engine,
  execute,
  newSession,
  openFresh,
} from "../../helpers/engines.ts";
import { repair } from "../../helpers/sessions/repair.ts";

const DEPTHS = [0, 1, 2, 3];

/** A session, below it another, and so on: their ids. */
async function makeTree(store: Store): Promise<string[]> {
  const ids: string[] = [];
  for (const _ of DEPTHS) {
    ids.push((await newSession(store, { parent_session_id: ids.at(-1) ?? null })).id);
  }
  return ids;
}

function rootsIn(store: Store): Promise<Map<string, string | null>> {
  return store.read(async ({ db }) => {
    const rows = await db.selectFrom("sessions").select(["id", "root_session_id"]).execute();
    return new Map(rows.map(({ id, root_session_id }) => [id, root_session_id]));
  }, null);
}

/** What a database looks like that an older version has written. */
async function forgetRoots(store: Store): Promise<void> {
  await execute(store, "UPDATE sessions SET root_session_id = NULL");
}

async function hasAllRoots(store: Store): Promise<boolean> {
  return [...(await rootsIn(store)).values()].every((root) => root !== null);
}

async function twoDatabases(engine: Engine): Promise<[Store, Store]> {
  return [await openFresh(engine), await openFresh(engine)];
}

describeEngines("the root of a session's tree", (engine) => {
  it("[STORE-81] is stored with each session, a new one, a sub-agent and an imported one", async () => {
    const [here, there] = await twoDatabases(engine);
    const ids = await makeTree(here);
    const [top = "", child = ""] = ids;
    const expected = new Map(ids.map((id) => [id, top]));
    expect(await rootsIn(here)).toEqual(expected);

    const tree = await here.read(readSessionTree, { id: top });
    await importTree(there, tree);
    expect(await rootsIn(there)).toEqual(expected);

    const below = withNewIds(await here.read(readSessionTree, { id: child }));
    for (const id of await importTree(there, below)) {
      expect((await rootsIn(there)).get(id)).toBe(top);
    }
  });

  it("[STORE-82] of an older version's sessions is found by going up, and filled in when a node opens the database", async () => {
    const database = await engine.create();
    const older = await database.open();
    const ids = await makeTree(older);
    const [top = "", child] = ids;
    await forgetRoots(older);
    const { id } = await older.write(createSession, { parent_session_id: child ?? null });
    expect((await rootsIn(older)).get(id)).toBe(top);
    expect((await verifySession(older, id)).findings).toEqual([]);

    const newer = await database.open();
    await expect.poll(() => hasAllRoots(newer)).toBe(true);
    expect(new Set((await rootsIn(newer)).values())).toEqual(new Set([top]));
  });

  it("[STORE-82] is filled in by several nodes at once, and by the next one if a node stops", async () => {
    const database = await engine.create();
    const stores = [await database.open(), await database.open(), await database.open()];
    const [store] = stores as [Store];
    const expected = new Map<string, string>();
    for (let index = 0; index < 90; index += 1) {
      const ids = await makeTree(store);
      for (const id of ids) {
        expected.set(id, ids[0] ?? "");
      }
    }
    await forgetRoots(store);
    let batches = 0;
    const stopping: Pick<Store, "write"> = {
      write: (operation, input) => {
        batches += 1;
        return batches > 1 ? Promise.reject(new Error("stopped")) : store.write(operation, input);
      },
    };
    await expect(fillRoots(stopping)).rejects.toThrow("stopped");
    expect(await hasAllRoots(store)).toBe(false);
    await Promise.all(stores.map((each) => fillRoots(each)));
    expect(await rootsIn(store)).toEqual(expected);
  });

  it("[STORE-82] stays empty if parents are missing or form a cycle, and filling in ends", async () => {
    const store = await openFresh(engine);
    const [top = "", child = ""] = await makeTree(store);
    const alone = await newSession(store);
    await forgetRoots(store);
    await execute(store, "UPDATE sessions SET parent_session_id = ? WHERE id = ?", child, top);
    await fillRoots(store);
    expect([...(await rootsIn(store))].filter(([, root]) => root !== null)).toEqual([
      [alone.id, alone.id],
    ]);
  });

  it("[STORE-83] is found by verify if it is another one, and repaired", async () => {
    const store = await openFresh(engine);
    const [top = "", child = ""] = await makeTree(store);
    await execute(store, "UPDATE sessions SET root_session_id = ? WHERE id = ?", newId(), child);
    const { findings } = await verifySession(store, child);
    expect(findings.map(({ kind }) => kind)).toEqual(["root"]);
    expect((await repair(store, child)).left).toEqual([]);
    expect((await verifySession(store, child)).findings).toEqual([]);
    expect((await rootsIn(store)).get(child)).toBe(top);
  });
});
