import fc from "fast-check";
import { expect, it } from "vitest";

import { importTree, withNewIds } from "../../../src/store/portable/import-tree.ts";
import { readSession } from "../../../src/store/records/sessions/read.ts";
import { readWaiting } from "../../../src/store/records/messages/waiting.ts";
import { deleteSessionTree } from "../../../src/store/records/sessions/delete-tree.ts";
import {
  SessionExport,
  sessionsOf,
  type SessionTree,
} from "../../../src/store/portable/export-schema.ts";
import { parseExport } from "../../../src/store/portable/parse.ts";
import { readSessionTree } from "../../../src/store/portable/read-tree.ts";
import { checksumOf, exportText } from "../../../src/store/portable/export-text.ts";
import type { Store } from "../../../src/store/store.ts";
import { writeSessionTree } from "../../../src/store/portable/write-tree.ts";
import { describeEngine, openFresh, sharedStore } from "../../helpers/engines.ts";
import { makeSession, type Plan, type Step } from "../../helpers/sessions/steps.ts";
import { columnsOf, rowCounts, TABLES } from "../../helpers/sessions/stored.ts";
import { testSize } from "../../helpers/size.ts";

const NOW = "2026-01-01T00:00:00.000Z";
const textOf = (tree: SessionTree): string => [...exportText(tree, NOW)].join("");

const words = fc.string({ minLength: 1, maxLength: 12, unit: "grapheme" }).filter(
  // what the edge refuses is never stored
  (text) => text.isWellFormed() && !text.includes("\0"),
);
const place = fc.nat({ max: 20 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("exchange" as const), text: words }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("pending" as const), text: words }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("held" as const), text: words }) },
  fc.record({ do: fc.constantFrom("edit", "remove", "fork"), at: place }),
  fc.record({ do: fc.constantFrom("clear", "restart", "fold", "accept") }),
);
const steps = fc.array(step, { maxLength: 6 });
const leaf = fc.record({ steps, children: fc.constant([]) });
const plan: fc.Arbitrary<Plan> = fc.record({ steps, children: fc.array(leaf, { maxLength: 2 }) });

const RICH: Plan = {
  steps: [
    { do: "exchange", text: "one" },
    { do: "fold" },
    { do: "exchange", text: "two 😀" },
    { do: "clear" },
    { do: "held", text: "accepted later" },
    { do: "exchange", text: "three" },
    { do: "accept" },
    { do: "held", text: "never accepted" },
    { do: "exchange", text: "four" },
    { do: "restart" },
    { do: "exchange", text: "five" },
    { do: "edit", at: 0 },
    { do: "fork", at: 2 },
    { do: "pending", text: "waits" },
  ],
  children: [
    {
      steps: [{ do: "exchange", text: "a task" }],
      children: [{ steps: [{ do: "exchange", text: "a smaller one" }], children: [] }],
    },
  ],
};

