import { expect, it } from "vitest";

import { importTree } from "../../../../src/store/portable/import-tree.ts";
import { exportText } from "../../../../src/store/portable/export-text.ts";
import { parseExport } from "../../../../src/store/portable/parse.ts";
import { readSessionTree } from "../../../../src/store/portable/read-tree.ts";
import { withdrawQueued, stopExchange } from "../../../../src/store/records/exchanges/change.ts";
import { countQueue } from "../../../../src/store/records/exchanges/count-queue.ts";
import { readExchange } from "../../../../src/store/records/exchanges/read.ts";
import { claimQueued } from "../../../../src/store/records/exchanges/ready.ts";
import { readWaitingSessions } from "../../../../src/store/records/exchanges/waiting-sessions.ts";
import { releaseLease } from "../../../../src/store/records/leases/lease.ts";
import { describeEngines, newSession, openFresh } from "../../../helpers/engines.ts";
import { ask, claimNext, letTimeCome, queue, readyOf } from "../../../helpers/queue.ts";
import { verifySession } from "../../../../src/store/verify/verify-session.ts";

const HOUR = 3_600_000;
const later = (ms = HOUR): string => new Date(Date.now() + ms).toISOString();

describeEngines("exchanges that wait for their time", (engine) => {
  const open = async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    const ready = async () => (await readyOf(store)).map(({ n }) => n);
    const record = (n: number) => store.read(readExchange, { reference: id, n });
    return { store, id, ready, record };
  };

  it("[LIMITED-1] no node finds or takes one before, and any does afterwards", async () => {
    const { store, id, ready } = await open();
    const not_before = later();
    const queued = await queue(store, id, "later", { not_before });
    expect(queued).toMatchObject({ state: "queued", not_before });
    expect(await ready()).toEqual([]);
    expect(await store.read(readWaitingSessions, { limit: 10 })).toEqual([]);
    expect(await store.read(countQueue, null)).toMatchObject({ queued: 0, oldest: null });
    const claim = { session_id: id, n: 1, revision: queued.revision, epoch: 1 };
    const names = { model: "demo", persona_name: "assistant" };
    expect(await store.write(claimQueued, { ...claim, ...names })).toBeNull();
    expect((await verifySession(store, id)).findings).toEqual([]);
    await letTimeCome(store, id);
    expect(await ready()).toEqual([1]);
    expect(await store.read(countQueue, null)).toMatchObject({ queued: 1 });
    expect(await store.write(claimQueued, { ...claim, ...names })).not.toBeNull();
  });

  it("[LIMITED-1] [QUEUE-2] what is queued after it waits too, until it is withdrawn or stopped", async () => {
    const { store, id, ready } = await open();
    await queue(store, id, "one", { not_before: later() });
    await queue(store, id, "two", { not_before: later() });
    await queue(store, id, "three");
    expect(await ready()).toEqual([]);
    await store.write(withdrawQueued, { reference: id, n: 1 });
    expect(await ready()).toEqual([]);
    await store.write(stopExchange, { reference: id, n: 2 });
    expect(await ready()).toEqual([3]);
  });

  it("[LIMITED-1] a time in the past is as none", async () => {
    const { store, id, ready } = await open();
    await queue(store, id, "now", { not_before: later(-HOUR) });
    expect(await ready()).toEqual([1]);
  });

  it("[LIMITED-2] a continuation that is asked for again gets the new time", async () => {
    const { store, id, ready, record } = await open();
    const fence = await ask(store, id, "hello");
    const failure = { code: "model_rate_limited", sentence: "No.", resets_at: later() };
    await store.write(releaseLease, { fence, finished: false, failure });
    expect(await record(1)).toMatchObject({ state: "failed", resets_at: failure.resets_at });
    const first = await queue(store, id, null, { not_before: failure.resets_at });
    expect(first).toMatchObject({ n: 2, not_before: failure.resets_at });
    const until = later(2 * HOUR);
    expect(await queue(store, id, null, { not_before: until })).toMatchObject({
      n: 2,
      not_before: until,
      revision: first.revision + 1,
    });
    expect(await ready()).toEqual([]);
    expect(await queue(store, id, null)).toMatchObject({ n: 2, not_before: null });
    expect(await ready()).toEqual([2]);
  });

  it("[LIMITED-2] a person who continues or sends a message at once replaces the continuation", async () => {
    const { store, id, ready, record } = await open();
    const fence = await ask(store, id, "hello");
    const failure = { code: "model_rate_limited", sentence: "No." };
    await store.write(releaseLease, { fence, finished: false, failure });
    await queue(store, id, null, { not_before: later() });
    const next = await ask(store, id, "again");
    expect(await record(2)).toMatchObject({ state: "stopped" });
    expect(await record(3)).toMatchObject({ state: "running" });
    await store.write(releaseLease, { fence: next, finished: true });
    expect(await ready()).toEqual([]);
  });

  it("[LIMITED-3] one that is given back until a time keeps its number, and any node continues it then", async () => {
    const { store, id, ready, record } = await open();
    await queue(store, id, "hello");
    const fence = await claimNext(store, id);
    const not_before = later();
    await store.write(releaseLease, { fence, finished: false, end: "queued", not_before });
    expect(await record(1)).toMatchObject({ state: "queued", not_before, error_code: null });
    expect(await ready()).toEqual([]);
    expect((await verifySession(store, id)).findings).toEqual([]);
    await letTimeCome(store, id);
    expect(await ready()).toEqual([1]);
    await store.write(stopExchange, { reference: id, n: 1 });
    expect(await record(1)).toMatchObject({ state: "stopped" });
  });

  it("[LIMITED-1] an export takes the time along", async () => {
    const { store, id } = await open();
    const not_before = later();
    await queue(store, id, "later", { not_before });
    const tree = await store.read(readSessionTree, { id });
    const text = [...exportText(tree, "2026-01-01T00:00:00.000Z")].join("");
    const other = await openFresh(engine);
    await importTree(other, parseExport(text));
    expect(await other.read(readExchange, { reference: id, n: 1 })).toMatchObject({ not_before });
    expect(await readyOf(other)).toEqual([]);
    const wrong = text.replace(not_before, "zzz");
    expect(() => parseExport(wrong)).toThrow(expect.objectContaining({ code: "export_invalid" }));
  });
});
