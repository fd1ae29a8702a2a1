import { join } from "node:path";

import { expect, it, onTestFinished } from "vitest";

import { thisProcess, type LeaseOwner } from "../../../src/store/records/leases/this-process.ts";
import { type CopyReport, copyStore } from "../../../src/store/portable/copy-store.ts";
import { threadId } from "../../../src/core/threads.ts";
import { pruneThread } from "../../../src/store/checkpoints/prune.ts";
import { takeLease } from "../../../src/store/records/leases/lease.ts";
import { appendUserMessage } from "../../../src/store/records/messages/append.ts";
import { openSqliteStore } from "../../../src/store/engines/sqlite/open.ts";
import type { Store } from "../../../src/store/store.ts";
import { leasedStore } from "../../helpers/checkpoints/leased-store.ts";
import { exportsOf, rowCounts } from "../../helpers/sessions/stored.ts";
import { temporaryFolder } from "../../helpers/temp.ts";
import { describeEngines, execute, newSession, openFresh, owner } from "../../helpers/engines.ts";
import { makeSession, type Plan } from "../../helpers/sessions/steps.ts";

const PLAN: Plan = {
  steps: [
    { do: "exchange", text: "one" },
    { do: "fold" },
    { do: "exchange", text: "two" },
    { do: "pending", text: "waits" },
  ],
  children: [{ steps: [{ do: "exchange", text: "a task" }], children: [] }],
};

async function openFile(): Promise<Store> {
  const store = await openSqliteStore({ path: join(temporaryFolder(), "source.db") });
  onTestFinished(() => store.close());
  return store;
}

function copy(
  source: Store,
  target: Store,
  { intoExisting = false, onProgress = (): void => undefined } = {},
): Promise<CopyReport> {
  return copyStore({ source, target, intoExisting, onProgress });
}

async function say(store: Store, id: string, content: string): Promise<void> {
  await store.write(appendUserMessage, { reference: id, content, idempotency_key: content });
}

describeEngines("copying a store", (engine) => {
  it("[COPY-1] copied sessions continue: a repeated request is one, and pruning finds its marks", async () => {
    const [source, target] = [await openFile(), await openFresh(engine)];
    const id = await makeSession(source, PLAN);
    await say(source, id, "sent once");
    await copy(source, target);

    const before = await exportsOf(target);
    await say(target, id, "sent once");
    expect(await exportsOf(target)).toEqual(before);
    for (const store of [source, target]) {
      await leasedStore(store).write(pruneThread, { thread_id: threadId(id, 0), fence: null });
    }
    expect(await rowCounts(target)).toEqual(await rowCounts(source));
    expect(await exportsOf(target)).toEqual(await exportsOf(source));
  });

  it("[COPY-4] a target with sessions is refused unchanged, unless the copy is asked to go beside them", async () => {
    const [source, target] = [await openFile(), await openFresh(engine)];
    await makeSession(source, PLAN);
    const own = await makeSession(target, PLAN);
    const before = await exportsOf(target);
    await expect(copy(source, target)).rejects.toMatchObject({ code: "invalid_usage" });
    expect(await exportsOf(target)).toEqual(before);

    expect(await copy(source, target, { intoExisting: true })).toMatchObject({
      copied: { sessions: 2 },
      present: { sessions: 0 },
      refused: [],
    });
    const after = await exportsOf(target);
    expect(after.get(own)).toBe(before.get(own));
    expect(after).toEqual(new Map([...after, ...(await exportsOf(source)), ...before]));
    expect(after.size).toBe(4);
  });

  it("[COPY-5] an equal session is skipped, and one that differs is named and not changed", async () => {
    const [source, target] = [await openFile(), await openFresh(engine)];
    const ids = [
      await makeSession(source, PLAN),
      await makeSession(source, PLAN),
      await makeSession(source, PLAN),
    ].toSorted();
    await copy(source, target);
    const [ahead = "", behind = "", same = ""] = ids;
    await say(target, ahead, "said in the target only");
    await say(source, behind, "said in the source only");
    const before = await exportsOf(target);

    const report = await copy(source, target);
    expect(report.refused.map(({ session_id, code }) => [session_id, code])).toEqual([
      [ahead, "session_exists"],
      [behind, "session_exists"],
    ]);
    expect(report).toMatchObject({
      copied: { sessions: 0 },
      present: { sessions: 2 },
      changed: [],
    });
    expect(await exportsOf(target)).toEqual(before);
    expect(before.get(same)).toBe((await exportsOf(source)).get(same));
  });

  it("[COPY-2] what the target would change is not stored at all", async () => {
    const [source, target] = [await openFile(), await openFresh(engine)];
    const id = await makeSession(source, PLAN);
    const isSqlite = await target.read((tx) => Promise.resolve(tx.dialect.writersQueue), null);
    await execute(
      target,
      isSqlite
        ? "CREATE TRIGGER lose AFTER INSERT ON messages BEGIN UPDATE messages SET content = 'lost' WHERE session_id = NEW.session_id AND seq = NEW.seq; END"
        : `CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.content := 'lost'; RETURN NEW; END $$;
           CREATE TRIGGER lose BEFORE INSERT ON messages FOR EACH ROW EXECUTE FUNCTION lose()`,
    );
    const report = await copy(source, target);
    expect(report).toMatchObject({
      copied: { sessions: 0 },
      refused: [{ session_id: id, code: "internal" }],
    });
    expect(Object.values(await rowCounts(target)).every((rows) => rows === 0)).toBe(true);
  });
});

