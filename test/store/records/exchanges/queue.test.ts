import { expect, it } from "vitest";

import {
  changeQueued,
  failQueued,
  withdrawQueued,
} from "../../../../src/store/records/exchanges/change.ts";
import { readExchange } from "../../../../src/store/records/exchanges/read.ts";
import { readUnsent } from "../../../../src/store/records/exchanges/unsent.ts";
import { finishExchange } from "../../../../src/store/checkpoints/finish.ts";
import { takeLease, releaseLease } from "../../../../src/store/records/leases/lease.ts";
import { appendUserMessage } from "../../../../src/store/records/messages/append.ts";
import { readDetail } from "../../../../src/store/records/messages/read.ts";
import { endSession, startThread } from "../../../../src/store/records/sessions/change.ts";
import { countQueue } from "../../../../src/store/records/exchanges/count-queue.ts";
import { patchSession } from "../../../../src/store/records/sessions/patch.ts";
import { acceptChoices } from "../../../../src/store/records/messages/waiting.ts";
import { pruneSession, readPrunable } from "../../../../src/store/records/sessions/prune.ts";
import { deleteSessionTree } from "../../../../src/store/records/sessions/delete-tree.ts";
import type { Store } from "../../../../src/store/store.ts";
import { verifySession } from "../../../../src/store/verify/verify-session.ts";
import { statementsOf } from "../../../helpers/count-statements.ts";
import {
  describeEngines,
  execute,
  newSession,
  openFresh,
  owner,
} from "../../../helpers/engines.ts";
import { ask, claim, claimNext, expire, queue, readyOf, statesOf } from "../../../helpers/queue.ts";
import { GUEST, tokenHolder } from "../../../../src/core/principal.ts";

function finish(store: Store, fence: { session_id: string; epoch: number }) {
  return store.write(finishExchange, { fence, thread_id: `${fence.session_id}:0` });
}

async function contents(store: Store, reference: string): Promise<string[]> {
  const { messages } = await store.read(readDetail, { reference, all: true });
  return messages.map(({ content }) => content);
}