describeEngine("moving a session", (engine) => {
  let richId = "";
  const rich = sharedStore(engine, async (store) => {
    richId = await makeSession(store, RICH);
  });

  it("[MOVE-4] an export has every column but the lease, and no number of the database", async () => {
    const store = rich();
    const tree = await store.read(readSessionTree, { id: richId });
    const lease = ["lease_owner", "lease_epoch", "lease_expires_at"];
    const consent = ["permission_mode", "permission_rules"];
    // it follows from the exchanges, or asks a process that runs one; numbers are of one database
    const queue = ["ready_at", "changed", "created_change"];
    const ofExchange = ["session_id", "epoch", "stop_asked_at", "changed"];
    // each database has another one for a session that came in a file
    const prefix = ["prefix_mark"];
    // after a move, an exchange has as many attempts without progress again, and leases of other numbers
    const ofAttempts = ["attempts_before", "progress"];
    const ofAnswer = ["answered_here", "answered_epoch"];
    // the root follows from the parents; last_activity_at is made of two others by the database
    const columns = await columnsOf(store, "sessions");
    const { session, messages } = SessionExport.properties;
    const {
      changes,
      exchanges,
      questions,
      metadata: _,
      failure,
      model_calls,
      run: _run,
      ...ofSession
    } = session.properties;
    const ofFailure = Object.keys(failure.properties).map((name) => `failure_${name}`);
    expect(
      [...Object.keys(ofSession), ...ofFailure, ...lease, ...queue, ...consent, ...prefix].sort(),
    ).toEqual(
      columns.filter((name) => name !== "root_session_id" && name !== "last_activity_at").sort(),
    );
    expect([...Object.keys(messages.items.properties), "session_id"].sort()).toEqual(
      (await columnsOf(store, "messages")).sort(),
    );
    expect(
      [...Object.keys(model_calls.items.properties), "session_id", "epoch", "call"].sort(),
    ).toEqual((await columnsOf(store, "model_calls")).sort());
    expect([...Object.keys(changes.items.properties), "session_id", "number"].sort()).toEqual(
      (await columnsOf(store, "session_changes")).sort(),
    );
    // `effect` is read of earlier builds only
    const ofQuestion = Object.keys(questions.items.properties).filter((name) => name !== "effect");
    expect([...ofQuestion, ...ofAnswer, "session_id", "changed"].sort()).toEqual(
      (await columnsOf(store, "questions")).sort(),
    );
    expect(
      [...Object.keys(exchanges.items.properties), ...ofExchange, ...ofAttempts].sort(),
    ).toEqual((await columnsOf(store, "exchanges")).sort());
    expect(tree.session).toMatchObject({ origin: "http", authenticated: false });
    expect(tree.session.changes).toMatchObject([
      { field: "model", value: "demo", origin: "terminal" },
      { field: "model", value: "demo", origin: "terminal" },
    ]);
    expect(tree.messages).toContainEqual(
      expect.objectContaining({ content: "never accepted", authenticated: false }),
    );
    expect(tree.threads.map(({ suffix }) => suffix)).toEqual([0, 1, 2]);
    expect(tree.messages.some(({ archived }) => archived)).toBe(true);
    expect(tree.messages.at(-1)).toMatchObject({ content: "waits", checkpointed: false });
    expect(await portableColumns(store)).toEqual({
      // the mark of the head is created again when the thread is stored
      threads: [
        "folded_body",
        "folded_checkpoint",
        "folded_list",
        "head_hash",
        "head_length",
        "head_row",
        "id",
        "prunes",
        "thread_id",
      ],
      checkpoint_bodies: ["body", "hash", "id", "thread"],
      checkpoint_lists: ["base", "base_length", "depth", "id", "length", "thread"],
      checkpoint_list_items: ["body", "list", "position"],
      checkpoints: [
        "channels",
        "checkpoint_id",
        "id",
        "metadata",
        "ns",
        "parent_id",
        "shape",
        "thread",
        "ts",
        "versions",
      ],
      checkpoint_writes: ["checkpoint_id", "ns", "task_id", "thread", "writes"],
    });
    expect(tree.threads[0]?.folded).toEqual({
      checkpoints: 1,
      bodies: expect.any(Number),
      lists: 1,
    });
    expect([...sessionsOf(tree)].map(({ session }) => session.depth)).toEqual([0, 1, 2]);
  });

  it("[ORIGIN-6] an export without origins is imported, and counts as authenticated", async () => {
    const here = await openFresh(engine);
    const id = await makeSession(here, {
      steps: [
        { do: "exchange", text: "one" },
        { do: "restart" },
        { do: "exchange", text: "two" },
        { do: "pending", text: "waits" },
      ],
      children: [],
    });
    const tree = await here.read(readSessionTree, { id });
    const added = new Set(["origin", "authenticated", "accepted_at", "chosen", "changes"]);
    const older = JSON.parse(
      JSON.stringify(tree, (name, value: unknown) => (added.has(name) ? undefined : value)),
    ) as SessionTree;
    const there = await openFresh(engine);
    await importTree(there, parseExport(textOf(older)));
    const waiting = await there.read(readWaiting, { session_id: id });
    expect(waiting).toMatchObject({ choices: {}, unaccepted: { count: 0 } });
    expect(await there.read(readSessionTree, { id })).toEqual(older);
  });

  it("[MOVE-4] [MOVE-5] [MOVE-10] [ORIGIN-6] random sessions move unchanged, and nothing remains after a deletion", async () => {
    const here = await openFresh(engine);
    const there = await openFresh(engine);
    const bystander = await makeSession(here, RICH);
    const before = await rowCounts(here);
    const bystanderTree = await here.read(readSessionTree, { id: bystander });
    await fc.assert(
      fc.asyncProperty(plan, async (random) => {
        const id = await makeSession(here, random);
        const tree = await here.read(readSessionTree, { id });
        const text = textOf(tree);
        expect(parseExport(text)).toEqual(tree);

        await there.write(writeSessionTree, { tree: parseExport(text) });
        expect(textOf(await there.read(readSessionTree, { id }))).toBe(text);

        const deleted = await here.write(deleteSessionTree, { id });
        expect(deleted.map(({ session }) => session.id)).toEqual(
          [...sessionsOf(tree)].map(({ session }) => session.id),
        );
        expect(await rowCounts(here)).toEqual(before);
      }),
      { numRuns: testSize("transfer") },
    );
    expect(await here.read(readSessionTree, { id: bystander })).toEqual(bystanderTree);
  });

  it("[MOVE-5] an imported session verifies", async () => {
    const here = await openFresh(engine);
    const there = await openFresh(engine);
    const id = await makeSession(here, {
      ...RICH,
      steps: [
        { do: "exchange", text: "one" },
        { do: "clear" },
        { do: "exchange", text: "two" },
        { do: "pending", text: "waits" },
      ],
    });
    const tree = await here.read(readSessionTree, { id });
    await importTree(there, tree);
    expect(textOf(await there.read(readSessionTree, { id }))).toBe(textOf(tree));
  });

  it("[MOVE-6] [MOVE-22] what does not verify is removed completely", async () => {
    const here = await openFresh(engine);
    const there = await openFresh(engine);
    const id = await makeSession(here, {
      steps: [{ do: "exchange", text: "one" }],
      children: [{ steps: [{ do: "exchange", text: "two" }], children: [] }],
    });
    const tree = await here.read(readSessionTree, { id });
    const empty = await rowCounts(there);
    const [child] = tree.children;
    const altered = structuredClone(child?.messages ?? []).map((message) => ({
      ...message,
      content: `${message.content}!`,
    }));
    const forged = { ...tree, children: [{ ...child!, messages: altered }] };
    await expect(importTree(there, parseExport(textOf(forged)))).rejects.toMatchObject({
      code: "export_invalid",
      faults: [{ pointer: child?.session.id }],
    });
    expect(await rowCounts(there)).toEqual(empty);
  });

  it("[MOVE-7] [MOVE-24] an existing session is refused whole; a copy has new ids everywhere", async () => {
    const store = await openFresh(engine);
    const id = await makeSession(store, RICH);
    const tree = await store.read(readSessionTree, { id });
    const before = await rowCounts(store);
    await expect(store.write(writeSessionTree, { tree })).rejects.toMatchObject({
      code: "session_exists",
    });
    const [child] = tree.children;
    const clash = { ...withNewIds(tree), children: [child!] };
    await expect(store.write(writeSessionTree, { tree: clash })).rejects.toMatchObject({
      code: "session_exists",
    });
    expect(await rowCounts(store)).toEqual(before);

    const copy = withNewIds(tree);
    const ids = await store.write(writeSessionTree, { tree: copy });
    const stored = await store.read(readSessionTree, { id: ids[0] ?? "" });
    expect(stored).toEqual(copy);
    const old = [...sessionsOf(tree)].map(({ session }) => session.id);
    expect(old.filter((each) => textOf(stored).includes(each))).toEqual([]);
    expect(ids.filter((each) => old.includes(each))).toEqual([]);
    const after = await rowCounts(store);
    expect(after).toEqual(
      Object.fromEntries(Object.entries(before).map(([table, rows]) => [table, rows * 2])),
    );
    expect(await store.read(readSessionTree, { id })).toEqual(tree);
  });

  it("[MOVE-8] a sub-agent's session moves only to a database that has its parent", async () => {
    const there = await openFresh(engine);
    const tree = await rich().read(readSessionTree, { id: richId });
    const [child] = tree.children;
    const alone = { tree: child! };
    await expect(there.write(writeSessionTree, alone)).rejects.toMatchObject({
      code: "session_not_found",
    });
    await there.write(writeSessionTree, { tree: { ...tree, children: [] } });
    await there.write(writeSessionTree, alone);
    expect(await there.read(readSessionTree, { id: tree.session.id })).toEqual(tree);
    const [copy = ""] = await there.write(writeSessionTree, { tree: withNewIds(child!) });
    expect(await there.read(readSession, { id: copy })).toMatchObject({
      parent_session_id: tree.session.id,
      depth: 1,
    });
    const deeper = withNewIds({ ...child!, session: { ...child!.session, depth: 2 } });
    await expect(there.write(writeSessionTree, { tree: deeper })).rejects.toMatchObject({
      code: "depth_exceeded",
    });
  });

  it("[MOVE-4] the checksum covers the values, not their layout", async () => {
    const tree = await rich().read(readSessionTree, { id: richId });
    const laidOut = JSON.stringify(backwards(JSON.parse(textOf(tree))), null, 2);
    const read = parseExport(laidOut);
    expect(read).toEqual(tree);
    expect(checksumOf(read)).toBe(checksumOf(tree));
  });
});

/** A new column of these tables needs an entry: what does an export do with it? */
async function portableColumns(store: Store): Promise<Record<string, string[]>> {
  const columns: Record<string, string[]> = {};
  for (const table of TABLES.filter((one) => one === "threads" || one.startsWith("checkpoint"))) {
    columns[table] = (await columnsOf(store, table)).sort();
  }
  return columns;
}

/** The same document with the members of every object in the opposite order. */
function backwards(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(backwards);
  }
  return typeof value === "object" && value !== null
    ? Object.fromEntries(
        Object.entries(value)
          .toReversed()
          .map(([name, member]) => [name, backwards(member)]),
      )
    : value;
}