it("[COPY-5] a difference in any stored field counts, down to a checkpoint", async () => {
  const [source, target] = [await openFile(), await openFile()];
  const id = await makeSession(source, PLAN);
  await copy(source, target);
  for (const damage of [
    "UPDATE sessions SET title = 'another' WHERE id = ?",
    "UPDATE messages SET token_count = 7 WHERE session_id = ? AND seq = 1",
    "UPDATE checkpoints SET ts = 'never' WHERE thread IN (SELECT id FROM threads WHERE thread_id = ?)",
  ]) {
    await execute(target, damage, damage.includes("thread_id") ? threadId(id, 0) : id);
    expect((await copy(source, target)).refused).toMatchObject([{ session_id: id }]);
    await execute(target, "DELETE FROM threads WHERE thread_id > ?", "");
    await execute(target, "DELETE FROM sessions WHERE parent_session_id = ?", id);
    await execute(target, "DELETE FROM sessions WHERE id = ?", id);
    expect((await copy(source, target)).copied).toMatchObject({ sessions: 2 });
  }
});

it("[COPY-8] a session with a running exchange is named, not copied; a dead process blocks none", async () => {
  const [source, target] = [await openFile(), await openFile()];
  const [busy, dead, idle] = [
    await makeSession(source, PLAN),
    await newSession(source).then(({ id }) => id),
    await newSession(source).then(({ id }) => id),
  ];
  const hold = (session_id: string, holder: LeaseOwner) =>
    source.write(takeLease, { session_id, owner: holder, life_ms: 600_000 });
  await hold(await childOf(source, busy), owner);
  await hold(dead, { ...thisProcess("test"), pid: 2 ** 30 });

  const report = await copy(source, target);
  expect(report).toMatchObject({
    copied: { sessions: 2 },
    refused: [{ session_id: busy, code: "session_busy" }],
    changed: [],
  });
  expect(report.refused[0]?.detail).toContain("process 4711 on workshop (reprise serve)");
  expect([...(await exportsOf(target)).keys()]).toEqual([dead, idle].toSorted());
});

it("[COPY-8] [COPY-11] what changed during the copy is named", async () => {
  const [source, target] = [await openFile(), await openFile()];
  const ids = [await makeSession(source, PLAN), await makeSession(source, PLAN)].toSorted();
  const [first = ""] = ids;
  const begun = "00000000-0000-4000-8000-000000000000";
  let meddling: Promise<unknown> | null = null;
  const meddle = async (): Promise<void> => {
    await say(source, first, "too late");
    await newSession(source, { id: begun });
  };
  const waiting: Store = {
    ...source,
    read: async (operation, input) => {
      await meddling;
      return source.read(operation, input);
    },
  };
  const report = await copy(waiting, target, {
    onProgress: () => {
      meddling ??= meddle();
    },
  });
  expect(report.refused).toEqual([]);
  expect(report.changed).toEqual([begun, first].toSorted());
});

it("[COPY-10] a session that cannot be read whole blocks no other", async () => {
  const [source, target] = [await openFile(), await openFile()];
  const [damaged, whole] = [await makeSession(source, PLAN), await makeSession(source, PLAN)];
  await execute(
    source,
    "DELETE FROM checkpoint_bodies WHERE thread IN (SELECT id FROM threads WHERE thread_id = ?)",
    threadId(damaged, 0),
  );
  expect(await copy(source, target)).toMatchObject({
    copied: { sessions: 2 },
    refused: [{ session_id: damaged, code: "database_corrupt" }],
    changed: [],
  });
  expect((await exportsOf(target)).has(whole)).toBe(true);
});

it("[COPY-10] [COPY-14] a mirror that needs repair, and a row with its key only, are copied unchanged", async () => {
  const [source, target] = [await openFile(), await openFile()];
  const id = await makeSession(source, PLAN);
  await execute(source, "UPDATE messages SET content = 'changed' WHERE session_id = ?", id);
  await execute(source, "DELETE FROM messages WHERE session_id = ? AND seq = 2", id);
  await execute(source, "INSERT INTO sessions (id) VALUES ('a key')");
  expect(await copy(source, target)).toMatchObject({ copied: { sessions: 3 }, refused: [] });
  expect(await exportsOf(target)).toEqual(await exportsOf(source));
});

it("[COPY-10] text that PostgreSQL could not store is refused by name", async () => {
  const [source, target] = [await openFile(), await openFile()];
  const { id } = await newSession(source);
  await execute(
    source,
    "INSERT INTO messages (session_id, seq, content) VALUES (?, 1, 'a' || char(0) || 'b')",
    id,
  );
  expect((await copy(source, target)).refused).toMatchObject([
    { session_id: id, code: "database_corrupt" },
  ]);
});

async function childOf(store: Store, id: string): Promise<string> {
  const row = await store.read(
    ({ db }) =>
      db
        .selectFrom("sessions")
        .select("id")
        .where("parent_session_id", "=", id)
        .executeTakeFirstOrThrow(),
    null,
  );
  return row.id;
}
