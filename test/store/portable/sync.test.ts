import { HumanMessage } from "@langchain/core/messages";
import { expect, it } from "vitest";

import { localPrincipal } from "../../../src/core/principal.ts";
import type { PatchSessionRequest } from "../../../src/core/schemas/patch-session.ts";
import { createCheckpointSaver } from "../../../src/langgraph/saver.ts";
import { queueExchange } from "../../../src/store/records/exchanges/queue.ts";
import { takeLease } from "../../../src/store/records/leases/lease.ts";
import { appendUserMessage } from "../../../src/store/records/messages/append.ts";
import { endSession } from "../../../src/store/records/sessions/change.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { deleteSessionTree } from "../../../src/store/records/sessions/delete-tree.ts";
import { patchSession } from "../../../src/store/records/sessions/patch.ts";
import { keepRule, readPermissions } from "../../../src/store/records/sessions/permissions.ts";
import { moveSession } from "../../../src/store/records/sessions/trees/move.ts";
import { readSession } from "../../../src/store/records/sessions/read.ts";
import { readSummary } from "../../../src/store/records/sessions/summaries.ts";
import { searchMessages } from "../../../src/store/search.ts";
import type { Store } from "../../../src/store/store.ts";
import { describeEngine, type Engine, execute, openFresh, owner } from "../../helpers/engines.ts";
import { makeAllKinds } from "../../helpers/sessions/all-kinds.ts";
import { expectSound } from "../../helpers/sessions/forks.ts";
import { exportsOf } from "../../helpers/sessions/stored.ts";
import { putMessages, startOf } from "../../helpers/sessions/thread.ts";
import { changedIn, sharedState, sync } from "../../helpers/sessions/sync.ts";

const PERSON = localPrincipal("terminal", null);

async function openTwo(engine: Engine): Promise<readonly [Store, Store]> {
  return [await openFresh(engine), await openFresh(engine)];
}

async function write(store: Store, reference: string, content: string): Promise<void> {
  await store.write(appendUserMessage, { reference, content });
}

async function patch(store: Store, reference: string, change: PatchSessionRequest): Promise<void> {
  await store.write(patchSession, { reference, change, project_key: null, principal: PERSON });
}

async function rename(store: Store, reference: string, name: string | null): Promise<void> {
  await patch(store, reference, { name });
}

async function nameOf(store: Store, id: string): Promise<string | null> {
  const rows = await store.read(
    ({ db }) => db.selectFrom("sessions").select("name").where("id", "=", id).execute(),
    null,
  );
  return rows[0]?.name ?? null;
}

async function labelsOf(store: Store, id: string) {
  const { pinned_at, archived_at, metadata } = await store.read(readSummary, { id });
  return { pinned: pinned_at !== null, archived: archived_at !== null, metadata };
}

/** A session that both have, with a message more in each. */
async function goneApart(here: Store, there: Store): Promise<string> {
  const { id } = await here.write(createSession, { repo_path: "/home/ada/shop" });
  await write(here, id, "common");
  await sync(here, there);
  await write(here, id, "of here");
  await write(there, id, "of there");
  // its clock shows an earlier year
  const early = "2020-01-01T00:00:00.000Z";
  await execute(there, "UPDATE messages SET ts = ? WHERE content = 'of there'", early);
  await execute(there, "UPDATE sessions SET last_message_at = ?", early);
  return id;
}

