import { Client } from "pg";
import { expect, it } from "vitest";

import { appendUserMessage } from "../../../../src/store/records/messages/append.ts";
import { queueExchange } from "../../../../src/store/records/exchanges/queue.ts";
import { DELETIONS_KNOWN_MS } from "../../../../src/core/limits.ts";
import {
  type ChangePosition,
  type ChangesPage,
  readChanges,
} from "../../../../src/store/records/changes/read-changes.ts";
import { copyStore } from "../../../../src/store/portable/copy-store.ts";
import { releaseLease, renewLease, takeLease } from "../../../../src/store/records/leases/lease.ts";
import { endSession } from "../../../../src/store/records/sessions/change.ts";
import { deleteSessionTree } from "../../../../src/store/records/sessions/delete-tree.ts";
import { patchSession } from "../../../../src/store/records/sessions/patch.ts";
import type { Store } from "../../../../src/store/store.ts";
import {
  describeEngines,
  execute,
  newSession,
  openFresh,
  owner,
} from "../../../helpers/engines.ts";
import { createPostgres } from "../../../helpers/postgres.ts";
import { openStoreAt } from "../../../helpers/open-store.ts";
import { tokenHolder } from "../../../../src/core/principal.ts";

const principal = tokenHolder("owner");

const noPhases = () => Promise.resolve([]);

/** A reader that keeps what `readChanges` asks it to keep. */
function readerOf(store: Store, limits = { max_rows: 100, max_bytes: 1_000_000 }) {
  let last: Pick<ChangesPage, "ahead" | "lost"> & { position: ChangePosition | null } = {
    position: null,
    ahead: new Map(),
    lost: new Set(),
  };
  return {
    position: () => last.position,
    next: async () => {
      const { position, ahead, lost } = last;
      const input = { after: position, ahead, lost, ...limits, phases: noPhases };
      const page = await store.read(readChanges, input);
      last = page;
      return page;
    },
  };
}

type Reader = ReturnType<typeof readerOf>;

async function kindsOf(reader: Reader): Promise<string[]> {
  return (await reader.next()).changes.map(({ kind }) => kind);
}

