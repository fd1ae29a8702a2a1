import type { BaseMessage } from "@langchain/core/messages";
import { expect, it } from "vitest";

import { GUEST, tokenHolder } from "../../../src/core/principal.ts";
import { createCheckpointSaver } from "../../../src/langgraph/saver.ts";
import { forkSession } from "../../../src/store/checkpoints/forks/fork-session.ts";
import { readSessionTree } from "../../../src/store/portable/read-tree.ts";
import type { SearchFilters } from "../../../src/store/records/search/find.ts";
import { mirrorMessages } from "../../../src/store/records/messages/mirror.ts";
import { endSession, startThread } from "../../../src/store/records/sessions/change.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { deleteSessionTree } from "../../../src/store/records/sessions/delete-tree.ts";
import { patchSession } from "../../../src/store/records/sessions/patch.ts";
import { keepRule, readPermissions } from "../../../src/store/records/sessions/permissions.ts";
import { pruneSession } from "../../../src/store/records/sessions/prune.ts";
import { readSummary } from "../../../src/store/records/sessions/summaries.ts";
import { moveSession } from "../../../src/store/records/sessions/trees/move.ts";
import { searchMessages } from "../../../src/store/search.ts";
import type { Store } from "../../../src/store/store.ts";
import { describeEngine, execute, openFresh } from "../../helpers/engines.ts";
import { leasedStore } from "../../helpers/checkpoints/leased-store.ts";
import { seededRandom } from "../../helpers/random.ts";
import { rowsReadBy } from "../../helpers/read-rows.ts";
import { contentsOf, expectSound, forkOf, threadRows } from "../../helpers/sessions/forks.ts";
import { makeSession, runStep, type Step } from "../../helpers/sessions/steps.ts";
import { currentThread, putMessages, startOf } from "../../helpers/sessions/thread.ts";
import { exportsOf } from "../../helpers/sessions/stored.ts";
import { testSize } from "../../helpers/size.ts";

const principal = tokenHolder("owner");
const THREE: readonly Step[] = [1, 2, 3].flatMap((n): Step[] => [
  { do: "exchange", text: `question ${n}` },
  { do: "fold" },
]);

/** Exchanges of which nothing was pruned yet. */
const UNFOLDED = THREE.filter((step) => step.do !== "fold");

const OF_ORIGIN = [
  "consents",
  "exchanges",
  "file_changes",
  "questions",
  "session_metadata",
  "session_shares",
] as const;

const DAY_MS = 86_400_000;
const DAY = "2026-11-27T12:00:00.000Z";
const PLANTED = [
  `INSERT INTO exchanges (session_id, n, id, revision, state, asked_by, thread_suffix, first_seq, last_seq, begun_at, ended_at) VALUES ('$id', 1, 'e', 1, 'done', 'terminal', 0, 1, 2, '${DAY}', '${DAY}')`,
  `INSERT INTO consents (session_id, number, kind, subject, who, at) VALUES ('$id', 1, 'mode', 'edits', 'ada', '${DAY}')`,
  `INSERT INTO session_shares (id, session_id, hash, created_at, expires_at) VALUES ('s', '$id', 'h', '${DAY}', '${DAY}')`,
  `INSERT INTO file_changes (session_id, number, n, call_id, tool, root, path, state, host, ts) VALUES ('$id', 1, 1, 'c', 'edit_file', '/r', 'a', 'made', 'shop', '${DAY}')`,
  `INSERT INTO questions (session_id, thread_suffix, call_id, number, id, state, kind, shown_hash, asked_at, text) VALUES ('$id', 0, 'c', 1, 'q', 'withdrawn', 'question', 'h', '${DAY}', 'Which?')`,
];

function talked(store: Store): Promise<string> {
  return makeSession(store, { steps: THREE, children: [] });
}

/** Ids of the sessions in which a search finds a word. */
async function found(
  store: Store,
  words: string,
  filters: SearchFilters = {},
): Promise<readonly string[]> {
  const { results } = await searchMessages(store, { ...filters, query: words, limit: 50 });
  return results.flatMap(({ session_id, seq }) => (seq === null ? [] : [session_id])).sort();
}

