import { expect, it } from "vitest";

import { DELETIONS_KNOWN_MS } from "../../../src/core/limits.ts";
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

/** Deletes a session in a database whose clock shows a later time. */
async function deleteLater(store: Store, id: string, ms: number): Promise<void> {
  await store.write(
    (tx, input) => {
      const now = (offset = 0) => tx.dialect.now(offset + ms);
      return deleteSessionTree({ ...tx, dialect: { ...tx.dialect, now } }, input);
    },
    { id },
  );
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

  it("[SYNC-25] a database that was away for less than 90 days loses what was deleted, and for longer brings it back", async () => {
    const [here, there, third] = [
      await openFresh(engine),
      await openFresh(engine),
      await openFresh(engine),
    ];
    const [first = "", second = "", next = "", last = ""] = await makeSessions(here, 4);
    await sync(here, there);
    await sync(here, third);
    await deleteIn(here, first);
    await deleteIn(here, second);
    // a deletion makes the database forget those of 90 days before
    await deleteLater(here, next, DELETIONS_KNOWN_MS - 60_000);
    const report = await sync(here, there);
    expect(report.filter((each) => each.there === "deleted")).toHaveLength(3);
    expect(await idsIn(there)).toEqual([last]);
    await deleteLater(here, last, DELETIONS_KNOWN_MS + 60_000);
    const late = await sync(here, third);
    expect(late.filter((each) => each.here === "added")).toHaveLength(3);
    expect(await idsIn(here)).toEqual([first, second, next].toSorted());
    expect(await sharedState(here)).toEqual(await sharedState(third));
    // this one has not forgotten them yet
    const again = await sync(here, there);
    expect(again.filter((each) => each.here === "deleted")).toHaveLength(3);
  });
});
