import { expect, it } from "vitest";

import { newId } from "../../../../src/core/ids.ts";
import { importTree, withNewIds } from "../../../../src/store/portable/import-tree.ts";
import { readSessionTree } from "../../../../src/store/portable/read-tree.ts";
import type { Store } from "../../../../src/store/store.ts";
import { verifySession } from "../../../../src/store/verify/verify-session.ts";
import {
  describeEngines,
  type Engine,
  execute,
  newSession,
  openFresh,
} from "../../../helpers/engines.ts";
import { repair } from "../../../helpers/sessions/repair.ts";

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