describeEngines("changes of sessions", (engine) => {
  it("[EVENTS-2] [EVENTS-3] each change has one event, with the summary of now", async () => {
    const store = await openFresh(engine);
    const reader = readerOf(store);
    expect(await reader.next()).toMatchObject({ isReset: true, changes: [], more: false });
    const { id } = await newSession(store, { metadata: { team: "a" } });
    const [created] = (await reader.next()).changes;
    expect(created).toMatchObject({ kind: "created", id });
    expect(JSON.parse(created!.json)).toMatchObject({ id, title: null, metadata: { team: "a" } });
    await store.write(appendUserMessage, { reference: id, content: "Hello" });
    const [changed] = (await reader.next()).changes;
    expect(changed).toMatchObject({ kind: "changed", id });
    expect(JSON.parse(changed!.json)).toMatchObject({ title: "Hello", last_seq: 1 });
    const patch = (change: object) =>
      store.write(patchSession, { reference: id, change, project_key: null, principal });
    for (const change of [{ name: "x" }, { archived: true }, { metadata: { team: "b" } }]) {
      await patch(change);
      expect(await kindsOf(reader)).toEqual(["changed"]);
    }
    await patch({ metadata: { team: null } });
    const [unlabelled] = (await reader.next()).changes;
    expect(JSON.parse(unlabelled!.json)).toMatchObject({ metadata: {}, name: "x" });
    await store.write(endSession, { id });
    expect(await kindsOf(reader)).toEqual(["changed"]);
    await store.write(deleteSessionTree, { id });
    expect((await reader.next()).changes).toMatchObject([{ kind: "deleted", id }]);
    expect(await kindsOf(reader)).toEqual([]);
  });

  it("[EVENTS-2] a lease changes a session when it is taken and released, and not when it is renewed", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    const reader = readerOf(store);
    await reader.next();
    const lease = { session_id: id, owner, life_ms: 60_000 };
    const fence = await store.write(takeLease, lease);
    expect(await kindsOf(reader)).toEqual(["changed"]);
    await store.write(renewLease, { fence, life_ms: 60_000 });
    expect(await kindsOf(reader)).toEqual([]);
    await store.write(releaseLease, { fence, finished: true });
    expect(await kindsOf(reader)).toEqual(["changed"]);
  });

  it("[EVENTS-4] a reader that was away has the last value of each, and each deletion", async () => {
    const store = await openFresh(engine);
    const reader = readerOf(store);
    await reader.next();
    const [kept, gone, passing] = [
      await newSession(store),
      await newSession(store),
      await newSession(store),
    ];
    expect(await kindsOf(reader)).toEqual(["created", "created", "created"]);
    await store.write(deleteSessionTree, { id: gone.id });
    for (let count = 1; count <= 3; count += 1) {
      await store.write(appendUserMessage, { reference: kept.id, content: `${count}` });
    }
    await store.write(queueExchange, {
      reference: kept.id,
      content: "later",
      supersede: false,
      asked_by: "http",
      principal,
    });
    await store.write(deleteSessionTree, { id: passing.id });
    const late = await newSession(store);
    const { changes } = await reader.next();
    const seen = changes.map(({ kind, id }) => `${kind} ${id}`).sort();
    expect(seen).toEqual(
      [
        `changed ${kept.id}`,
        `exchange ${kept.id}`,
        `deleted ${gone.id}`,
        `deleted ${passing.id}`,
        `created ${late.id}`,
      ].sort(),
    );
    const exchange = changes.find(({ kind }) => kind === "exchange");
    expect(JSON.parse(exchange!.json)).toMatchObject({ session_id: kept.id, state: "queued" });
  });

  it("[EVENTS-4] numbers never fall, although the session with the last one is deleted", async () => {
    const store = await openFresh(engine);
    const reader = readerOf(store);
    await reader.next();
    for (let round = 0; round < 5; round += 1) {
      const { id } = await newSession(store);
      await store.write(appendUserMessage, { reference: id, content: "x" });
      expect(await kindsOf(reader)).toEqual(["created"]);
      await store.write(deleteSessionTree, { id });
      expect(await kindsOf(reader)).toEqual(["deleted"]);
    }
  });

  it("[EVENTS-5] pages of any size lose nothing", async () => {
    const store = await openFresh(engine);
    const readers = [
      readerOf(store, { max_rows: 2, max_bytes: 1_000_000 }),
      readerOf(store, { max_rows: 100, max_bytes: 1 }),
    ];
    await Promise.all(readers.map((reader) => reader.next()));
    const ids: string[] = [];
    for (let count = 0; count < 7; count += 1) {
      ids.push((await newSession(store)).id);
    }
    // all with one number
    await store.write(async (tx) => {
      for (const id of ids) {
        await tx.db.updateTable("sessions").set({ name: "x" }).where("id", "=", id).execute();
      }
    }, null);
    for (const reader of readers) {
      const found = new Set<string>();
      let pages = 0;
      for (let more = true; more; pages += 1) {
        const page = await reader.next();
        page.changes.forEach(({ id }) => found.add(id));
        ({ more } = page);
      }
      expect([...found].sort()).toEqual(ids.toSorted());
      expect(pages).toBeLessThanOrEqual(9);
    }
  });

  it("[EVENTS-6] a position of another database, or after the last one, begins again", async () => {
    const store = await openFresh(engine);
    const reader = readerOf(store);
    await reader.next();
    const { numbers, at } = reader.position()!;
    const read = (after: ChangePosition) =>
      store.read(readChanges, {
        after,
        ahead: new Map(),
        lost: null,
        max_rows: 10,
        max_bytes: 1000,
        phases: noPhases,
      });
    expect(await read({ numbers, at })).toMatchObject({ isReset: false });
    expect(await read({ numbers: "other", at })).toMatchObject({ isReset: true });
    expect(await read({ numbers, at: at + 1_000_000_000 })).toMatchObject({ isReset: true });
  });

  it("[EVENTS-6] [EVENTS-15] a database that sessions are copied to has other positions", async () => {
    const source = await openFresh(engine);
    const target = await engine.openNew();
    await newSession(source);
    await copyStore({ source, target, intoExisting: false, onProgress: () => undefined });
    const [before, after] = [readerOf(source), readerOf(target)];
    await before.next();
    await after.next();
    const { numbers } = before.position()!;
    const own = after.position()!;
    expect(numbers).toMatch(/^[0-9a-f]{8}$/);
    const read = (position: ChangePosition) =>
      target.read(readChanges, {
        after: position,
        ahead: new Map(),
        lost: null,
        max_rows: 10,
        max_bytes: 1000,
        phases: noPhases,
      });
    expect(await read(own)).toMatchObject({ isReset: false });
    expect(await read({ ...own, numbers })).toMatchObject({ isReset: true });
  });

  it("[EVENTS-6] deletions are known for 90 days, and a reader from before begins again", async () => {
    const store = await openFresh(engine);
    const early = readerOf(store);
    await early.next();
    const delay = async (): Promise<void> => {
      const { id } = await newSession(store);
      await store.write(deleteSessionTree, { id });
    };
    await delay();
    await delay();
    const late = readerOf(store);
    const deleted = await store.read(
      ({ db }) =>
        db
          .selectFrom("deleted_sessions")
          .select(({ fn }) => fn.max("changed").as("last"))
          .executeTakeFirstOrThrow(),
      null,
    );
    // on PostgreSQL, an open transaction of another test holds the position back
    const position = async (): Promise<number> => {
      await late.next();
      return late.position()?.at ?? 0;
    };
    await expect.poll(position).toBeGreaterThan(deleted.last);
    const old = new Date(Date.now() - DELETIONS_KNOWN_MS - 60_000).toISOString();
    await execute(store, "UPDATE deleted_sessions SET deleted_at = ?", old);
    await delay();
    expect(await early.next()).toMatchObject({ isReset: true });
    expect(await late.next()).toMatchObject({ isReset: false, changes: [{ kind: "deleted" }] });
    const left = await store.read(
      ({ db }) => db.selectFrom("deleted_sessions").select("id").execute(),
      null,
    );
    expect(left).toHaveLength(2);
  });

  it("[EVENTS-7] a session whose process is gone changes once more, for each reader", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    const lease = { session_id: id, owner, life_ms: 60_000 };
    await store.write(takeLease, lease);
    const expired = "UPDATE sessions SET lease_expires_at = '2026-01-01T00:00:00.000Z'";
    const reader = readerOf(store);
    await reader.next();
    await execute(store, expired);
    expect(await kindsOf(reader)).toEqual(["changed"]);
    expect(await kindsOf(reader)).toEqual([]);
  });
});