describeEngine("syncing two databases", (engine) => {
  it("[SYNC-1] [SYNC-14] sessions of every kind come whole, with sub-agents, checkpoints, runs of plans and requests", async () => {
    const [here, there] = await openTwo(engine);
    await makeAllKinds(here, { sessions: 20, messages: 8 });
    await execute(here, "DELETE FROM exchanges WHERE state = 'queued'");
    await execute(
      here,
      "UPDATE sessions SET exchange_count = (SELECT count(*) FROM exchanges WHERE session_id = sessions.id)",
    );
    await execute(here, "UPDATE model_calls SET n = 0");
    await execute(here, "UPDATE questions SET default_answer = NULL, answer_by = NULL");
    const report = await sync(here, there);
    expect(changedIn(report).filter(({ there: effect }) => effect !== "added")).toEqual([]);
    expect(await exportsOf(there)).toEqual(await exportsOf(here));
    expect(changedIn(await sync(there, here))).toEqual([]);
  });

  it("[SYNC-3] [SYNC-12] [SYNC-15] of two histories both stay, whatever the clocks say, and a search finds both", async () => {
    const [here, there] = await openTwo(engine);
    const id = await goneApart(here, there);
    const [synced] = await sync(here, there);
    expect(synced).toMatchObject({ session_id: id, here: "none", there: "updated" });
    const fork = synced?.fork ?? "";
    for (const store of [here, there]) {
      const texts = (await exportsOf(store)).get(fork) ?? "";
      expect(texts).toContain(`"forked_from_session_id":"${id}","forked_from_seq":1`);
      expect(texts).toContain("of there");
      expect((await exportsOf(store)).get(id)).toContain("of here");
      await expectSound(store, id, fork);
      for (const text of ["of here", "of there"]) {
        const { results } = await searchMessages(store, { query: `"${text}"`, limit: 5 });
        expect(results.map(({ session_id }) => session_id)).toEqual([
          text === "of here" ? id : fork,
        ]);
      }
    }
  });

  it("[SYNC-3] [SYNC-14] a fork gets all sub-agents that only its history has", async () => {
    const [here, there] = await openTwo(engine);
    const id = await goneApart(here, there);
    for (const text of ["one", "two", "three", "four", "five"]) {
      const child = await there.write(createSession, { parent_session_id: id });
      await write(there, child.id, text);
    }
    const moment = "2020-01-01T00:00:00.000Z";
    await execute(there, "UPDATE sessions SET created_at = ? WHERE depth = 1", moment);
    const report = await sync(here, there);
    expect(report).toMatchObject([{ session_id: id, code: null, there: "updated" }]);
    expect((await sharedState(here)).size).toBe(7);
    expect(await sharedState(here)).toEqual(await sharedState(there));
  });

  it("[SYNC-26] forks of one history for two winners have two ids, so databases that keep one each end alike", async () => {
    const [here, there, third, fourth] = [...(await openTwo(engine)), ...(await openTwo(engine))];
    const { id } = await here.write(createSession, {});
    await write(here, id, "common");
    await sync(here, there);
    await write(there, id, "of both losers");
    await sync(there, third);
    await write(there, id, "lost");
    await sync(there, fourth);
    await write(here, id, "short winner");
    await write(third, id, "long winner");
    const one = await sync(here, there);
    const other = await sync(third, fourth);
    expect([one[0]?.fork, other[0]?.fork]).toEqual([expect.any(String), expect.any(String)]);
    for (const [a, b] of [
      [here, third],
      [here, there],
      [third, fourth],
      [here, fourth],
      [there, third],
    ] as const) {
      await sync(a, b);
    }
    const states = await Promise.all([here, there, third, fourth].map(sharedState));
    for (const state of states) {
      expect(state).toEqual(states[0]);
    }
    await expectSound(here, ...states[0]!.keys());
  });

  it("[SYNC-19] threads without a session stay, and a session that is too large is skipped and named", async () => {
    const [here, there] = await openTwo(engine);
    await putMessages(createCheckpointSaver({ store: here }), {
      after: startOf("free"),
      messages: [new HumanMessage("of a foreign graph")],
      version: 1,
    });
    const { id: large } = await here.write(createSession, {});
    await write(here, large, "x".repeat(2000));
    const { id: small } = await there.write(createSession, {});
    const report = await sync(here, there, { maxBytes: 1000 });
    expect(report).toContainEqual(
      expect.objectContaining({ session_id: large, there: "none", code: "body_too_large" }),
    );
    expect(report).toContainEqual(expect.objectContaining({ session_id: small, here: "added" }));
    const threadsIn = (store: Store) =>
      store.read(({ db }) => db.selectFrom("threads").select("thread_id").execute(), null);
    expect([await threadsIn(here), await threadsIn(there)]).toEqual([[{ thread_id: "free" }], []]);
    await sync(here, there);
    expect((await sharedState(there)).has(large)).toBe(true);
  });

  it("[SYNC-4] [SYNC-5] [SYNC-12] the end counts on both sides, and the name that was set last", async () => {
    const [here, there] = await openTwo(engine);
    const { id } = await here.write(createSession, {});
    await rename(here, id, "first");
    await sync(here, there);
    // its clock is a day ahead
    await execute(here, "UPDATE sessions SET named_at = ?", tomorrow());
    await sync(here, there);
    await rename(there, id, "second");
    await write(here, id, "more");
    const { ended_at } = await there.write(endSession, { id });
    expect(await sync(here, there)).toMatchObject([{ here: "updated", there: "updated" }]);
    for (const store of [here, there]) {
      expect(await nameOf(store, id)).toBe("second");
      expect(await store.read(readSession, { id })).toMatchObject({ state: "ended", ended_at });
      expect((await exportsOf(store)).get(id)).toContain("more");
    }
    await rename(here, id, null);
    await sync(there, here);
    expect(await nameOf(there, id)).toBeNull();
  });

  it("[SYNC-22] of pins, archive marks and metadata the ones that were changed last count, with equal and with longer histories", async () => {
    const [here, there] = await openTwo(engine);
    const { id } = await here.write(createSession, { metadata: { ticket: "1", old: "yes" } });
    await write(here, id, "the title");
    await sync(here, there);
    await patch(here, id, { pinned: true, archived: true, metadata: { ticket: "2" } });
    await sync(here, there);
    const labelled = { pinned: true, archived: true, metadata: { ticket: "2", old: "yes" } };
    expect(await labelsOf(there, id)).toEqual(labelled);
    // its clock is a day late
    await execute(
      here,
      "UPDATE sessions SET pin_changed_at = ?, archive_changed_at = ?",
      tomorrow(),
      tomorrow(),
    );
    await sync(here, there);
    await patch(there, id, { pinned: false, archived: false, metadata: { old: null } });
    await write(here, id, "more");
    expect(changedIn(await sync(here, there))).toMatchObject([
      { here: "updated", there: "updated", code: null },
    ]);
    for (const store of [here, there]) {
      expect(await labelsOf(store, id)).toEqual({
        pinned: false,
        archived: false,
        metadata: { ticket: "2" },
      });
    }
    expect(await sharedState(here)).toEqual(await sharedState(there));
    expect(changedIn(await sync(there, here))).toEqual([]);
  });

  it("[SYNC-6] what was deleted is deleted on the other side, sub-agents too, and does not come back", async () => {
    const [here, there] = await openTwo(engine);
    const { id } = await here.write(createSession, {});
    const child = await here.write(createSession, { parent_session_id: id });
    const { id: other } = await here.write(createSession, {});
    await sync(here, there);
    await here.write(deleteSessionTree, { id: child.id });
    await there.write(deleteSessionTree, { id: other });
    await write(here, other, "written after its deletion");
    const rehearsed = await sync(here, there, { isDry: true });
    const report = await sync(here, there);
    expect(report).toEqual(rehearsed);
    expect(changedIn(report)).toHaveLength(2);
    expect(report).toContainEqual(
      expect.objectContaining({ session_id: child.id, there: "deleted" }),
    );
    expect(report).toContainEqual(expect.objectContaining({ session_id: other, here: "deleted" }));
    for (const store of [here, there]) {
      expect([...(await sharedState(store)).keys()]).toEqual([id]);
    }
    const third = await openFresh(engine);
    await sync(third, here);
    await sync(there, third);
    expect([...(await sharedState(third)).keys()]).toEqual([id]);
  });

  it("[SYNC-16] a session of which a table refuses a row is skipped, and the others are synced", async () => {
    const [here, there] = await openTwo(engine);
    const { id } = await here.write(createSession, {});
    const { id: free } = await here.write(createSession, {});
    const { id: taken } = await there.write(createSession, {});
    await write(here, id, "the same text");
    await write(there, taken, "the same text");
    await execute(there, "CREATE UNIQUE INDEX one_text ON messages (content)");
    const report = await sync(here, there);
    const of = (session: string) => report.find(({ session_id }) => session_id === session);
    expect(of(id)).toMatchObject({ there: "none", code: "database_corrupt" });
    expect(of(free)).toMatchObject({ there: "added" });
    expect(of(taken)).toMatchObject({ here: "added" });
  });

  it("[SYNC-18] a pinned session that was deleted on the other side is skipped, until it is unpinned", async () => {
    const [here, there] = await openTwo(engine);
    const { id } = await here.write(createSession, {});
    await sync(here, there);
    await patch(here, id, { pinned: true });
    await there.write(deleteSessionTree, { id });
    const kept = { here: "none", there: "none", code: "session_exists" };
    expect(await sync(here, there)).toMatchObject([kept]);
    expect(await sync(there, here)).toMatchObject([kept]);
    await patch(here, id, { pinned: false });
    expect(await sync(here, there)).toMatchObject([{ here: "deleted", code: null }]);
  });

  it("[SYNC-7] permissions, consents, links and the queue stay in their database", async () => {
    const [here, there] = await openTwo(engine);
    const id = await goneApart(here, there);
    await sync(here, there);
    await here.write(keepRule, { id, rule: "edit_file(src/**)", n: null });
    await execute(
      here,
      "INSERT INTO consents (session_id, number, kind, subject, who, at) VALUES (?, 1, 'mode', 'edits', 'ada@shop', ?)",
      id,
      tomorrow(),
    );
    await execute(
      here,
      "INSERT INTO session_shares (id, session_id, hash, created_at, expires_at) VALUES ('s', ?, 'h', ?, ?)",
      id,
      tomorrow(),
      tomorrow(),
    );
    await execute(
      here,
      "INSERT INTO page_logins (id, kind, share_id, created_at, last_used_at) VALUES ('l', 'share', 's', ?, ?)",
      tomorrow(),
      tomorrow(),
    );
    await there.write(queueExchange, {
      reference: id,
      content: "waits in the queue",
      asked_by: "http",
      principal: PERSON,
    });
    await write(there, id, "longer");
    expect(changedIn(await sync(here, there))).toMatchObject([{ here: "updated", there: "none" }]);
    const count = async (store: Store, table: "consents" | "session_shares" | "page_logins") =>
      (await store.read(({ db }) => db.selectFrom(table).selectAll().execute(), null)).length;
    for (const table of ["consents", "session_shares", "page_logins"] as const) {
      expect([table, await count(here, table), await count(there, table)]).toEqual([table, 1, 0]);
    }
    expect((await here.read(readPermissions, { id })).rules).toHaveLength(1);
    expect((await there.read(readPermissions, { id })).rules).toEqual([]);
    expect(JSON.stringify([...(await exportsOf(here))])).not.toContain("waits in the queue");
    // what would replace a queue waits for it
    await write(here, id, "longest");
    expect(changedIn(await sync(here, there))).toMatchObject([
      { session_id: id, code: "session_busy" },
    ]);
    expect(JSON.stringify([...(await exportsOf(there))])).toContain("waits in the queue");
  });

  it("[SYNC-7] what was allowed in one folder is not allowed in another one", async () => {
    const [here, there] = await openTwo(engine);
    const { id } = await here.write(createSession, { repo_path: "/home/ada/shop" });
    await sync(here, there);
    await here.write(keepRule, { id, rule: "edit_file(src/**)", n: null });
    const folder = { repo_path: "/home/ada/other", project_key: "0123456789abcdef" };
    await there.write(moveSession, { id, ...folder, project_id: null, principal: PERSON });
    await sync(here, there);
    expect(await here.read(readSession, { id })).toMatchObject({ repo_path: "/home/ada/other" });
    expect((await here.read(readPermissions, { id })).rules).toEqual([]);
  });

  it("[SYNC-8] a session that runs on either side is skipped and named", async () => {
    const [here, there] = await openTwo(engine);
    const { id } = await here.write(createSession, {});
    await sync(here, there);
    await write(here, id, "more");
    await there.write(takeLease, { session_id: id, owner, life_ms: 60_000 });
    const skipped = [{ session_id: id, here: "none", there: "none", code: "session_busy" }];
    expect(await sync(here, there)).toMatchObject(skipped);
    expect(await sync(there, here)).toMatchObject(skipped);
    await execute(there, "UPDATE sessions SET lease_expires_at = NULL");
    expect(await sync(here, there)).toMatchObject([{ there: "updated", code: null }]);
  });

  it("[SYNC-13] changes of files go with the exchange that made them, and their bytes are found", async () => {
    const [here, there] = await openTwo(engine);
    const id = await goneApart(here, there);
    for (const [n, first_seq] of [
      [1, 1],
      [2, 2],
    ] as const) {
      await execute(
        there,
        "INSERT INTO exchanges (session_id, n, id, revision, state, asked_by, thread_suffix, first_seq, last_seq, begun_at, ended_at) VALUES (?, ?, ?, 1, 'done', 'terminal', 0, ?, ?, ?, ?)",
        id,
        n,
        `00000000-0000-4000-8000-00000000000${n}`,
        first_seq,
        first_seq,
        tomorrow(),
        tomorrow(),
      );
      await execute(
        there,
        "INSERT INTO file_changes (session_id, number, n, call_id, tool, root, path, state, host, ts) VALUES (?, ?, ?, 'c', 'edit_file', '/r', 'a', 'made', 'shop', ?)",
        id,
        n,
        n,
        tomorrow(),
      );
    }
    await execute(there, "UPDATE sessions SET exchange_count = 2");
    const [synced] = await sync(here, there);
    expect(synced).toMatchObject({ code: null, detail: null });
    const rows = await there.read(
      ({ db }) =>
        db
          .selectFrom("file_changes")
          .select(["session_id", "n", "kept_for"])
          .orderBy("n")
          .execute(),
      null,
    );
    expect(rows).toEqual([
      { session_id: id, n: 1, kept_for: null },
      { session_id: synced?.fork, n: 2, kept_for: id },
    ]);
  });

  it("[SYNC-16] a session whose parents form a cycle in the other database is skipped with a sentence", async () => {
    const [here, there] = await openTwo(engine);
    const { id } = await here.write(createSession, {});
    await sync(here, there);
    await execute(there, "UPDATE sessions SET parent_session_id = id, depth = 1");
    expect(await sync(here, there)).toMatchObject([
      { session_id: id, here: "none", there: "none", code: "session_exists" },
    ]);
  });

  it("[SYNC-16] a name that an import would refuse does not come", async () => {
    const [here, there] = await openTwo(engine);
    const { id } = await here.write(createSession, {});
    await sync(here, there);
    await rename(there, id, "shop");
    await execute(there, "UPDATE sessions SET name = ?", "x".repeat(256));
    expect(await sync(here, there)).toMatchObject([{ session_id: id, code: "export_invalid" }]);
    expect(await nameOf(here, id)).toBeNull();
  });

  it("[SYNC-16] a damaged session is skipped with a sentence, and nothing of it is stored", async () => {
    const [here, there] = await openTwo(engine);
    await makeAllKinds(there, { sessions: 12, messages: 8 });
    const damages = [
      "UPDATE messages SET seq = seq + 1000",
      "UPDATE messages SET content = content || 'forged' WHERE checkpointed = 1",
      "UPDATE messages SET ts = 'yesterday'",
      "UPDATE sessions SET repo_path = 'relative'",
      "UPDATE sessions SET project_id = 'x'",
      "UPDATE sessions SET last_seq = 7000",
      "UPDATE checkpoints SET channels = '{'",
      "UPDATE messages SET tool_calls = '[[[' WHERE tool_calls IS NOT NULL",
      "UPDATE exchanges SET n = n + 5",
    ];
    for (const [at, damage] of damages.entries()) {
      const roots = await there.read(
        ({ db }) =>
          db
            .selectFrom("sessions")
            .select("id")
            .where("parent_session_id", "is", null)
            .where("last_seq", ">", 5)
            .orderBy("id")
            .execute(),
        null,
      );
      const id = roots[at % roots.length]?.id ?? "";
      const key = damage.startsWith("UPDATE sessions") ? "id" : "session_id";
      const where = damage.startsWith("UPDATE checkpoints")
        ? `thread IN (SELECT id FROM threads WHERE thread_id LIKE '${id}%')`
        : `${key} = '${id}'`;
      await execute(there, `${damage} ${damage.includes("WHERE") ? "AND" : "WHERE"} ${where}`);
    }
    const report = await sync(here, there);
    const skipped = report.filter(({ code }) => code !== null);
    expect(skipped.length).toBeGreaterThanOrEqual(5);
    const stored = await sharedState(here);
    for (const { session_id, code, detail } of skipped) {
      expect([code, stored.has(session_id)]).toEqual([
        expect.stringMatching(/^(export_invalid|database_corrupt)$/),
        false,
      ]);
      expect(detail).toMatch(/^[A-Z].*\.$/s);
    }
  });
});

function tomorrow(): string {
  return new Date(Date.now() + 24 * 60 * 60 * 1000).toISOString();
}
