import { sql } from "kysely";
import { expect, it } from "vitest";

import { newId } from "../../../src/core/ids.ts";
import { readSessionTree } from "../../../src/store/portable/read-tree.ts";
import { writeTree } from "../../../src/store/portable/write-tree.ts";
import { takeLease } from "../../../src/store/records/leases/lease.ts";
import { appendUserMessage } from "../../../src/store/records/messages/append.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { deleteSessionTree } from "../../../src/store/records/sessions/delete-tree.ts";
import type { Store } from "../../../src/store/store.ts";
import { describeEngines, type Engine, execute, openFresh, owner } from "../../helpers/engines.ts";
import { expectSound } from "../../helpers/sessions/forks.ts";
import { makeSession } from "../../helpers/sessions/steps.ts";
import { changedIn, sharedState, sync } from "../../helpers/sessions/sync.ts";

async function write(store: Store, reference: string, content: string): Promise<void> {
  await store.write(appendUserMessage, { reference, content });
}

/** Two databases with sessions that went apart, each with a sub-agent. */
async function openApart(engine: Engine) {
  const [here, there] = [await openFresh(engine), await openFresh(engine)];
  const steps = [{ do: "exchange", text: "question" }] as const;
  const ids = await Promise.all(
    [1, 2, 3, 4].map(() => makeSession(here, { steps, children: [{ steps, children: [] }] })),
  );
  await sync(here, there);
  const texts: string[] = [];
  for (const id of ids) {
    await write(here, id, `here ${id}`);
    await write(there, id, `there ${id}`);
    texts.push(`"here ${id}`, `"there ${id}`);
  }
  return { here, there, ids, texts };
}

async function expectSynced(here: Store, there: Store, texts: readonly string[]): Promise<void> {
  await sync(here, there);
  expect(changedIn(await sync(there, here))).toEqual([]);
  const state = await sharedState(here);
  expect(state).toEqual(await sharedState(there));
  for (const text of texts) {
    expect([...state.values()].join()).toContain(text);
  }
  for (const store of [here, there]) {
    await expectSound(store, ...state.keys());
  }
}

describeEngines("a sync beside others", (engine) => {
  it("[SYNC-10] runs in opposite directions at once, with writers and exchanges on both sides, lose nothing", async () => {
    const { here, there, ids, texts } = await openApart(engine);
    const work = async (store: Store, name: string): Promise<void> => {
      for (let n = 0; n < 30; n += 1) {
        const id = ids[n % ids.length] ?? "";
        await write(store, id, `${name} ${n}`);
        texts.push(`"${name} ${n}"`);
        await store.write(takeLease, { session_id: id, owner, life_ms: 60_000 });
        const free = "UPDATE sessions SET lease_expires_at = NULL, lease_owner = NULL WHERE id = ?";
        await execute(store, free, id);
      }
    };
    const runs = async (): Promise<void> => {
      for (let n = 0; n < 3; n += 1) {
        const reports = await Promise.all([sync(here, there), sync(there, here)]);
        const codes = reports.flat().map(({ code }) => code ?? "session_busy");
        expect(new Set(codes)).toEqual(new Set(["session_busy"]));
      }
    };
    await Promise.all([work(here, "of here"), work(there, "of there"), runs()]);
    await expectSynced(here, there, texts);
  });

  it.skipIf(engine.name === "sqlite")(
    "[SYNC-28] a message that waits while a sync replaces its session is stored in the session",
    async () => {
      const store = await openFresh(engine);
      const { id } = await store.write(createSession, {});
      const tree = await store.read(readSessionTree, { id });
      const waiting = Promise.withResolvers<void>();
      const replaced = store.write(async (tx) => {
        await deleteSessionTree(tx, { id });
        await writeTree(tx, tree, { root: id, markOf: newId });
        waiting.resolve();
        const waiters = sql`select 1 from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`;
        let isWaiting = false;
        while (!isWaiting) {
          // a transaction reads its statistics once, unless they are cleared
          await sql`select pg_stat_clear_snapshot()`.execute(tx.db);
          isWaiting = (await waiters.execute(tx.db)).rows.length > 0;
        }
      }, null);
      await waiting.promise;
      await write(store, id, "waited");
      await replaced;
      expect([...(await sharedState(store)).values()].join()).toContain('"waited"');
    },
  );

  it("[SYNC-16] ids with escape sequences in another database are refused by name, and its deletions change nothing else", async () => {
    const { here, there, texts } = await openApart(engine);
    const { id } = await there.write(createSession, {});
    const hostile = "\u001b[2J' OR 1=1 --";
    await execute(
      there,
      "UPDATE sessions SET id = ?, root_session_id = ? WHERE id = ?",
      hostile,
      hostile,
      id,
    );
    const { id: deleted } = await there.write(createSession, {});
    await there.write(deleteSessionTree, { id: deleted });
    await execute(there, "UPDATE deleted_sessions SET id = ? WHERE id = ?", "' OR 1=1 --", deleted);
    const report = await sync(here, there);
    expect(report.filter(({ code }) => code !== null)).toMatchObject([
      { session_id: hostile, here: "none", there: "none", code: "export_invalid" },
    ]);
    const state = await sharedState(here);
    expect([state.size, state.has(hostile)]).toEqual([12, false]);
    expect(texts.every((text) => [...state.values()].join().includes(text))).toBe(true);
  });

  it.skipIf(engine.name === "postgres")(
    "[SYNC-27] a full disk ends a run with its code, both databases are whole, and another run does the rest",
    async () => {
      const { here, there, ids, texts } = await openApart(engine);
      await Promise.all(ids.map((id) => write(here, id, "x".repeat(40_000))));
      const { rows } = await there.read(
        ({ db }) => sql<{ page_count: number }>`PRAGMA page_count`.execute(db),
        null,
      );
      await limitPages(there, (rows[0]?.page_count ?? 0) + 20);
      await expect(sync(here, there)).rejects.toMatchObject({ code: "database_full" });
      for (const store of [here, there]) {
        await expectSound(store, ...(await sharedState(store)).keys());
      }
      await limitPages(there, 1_000_000);
      await expectSynced(here, there, texts);
    },
  );
});

/** Makes the database "full" at this many pages, as a full disk does. */
async function limitPages(store: Store, pages: number): Promise<void> {
  await store.write(async ({ db }) => {
    await sql.raw(`PRAGMA max_page_count = ${pages}`).execute(db);
  }, null);
}