describeEngines("the queue of a session", (engine) => {
  it("[QUEUE-1] takes a message into its record, with at most 8 statements", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    const first = await queue(store, id, "first");
    expect(first).toMatchObject({ n: 1, state: "queued", asked_by: "http", begun_at: null });
    const sent = await statementsOf(() => queue(store, id, "second", { idempotency_key: "k" }));
    const all = sent.statements.length + 2 * sent.transactions;
    expect(all, sent.statements.join("\n")).toBeLessThanOrEqual(8);
    expect(await contents(store, id)).toEqual([]);
    expect(await statesOf(store, id)).toEqual(["queued", "queued"]);
    expect((await verifySession(store, id)).findings).toEqual([]);

    await claimNext(store, id);
    expect(await contents(store, id)).toEqual(["first"]);
    expect(await statesOf(store, id)).toEqual(["running", "queued"]);
  });

  it("[QUEUE-2] runs one exchange of a session at a time, in order", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    const texts = ["one", "two", "three"];
    for (const text of texts) {
      await queue(store, id, text);
    }
    for (const [index] of texts.entries()) {
      const ready = await readyOf(store);
      expect(ready.map(({ n }) => n)).toEqual([index + 1]);
      const fence = await claimNext(store, id);
      expect(await readyOf(store)).toEqual([]);
      await finish(store, fence);
    }
    expect(await contents(store, id)).toEqual(texts);
    expect(await statesOf(store, id)).toEqual(["done", "done", "done"]);
    expect(await readyOf(store)).toEqual([]);
  });

  it("[QUEUE-3] gives an exchange to one of many nodes", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    await queue(store, id, "a question");
    const [ready] = await readyOf(store);
    const nodes = Array.from({ length: 6 }, (_, index) => ({ ...owner, pid: index + 1 }));
    const claims = await Promise.allSettled(nodes.map((node) => claim(store, ready!, node)));
    expect(claims.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const each of claims) {
      if (each.status === "rejected") {
        expect(["session_busy", "exchange_changed"]).toContain(each.reason.code);
      }
    }
    expect(await contents(store, id)).toEqual(["a question"]);
  });

  it("[QUEUE-3] gives out nothing that was changed since it was read, or may not run yet", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    await queue(store, id, "before");
    const [read] = await readyOf(store);
    await store.write(changeQueued, { reference: id, n: 1, content: "after" });
    await expect(claim(store, read!)).rejects.toMatchObject({ code: "exchange_changed" });
    expect(await contents(store, id)).toEqual([]);

    // a terminal was first, and is dead by now
    const [changed] = await readyOf(store);
    await ask(store, id, "typed");
    await expire(store, id);
    await expect(claim(store, changed!)).rejects.toMatchObject({ code: "exchange_changed" });
    expect(await statesOf(store, id)).toEqual(["queued", "interrupted"]);
    expect(await contents(store, id)).toEqual(["typed"]);
  });

  it("[QUEUE-4] hands pending messages over first, except those that nobody confirmed", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    await queue(store, id, "queued");
    const nobody = GUEST;
    await store.write(appendUserMessage, { reference: id, content: "unknown", principal: nobody });
    await store.write(appendUserMessage, { reference: id, content: "pending" });
    const fence = await claimNext(store, id);
    expect(await contents(store, id)).toEqual(["unknown", "pending", "queued"]);
    expect(await store.read(readExchange, { reference: id, n: 1 })).toMatchObject({ first_seq: 2 });
    await finish(store, fence);
    expect((await verifySession(store, id)).pending).toBe(3);
  });

  it("[QUEUE-5] lets the session run that has waited longest", async () => {
    const store = await openFresh(engine);
    const busy = await newSession(store);
    const other = await newSession(store);
    for (const text of ["one", "two"]) {
      await queue(store, busy.id, text);
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
    await queue(store, other.id, "one");
    const order = async () => (await readyOf(store)).map(({ session_id }) => session_id);
    expect(await order()).toEqual([busy.id, other.id]);
    const fence = await claimNext(store, busy.id);
    await new Promise((resolve) => setTimeout(resolve, 5));
    await finish(store, fence);
    expect(await order()).toEqual([other.id, busy.id]);
  });

  it("[QUEUE-13] a message can be changed and withdrawn until its exchange begins", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    const reference = id;
    const { revision } = await queue(store, id, "one");
    const changed = await store.write(changeQueued, { reference, n: 1, content: "1", revision });
    expect(changed.revision).toBe(revision + 1);
    const again = { reference, n: 1, content: "2", revision };
    const stale = { code: "exchange_changed" };
    await expect(store.write(changeQueued, again)).rejects.toMatchObject(stale);
    await expect(store.write(withdrawQueued, again)).rejects.toMatchObject(stale);
    await queue(store, id, "two");
    const withdrawn = await store.write(withdrawQueued, { reference, n: 2 });
    expect(withdrawn).toMatchObject({ state: "stopped", first_seq: null, last_seq: null });
    const fence = await claimNext(store, id);
    expect(await contents(store, id)).toEqual(["1"]);
    const begun = { code: "exchange_begun" };
    await expect(store.write(withdrawQueued, { reference, n: 1 })).rejects.toMatchObject(begun);
    await expect(
      store.write(changeQueued, { reference, n: 1, content: "3" }),
    ).rejects.toMatchObject(begun);
    // given back, it has begun all the same
    await store.write(releaseLease, { fence, finished: false, end: "queued" });
    await expect(store.write(withdrawQueued, { reference, n: 1 })).rejects.toMatchObject(begun);
  });

  it("[QUEUE-14] withdrawing and beginning at the same moment, exactly one happens", async () => {
    const store = await openFresh(engine);
    for (let round = 0; round < 10; round += 1) {
      const { id } = await newSession(store);
      await queue(store, id, "a question");
      const [ready] = (await readyOf(store)).filter(({ session_id }) => session_id === id);
      const withdraw = () => store.write(withdrawQueued, { reference: id, n: 1 });
      const begin = () => claim(store, ready!);
      const both = round % 2 === 0 ? [begin(), withdraw()] : [withdraw(), begin()];
      const ends = await Promise.allSettled(both);
      expect(ends.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      const [state] = await statesOf(store, id);
      expect(await contents(store, id)).toEqual(state === "running" ? ["a question"] : []);
      expect(["running", "stopped"]).toContain(state);
    }
  });

  it("[QUEUE-15] without a message, continues what was interrupted, or hands over what is pending", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    const nothing = { code: "nothing_to_continue" };
    await expect(queue(store, id, null)).rejects.toMatchObject(nothing);
    await store.write(appendUserMessage, { reference: id, content: "pending" });
    expect(await queue(store, id, null)).toMatchObject({ n: 1, state: "queued" });
    await expect(queue(store, id, null)).rejects.toMatchObject(nothing);
    await finish(store, await claimNext(store, id));

    await ask(store, id, "typed");
    await expect(queue(store, id, null)).rejects.toMatchObject(nothing);
    await expire(store, id);
    expect(await queue(store, id, null)).toMatchObject({ n: 2, state: "queued", first_seq: 1 });
    const fence = await claimNext(store, id);
    const failure = { code: "model_failed", sentence: "The model failed." };
    await store.write(releaseLease, { fence, finished: false, failure });
    expect(await queue(store, id, null)).toMatchObject({ n: 3, state: "queued" });
    expect(await statesOf(store, id)).toEqual(["done", "failed", "queued"]);
  });

  it("[QUEUE-15] [QUEUE-51] names the message that was refused before its exchange began, until another one begins", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    const unsent = (all: boolean) => store.read(readUnsent, { session_id: id, all, limit: 1 });
    const failure = { code: "folder_missing", sentence: "It is gone." } as const;
    for (const text of ["first", "second"]) {
      const { n, revision } = await queue(store, id, text);
      await store.write(failQueued, { session_id: id, n, revision, failure });
    }
    const second = { n: 2, content: "second", error_code: "folder_missing" };
    expect(await unsent(false)).toMatchObject([second]);
    await expect(queue(store, id, null)).rejects.toMatchObject({
      code: "nothing_to_continue",
      message: expect.stringMatching(/^The message of exchange 2 .*\(folder_missing\)/),
    });
    await queue(store, id, "third");
    await finish(store, await claimNext(store, id));
    expect(await unsent(false)).toEqual([]);
    expect(await unsent(true)).toMatchObject([second]);
  });

  it("[QUEUE-16] a repeated key finds what the first request queued, also after the end", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    const key = { idempotency_key: "k" };
    const sent = await Promise.all(
      Array.from({ length: 4 }, () => queue(store, id, "once", key).then(({ n }) => n)),
    );
    expect(new Set(sent)).toEqual(new Set([1]));
    const reused = { code: "idempotency_key_reused" };
    await expect(queue(store, id, "other", key)).rejects.toMatchObject(reused);
    await expect(queue(store, id, null, key)).rejects.toMatchObject(reused);
    const other = await newSession(store);
    expect(await queue(store, other.id, "other", key)).toMatchObject({ n: 1 });
    await finish(store, await claimNext(store, id));
    expect(await queue(store, id, "once", key)).toMatchObject({ n: 1, state: "done" });

    await ask(store, id, "typed");
    await expire(store, id);
    const again = { idempotency_key: "continue" };
    expect(await queue(store, id, null, again)).toMatchObject({ n: 2, state: "queued" });
    await finish(store, await claimNext(store, id));
    expect(await queue(store, id, null, again)).toMatchObject({ n: 2, state: "done" });

    // a graph of others waits, and nobody knows for what
    const fence = await ask(store, id, "typed");
    await execute(store, "UPDATE sessions SET agent = 'graph' WHERE id = ?", id);
    await store.write(releaseLease, { fence, finished: false, end: "waiting" });
    const third = { idempotency_key: "third" };
    expect(await queue(store, id, null, third)).toMatchObject({ n: 3, state: "queued" });
    expect(await queue(store, id, null, third)).toMatchObject({ n: 3, state: "queued" });
    await store.write(endSession, { id });
    expect(await queue(store, id, "once", key)).toMatchObject({ n: 1, state: "done" });
    const ended = { code: "session_ended" };
    await expect(queue(store, id, "late")).rejects.toMatchObject(ended);
  });

  it("[QUEUE-17] is not for sessions of sub-agents", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    const child = await newSession(store, { parent_session_id: id, parent_call_id: "call" });
    const refused = (code: string) =>
      expect(queue(store, child.id, "a task")).rejects.toMatchObject({ code });
    await refused("invalid_usage");
    await ask(store, id, "typed");
    await refused("session_busy");
    await expire(store, id);
    await refused("session_busy");
    expect(await statesOf(store, child.id)).toEqual([]);
  });

  it("[QUEUE-41] is not for what nobody confirmed: nothing is stored, and a repeated key still finds its exchange", async () => {
    const store = await openFresh(engine);
    const principal = GUEST;
    const { id } = await newSession(store, { model: "demo", principal });
    const before = await store.read(readDetail, { reference: id, all: true });
    const refused = { code: "not_confirmed", message: expect.stringContaining(id) };
    await expect(queue(store, id, "a question")).rejects.toMatchObject(refused);
    await expect(queue(store, id, null)).rejects.toMatchObject(refused);
    expect(await statesOf(store, id)).toEqual([]);
    expect(await store.read(readDetail, { reference: id, all: true })).toEqual(before);
    expect(await readyOf(store)).toEqual([]);

    await store.write(acceptChoices, { session_id: id, through_change: 0 });
    const key = { idempotency_key: "k" };
    expect(await queue(store, id, "a question", key)).toMatchObject({ n: 1, state: "queued" });
    const change = { model: "openai:other" };
    await store.write(patchSession, { reference: id, change, project_key: null, principal });
    expect(await queue(store, id, "a question", key)).toMatchObject({ n: 1, state: "queued" });
    await expect(queue(store, id, "another")).rejects.toMatchObject(refused);
    // somebody with the token chooses another
    await store.write(patchSession, {
      reference: id,
      change: { model: "demo" },
      project_key: null,
      principal: tokenHolder("owner"),
    });
    expect(await queue(store, id, "another")).toMatchObject({ n: 2, state: "queued" });
  });

  it("[QUEUE-18] ends with its session, /clear withdraws it, and another model or persona keeps it", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    const twice = async () => {
      await queue(store, id, "given back");
      await store.write(releaseLease, {
        fence: await claimNext(store, id),
        finished: false,
        end: "queued",
      });
      await queue(store, id, "waits");
    };
    await twice();
    await store.write(startThread, { id, archive: false, model: "demo" });
    // what had begun belongs to the thread before
    expect(await statesOf(store, id)).toEqual(["stopped", "queued"]);
    expect((await readyOf(store)).map(({ n }) => n)).toEqual([2]);
    await store.write(startThread, { id, archive: true });
    expect(await statesOf(store, id)).toEqual(["stopped", "stopped"]);
    expect(await readyOf(store)).toEqual([]);
    await twice();
    await store.write(endSession, { id });
    expect((await statesOf(store, id)).slice(2)).toEqual(["stopped", "stopped"]);
    expect(await readyOf(store)).toEqual([]);
    const ended = await store.read(readExchange, { reference: id, n: 4 });
    expect(ended).toMatchObject({ error_code: "session_ended", last_seq: null });
    expect((await verifySession(store, id)).findings).toEqual([]);
  });

  it("[QUEUE-18] goes with its session, unless an exchange is running", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    await queue(store, id, "one");
    await queue(store, id, "two");
    await claimNext(store, id);
    const busy = { code: "session_busy" };
    await expect(store.write(deleteSessionTree, { id })).rejects.toMatchObject(busy);
    await expire(store, id);
    await store.write(deleteSessionTree, { id });
    expect(await readyOf(store)).toEqual([]);
    const left = await store.read(
      ({ db }) => db.selectFrom("exchanges").selectAll().execute(),
      null,
    );
    expect(left).toEqual([]);
  });

  it("[QUEUE-26] is left alone while something else has the session's lease", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    await queue(store, id, "a question");
    const fence = await store.write(takeLease, { session_id: id, owner, life_ms: 60_000 });
    expect(await readyOf(store)).toEqual([]);
    await store.write(releaseLease, { fence, finished: true, end: null });
    expect((await readyOf(store)).map(({ n }) => n)).toEqual([1]);
  });

  it("[QUEUE-28] keeps its session from being pruned, unless that is asked for", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    await queue(store, id, "waits");
    const past = "2020-01-01T00:00:00.000Z";
    await execute(store, "UPDATE sessions SET created_at = ?", past);
    const old = { older_than_ms: 1000, state: null };
    expect(await store.read(readPrunable, old)).toEqual([]);
    expect(await store.write(pruneSession, { ...old, id })).toEqual([]);
    const found = await store.read(readPrunable, { ...old, waiting: true });
    expect(found.flat().map(({ session }) => session.id)).toEqual([id]);
    // one that waits for the answer of a person does so too
    const setState = (state: string) => execute(store, "UPDATE exchanges SET state = ?", state);
    await setState("waiting");
    expect(await store.read(readPrunable, old)).toEqual([]);
    expect(await store.write(pruneSession, { ...old, id })).toEqual([]);
    await setState("queued");
    await store.write(withdrawQueued, { reference: id, n: 1 });
    expect(await store.write(pruneSession, { ...old, id })).toHaveLength(1);
  });

  it("[QUEUE-29] is counted, with the age of the first one", async () => {
    const store = await openFresh(engine);
    const none = { queued: 0, waiting: 0, oldest: null, oldest_ms: 0, attempts: 0 };
    expect(await store.read(countQueue, null)).toEqual(none);
    const { id } = await newSession(store);
    await queue(store, id, "one");
    await queue(store, (await newSession(store)).id, "two");
    const first = "2020-01-01T00:00:00.000Z";
    await execute(
      store,
      "UPDATE exchanges SET queued_at = ?, attempts = 2 WHERE session_id = ?",
      first,
      id,
    );
    const counted = await store.read(countQueue, null);
    expect(counted).toMatchObject({ queued: 2, oldest: first, attempts: 2 });
    expect(counted.oldest_ms).toBeGreaterThan(365 * 24 * 60 * 60 * 1000);
    await store.write(withdrawQueued, { reference: id, n: 1 });
    expect(await store.read(countQueue, null)).toMatchObject({ queued: 1, attempts: 0 });
  });
});
