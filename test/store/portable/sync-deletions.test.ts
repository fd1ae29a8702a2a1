import { expect, it } from "vitest";

import { localPrincipal } from "../../../src/core/principal.ts";
import { copyStore } from "../../../src/store/portable/copy-store.ts";
import { findManyDeletions } from "../../../src/store/portable/sync/many-deletions.ts";
import { appendUserMessage } from "../../../src/store/records/messages/append.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { deleteSessionTree } from "../../../src/store/records/sessions/delete-tree.ts";
import { patchSession } from "../../../src/store/records/sessions/patch.ts";
import type { Store } from "../../../src/store/store.ts";
import { describeEngines, openFresh } from "../../helpers/engines.ts";
import { changedIn, sharedState, sync } from "../../helpers/sessions/sync.ts";

async function write(store: Store, reference: string, content: string): Promise<void> {
  await store.write(appendUserMessage, { reference, content });
}

async function pin(store: Store, reference: string, pinned: boolean): Promise<void> {
  const principal = localPrincipal("terminal", null);
  await store.write(patchSession, {
    reference,
    change: { pinned },
    project_key: null,
    principal,
  });
}

async function deleteIn(store: Store, id: string): Promise<void> {
  await store.write(deleteSessionTree, { id });
}

async function idsIn(store: Store): Promise<readonly string[]> {
  return [...(await sharedState(store)).keys()];
}

async function makeSessions(store: Store, count: number): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) {
    ids.push((await store.write(createSession, {})).id);
  }
  return ids;
}

describeEngines("deletions in synced databases", (engine) => {
  it("[SYNC-21] a history whose fork was deleted goes from another database by name, and stays if it is longer or pinned", async () => {
    const [here, there, third, fourth] = [
      await openFresh(engine),
      await openFresh(engine),
      await openFresh(engine),
      await openFresh(engine),
    ];
    const { id } = await there.write(createSession, {});
    await write(there, id, "common");
    await sync(here, there);
    await write(there, id, "of there");
    for (const store of [third, fourth]) {
      await copyStore({
        source: there,
        target: store,
        intoExisting: true,
        onProgress: () => undefined,
      });
    }
    await write(here, id, "of here");
    const [apart] = await sync(here, there);
    const fork = apart?.fork ?? "";
    await deleteIn(here, fork);
    await pin(third, id, true);
    const kept = { session_id: id, here: "none", there: "none", code: "session_exists" };
    expect(await sync(here, third)).toMatchObject([{ ...kept, fork: null, deleted_fork: null }]);
    await pin(third, id, false);
    const rehearsed = await sync(here, third, { isDry: true });
    const report = await sync(here, third);
    expect(report).toEqual(rehearsed);
    expect(report).toMatchObject([{ there: "updated", fork: null, deleted_fork: fork }]);
    expect(await idsIn(third)).toEqual([id]);
    // nobody has seen the rest of it
    await write(fourth, id, "more of there");
    const [longer] = await sync(here, fourth);
    expect(longer).toMatchObject({ session_id: id, code: null, deleted_fork: null });
    expect([...(await sharedState(here)).values()].join()).toContain("more of there");
  });

  it("[SYNC-24] more deletions than a person expects are found before a run, on either side, and an empty database deletes nothing", async () => {
    const [here, there] = [await openFresh(engine), await openFresh(engine)];
    const ids = await makeSessions(here, 30);
    expect(changedIn(await sync(here, there)).length).toBe(30);
    for (const id of ids.slice(0, 10)) {
      await deleteIn(there, id);
    }
    expect(await findManyDeletions({ here, there })).toEqual([]);
    await deleteIn(there, ids[10]!);
    await pin(here, ids[10]!, true);
    expect(await findManyDeletions({ here, there })).toEqual([]);
    await deleteIn(there, ids[11]!);
    const many = { deleted: 11, sessions: 30 };
    expect(await findManyDeletions({ here, there })).toEqual([{ in: "here", ...many }]);
    expect(await findManyDeletions({ here: there, there: here })).toEqual([
      { in: "there", ...many },
    ]);
    await makeSessions(here, 80);
    expect(await findManyDeletions({ here, there })).toEqual([]);
    const empty = await openFresh(engine);
    expect(await findManyDeletions({ here, there: empty })).toEqual([]);
    const report = changedIn(await sync(here, empty));
    expect(report.map((each) => each.there)).toEqual(Array.from({ length: 110 }, () => "added"));
  });
});