describeEngine("forks of sessions", (engine) => {
  it("[FORK-1] [FORK-2] begin at the end of an exchange, with the rows of the messages and no bodies", async () => {
    const store = await openFresh(engine);
    const origin = await talked(store);
    const before = await threadRows(store);
    await store.write(endSession, { id: origin });
    const whole = await forkOf(store, origin);
    const second = await forkOf(store, origin, 5);
    const all = await contentsOf(store, origin);
    expect(await contentsOf(store, whole)).toEqual(all);
    expect(await contentsOf(store, second)).toEqual(all.slice(0, 4));
    expect(await store.read(readSummary, { id: second })).toMatchObject({
      state: "active",
      forked_from: { session_id: origin, seq: 4 },
      total_input_tokens: 0,
      permission: "ask",
      title: "question 1",
      last_seq: 4,
    });
    const { bodies, bytes, items } = before;
    expect(await threadRows(store)).toMatchObject({ bodies, bytes, items });
    await expectSound(store, origin, whole, second);
    expect(await contentsOf(store, await forkOf(store, origin, 1))).toEqual([]);
    const refused = store.write(forkSession, { session_id: origin, at_seq: all.length + 1 });
    await expect(refused).rejects.toMatchObject({ code: "invalid_request" });
  });

  it("[FORK-2] have no rights, labels, questions, exchanges, links and files of their origin", async () => {
    const store = await openFresh(engine);
    const origin = await talked(store);
    await store.write(keepRule, { id: origin, rule: "edit_file(src/**)", n: null });
    const change = { name: "Named", archived: true, pinned: true, metadata: { team: "blue" } };
    await store.write(patchSession, { reference: origin, change, project_key: null, principal });
    for (const statement of PLANTED) {
      await execute(store, statement.replaceAll("$id", origin));
    }
    const fork = await forkOf(store, origin);
    for (const table of OF_ORIGIN) {
      const rowsOf = (id: string) =>
        store.read(
          async ({ db }) =>
            (await db.selectFrom(table).select("session_id").where("session_id", "=", id).execute())
              .length,
          null,
        );
      expect([table, (await rowsOf(origin)) > 0, await rowsOf(fork)]).toEqual([table, true, 0]);
    }
    expect(await store.read(readSummary, { id: fork })).toMatchObject({
      name: null,
      archived_at: null,
      pinned_at: null,
      metadata: {},
      exchange: null,
    });
    expect((await store.read(readPermissions, { id: fork })).rules).toEqual([]);
  });

  it("[FORK-1] begin at an exchange that their origin has of another origin", async () => {
    const store = await openFresh(engine);
    const origin = await talked(store);
    const all = await contentsOf(store, origin);
    const fork = await forkOf(store, origin);
    await runStep(store, fork, { do: "exchange", text: "its own" });
    await runStep(store, fork, { do: "fold" });
    const below = await forkOf(store, fork);
    for (const from of [fork, below]) {
      const early = await forkOf(store, from, 5);
      expect(await contentsOf(store, early)).toEqual(all.slice(0, 4));
      await runStep(store, early, { do: "exchange", text: "another" });
      const earlier = await forkOf(store, early, 3);
      expect(await contentsOf(store, earlier)).toEqual(all.slice(0, 2));
      await expectSound(store, origin, fork, below, early, earlier);
      expect(await store.read(readSummary, { id: early })).toMatchObject({
        forked_from: { session_id: from, seq: 4 },
      });
    }
    await store.write(deleteSessionTree, { id: fork });
    await store.write(deleteSessionTree, { id: origin });
    for (const { session_id } of (await searchMessages(store, { query: "another" })).results) {
      await expectSound(store, session_id);
    }
  });

  it("[FORK-1] a message that came during the last exchange, and one after it, wait in the fork", async () => {
    const store = await openFresh(engine);
    const origin = await makeSession(store, { steps: THREE.slice(0, 2), children: [] });
    await runStep(store, origin, { do: "pending", text: "waits" });
    const fork = await forkOf(store, origin);
    expect((await contentsOf(store, fork)).at(-1)).toBe("3 user waits");
    const { session, messages } = await store.read(readSessionTree, { id: fork });
    expect(messages.at(-1)?.checkpointed).toBe(false);
    expect(session.total_input_tokens).toBe(messages.at(-1)?.token_count);
    await runStep(store, fork, { do: "exchange", text: "with it" });
    expect(await contentsOf(store, origin)).toHaveLength(3);
    await expectSound(store, origin, fork);
  });

  it("[FORK-1] a message that another branch of the thread has later waits in no fork that has it", async () => {
    const store = await openFresh(engine);
    const steps: Step[] = [
      { do: "exchange", text: "one" },
      { do: "exchange", text: "two" },
      { do: "remove", at: 0 },
      { do: "remove", at: 0 },
      { do: "remove", at: 1 },
      { do: "fork", at: 3 },
    ];
    const origin = await makeSession(store, { steps, children: [] });
    const fork = await forkOf(store, origin, 3);
    expect((await contentsOf(store, fork)).at(-1)).toBe("3 user two");
    await expectSound(store, origin, fork);
  });

  it("[FORK-21] read none of the messages that came after them", async () => {
    const store = await openFresh(engine);
    const origin = await talked(store);
    const forked = () => rowsReadBy(() => forkOf(store, origin, 2));
    await forked();
    const before = await forked();
    const base = { role: "user", token_count: 1, is_summary: false, usage: null } as const;
    const messages = Array.from({ length: 300 }, (_, n) => {
      return { ...base, message_id: `later ${n}`, content: `later ${n}`, tool_calls: null };
    });
    await store.write(mirrorMessages, { session_id: origin, messages });
    expect(await forked()).toBeLessThan(before + 100);
  });

  it("[FORK-21] have the row of each message, also if one with an earlier row is last", async () => {
    const store = await openFresh(engine);
    const origin = await makeSession(store, { steps: THREE.slice(0, 4), children: [] });
    const saver = createCheckpointSaver({ store: leasedStore(store) });
    const config = startOf(await currentThread(store, origin));
    const latest = await saver.getTuple(config);
    const values = latest?.checkpoint.channel_values["messages"];
    const [one, two, three, four] = (values ?? []) as BaseMessage[];
    const reordered = [one!, three!, four!, two!];
    const after = latest?.config ?? config;
    await putMessages(saver, { after, messages: reordered, version: 100 });
    await runStep(store, origin, { do: "exchange", text: "question 3" });
    const forks = [await forkOf(store, origin, 4), await forkOf(store, origin, 3)];
    expect(await contentsOf(store, forks[0]!)).toHaveLength(4);
    expect(await contentsOf(store, forks[1]!)).toHaveLength(2);
    await expectSound(store, ...forks);
  });

  it("[FORK-3] take no bytes of bodies, continue apart, and their deletion in any order gives the rows back", async () => {
    const random = seededRandom(`deleted forks on ${engine.name}`);
    const store = await openFresh(engine);
    const origin = await talked(store);
    const alone = await threadRows(store);
    const forks = [await forkOf(store, origin, 2), await forkOf(store, origin)];
    while (forks.length < testSize("forks")) {
      const from = [origin, ...forks][Math.floor(random() * (forks.length + 1))]!;
      const { bytes } = await threadRows(store);
      const fork = await forkOf(store, from);
      expect((await threadRows(store)).bytes).toBe(bytes);
      if (random() < 0.3) {
        await runStep(store, fork, { do: "exchange", text: "its own" });
        await runStep(store, fork, { do: "fold" });
      }
      forks.push(fork);
    }
    const shuffled = forks.toSorted(() => random() - 0.5);
    for (const [index, id] of shuffled.entries()) {
      await store.write(deleteSessionTree, { id });
      await expectSound(store, origin, ...shuffled.slice(index + 1, index + 4));
    }
    expect(await threadRows(store)).toEqual(alone);
  });

  it("[FORK-3] leave the export of their origin as it was, also one that is made of a fork", async () => {
    const store = await openFresh(engine);
    const origin = await makeSession(store, { steps: UNFOLDED, children: [] });
    const before = await exportsOf(store);
    await forkOf(store, await forkOf(store, origin, 2), 2);
    expect((await exportsOf(store)).get(origin)).toBe(before.get(origin));
  });

  it("[FORK-3] stay whole without their origin", async () => {
    const store = await openFresh(engine);
    const origin = await talked(store);
    const early = await forkOf(store, origin, 2);
    const late = await forkOf(store, origin, 4);
    const below = await forkOf(store, late);
    await store.write(deleteSessionTree, { id: origin });
    await expectSound(store, early, late, below);
    for (const id of [early, late, below]) {
      await runStep(store, id, { do: "exchange", text: "after it" });
    }
    await store.write(deleteSessionTree, { id: late });
    await expectSound(store, early, below);
    expect(await contentsOf(store, early)).toHaveLength(4);
  });

  it.each(["whole", "early"] as const)(
    "[FORK-27] begin at an answer that they have of a deleted origin, whichever is deleted first: %s",
    async (part) => {
      const random = seededRandom(`deleted origins on ${engine.name}, ${part}`);
      const store = await openFresh(engine);
      const steps = THREE.map((step) =>
        step.do === "exchange" ? { ...step, plain: true as const } : step,
      );
      const origin = await makeSession(store, { steps, children: [] });
      const all = await contentsOf(store, origin);
      const first = await forkOf(store, origin, part === "whole" ? 6 : 4);
      const second = await forkOf(store, first);
      const third = await forkOf(store, second, 4);
      const ids = [origin, first, second, third].toSorted(() => random() - 0.5);
      for (const [index, gone] of ids.slice(0, -1).entries()) {
        const pruned = { id: gone, older_than_ms: -DAY_MS, state: null };
        await (index === 0
          ? store.write(pruneSession, pruned)
          : store.write(deleteSessionTree, { id: gone }));
        const left = ids.slice(index + 1);
        for (const id of left) {
          const fork = await forkOf(store, id, 3);
          expect(await contentsOf(store, fork)).toEqual(all.slice(0, 2));
          await runStep(store, fork, { do: "exchange", text: "after it" });
          await expectSound(store, fork);
          await store.write(deleteSessionTree, { id: fork });
        }
        await expectSound(store, ...left);
      }
      await store.write(deleteSessionTree, { id: ids[3] ?? "" });
      expect(Object.values(await threadRows(store)).every((rows) => rows === 0)).toBe(true);
    },
  );

  it("[FORK-6] what a fork has of its origin is found in the origin, and in the fork once that is gone", async () => {
    const store = await openFresh(engine);
    const origin = await talked(store);
    const fork = await forkOf(store, origin);
    await runStep(store, fork, { do: "exchange", text: "question 4" });
    expect(await found(store, "question 2")).toEqual([origin]);
    expect(await found(store, "question 4")).toEqual([fork]);
    await store.write(deleteSessionTree, { id: origin });
    expect(await found(store, "question 2")).toEqual([fork]);
  });

  it("[FORK-6] what a fork has of an origin that is archived, was cleared or is in another folder is found in the fork", async () => {
    const store = await openFresh(engine);
    const origin = await talked(store);
    const fork = await forkOf(store, origin);
    expect(await found(store, "question 2")).toEqual([origin]);
    for (const archived of [true, false]) {
      const change = { archived };
      await store.write(patchSession, { reference: origin, change, project_key: null, principal });
      expect(await found(store, "question 2")).toEqual([archived ? fork : origin]);
    }
    const folder = { repo_path: "/other", project_key: "0123456789abcdef", project_id: null };
    await store.write(moveSession, { id: fork, ...folder, principal });
    const { project_key } = folder;
    expect(await found(store, "question 2", { project_key })).toEqual([fork]);
    const second = await forkOf(store, origin, 4);
    expect(await found(store, "question 2")).toEqual([fork, origin].sort());
    await store.write(startThread, { id: origin, archive: true });
    expect(await found(store, "question 2")).toEqual([fork, second].sort());
  });

  it("[FORK-6] what damaged sessions have that are forks of each other is found in each", async () => {
    const store = await openFresh(engine);
    const origin = await talked(store);
    const fork = await forkOf(store, origin);
    await execute(
      store,
      `UPDATE sessions SET forked_from_session_id = '${fork}', forked_from_seq = last_seq WHERE id = '${origin}'`,
    );
    expect(await found(store, "question 2")).toEqual([fork, origin].sort());
  });

  it("[FORK-7] choices of a program without authentication wait in a fork, too", async () => {
    const store = await openFresh(engine);
    const chosen = { persona_name: "assistant", principal: GUEST };
    const { id } = await store.write(createSession, chosen);
    const fork = await forkOf(store, id);
    const { session } = await store.read(readSessionTree, { id: fork });
    expect(session.authenticated).toBe(false);
    const own = await store.write(createSession, { persona_name: "assistant" });
    const byGuest = await store.write(forkSession, { session_id: own.id, principal: GUEST });
    const tree = await store.read(readSessionTree, { id: byGuest.id });
    expect(tree.session.authenticated).toBe(false);
  });
});