it("[EVENTS-8] a transaction that ends late is not lost, however many began after it and have ended", async () => {
  await using database = await createPostgres();
  await using store = await openStoreAt(database.url);
  const [slow, quick] = [await newSession(store), await newSession(store)];
  const reader = readerOf(store);
  await reader.next();
  const client = new Client({ connectionString: database.url });
  await client.connect();
  try {
    await client.query("BEGIN");
    await client.query("UPDATE sessions SET name = 'slow' WHERE id = $1", [slow.id]);
    const rename = (name: string) =>
      store.write(patchSession, {
        reference: quick.id,
        change: { name },
        project_key: null,
        principal,
      });
    for (const name of ["one", "two"]) {
      await rename(name);
      // once, although the position cannot pass the open transaction
      expect((await reader.next()).changes).toMatchObject([{ kind: "changed", id: quick.id }]);
      expect(await kindsOf(reader)).toEqual([]);
    }
    const away = reader.position();
    await client.query("COMMIT");
    expect((await reader.next()).changes).toMatchObject([{ kind: "changed", id: slow.id }]);
    const { changes } = await store.read(readChanges, {
      after: away,
      ahead: new Map(),
      lost: null,
      max_rows: 100,
      max_bytes: 100_000,
      phases: noPhases,
    });
    expect(new Set(changes.map(({ id }) => id))).toEqual(new Set([slow.id, quick.id]));
  } finally {
    await client.end();
  }
});
