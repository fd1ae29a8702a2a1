import { expect, it } from "vitest";

import { pruneThread } from "../../../../src/store/checkpoints/prune.ts";
import {
  readLease,
  readLeaseState,
  releaseLease,
  renewLease,
  takeLease,
} from "../../../../src/store/records/leases/lease.ts";
import { appendUserMessage } from "../../../../src/store/records/messages/append.ts";
import {
  beginExchange,
  openExchange,
} from "../../../../src/store/records/messages/begin-exchange.ts";
import { readDetail } from "../../../../src/store/records/messages/read.ts";
import { endSession } from "../../../../src/store/records/sessions/change.ts";
import { readSession } from "../../../../src/store/records/sessions/read.ts";
import type { Store } from "../../../../src/store/store.ts";
import {
  describeEngines,
  type Engine,
  execute,
  newSession,
  openFresh,
  owner,
} from "../../../helpers/engines.ts";

const other = { ...owner, host: "laptop", pid: 12 };
const begin = { content: "hello", model: "demo", persona_name: "assistant" };

describeEngines("a lease", (engine) => {
  it("[STORE-14] admits one writer and shows the next one who it is and since when", async () => {
    const store = await openFresh(engine);
    const { id: session_id } = await newSession(store);
    const fence = await store.write(takeLease, { session_id, owner, life_ms: 60_000 });

    const refused = store.write(takeLease, { session_id, owner: other, life_ms: 60_000 });

    await expect(refused).rejects.toMatchObject({ code: "session_busy" });
    await expect(refused).rejects.toThrow(
      /process 4711 on workshop \(reprise serve\), since 2026-01-01T00:00:00\.000Z/,
    );
    expect(await store.read(readLease, { session_id })).toEqual({
      session_id,
      epoch: fence.epoch,
      owner,
    });
    expect(await store.read(readSession, { id: session_id })).toMatchObject({
      activity: "running",
    });
  });

  it("is given to exactly one of several who ask at once", async () => {
    const store = await openFresh(engine);
    const { id: session_id } = await newSession(store);

    const asked = await Promise.allSettled(
      Array.from({ length: 10 }, (_, pid) =>
        store.write(takeLease, { session_id, owner: { ...owner, pid }, life_ms: 60_000 }),
      ),
    );

    expect(asked.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  it("[STORE-15] expires by the database's clock, and the late holder writes nothing", async () => {
    const store = await openFresh(engine);
    const { id: session_id } = await newSession(store);
    const stale = await store.write(takeLease, { session_id, owner, life_ms: 60_000 });
    await store.write(beginExchange, { fence: stale, ...begin });
    await expire(store, session_id);
    expect(await store.read(readLease, { session_id })).toBeNull();
    expect(await store.read(readSession, { id: session_id })).toMatchObject({
      activity: "interrupted",
    });

    const fresh = await store.write(takeLease, { session_id, owner: other, life_ms: 60_000 });

    expect(fresh.epoch).toBeGreaterThan(stale.epoch);
    expect([stale.was_interrupted, fresh.was_interrupted]).toEqual([false, true]);
    await expectRefused(store, stale, "lease_lost");
    await store.write(releaseLease, { fence: stale, finished: true });
    expect(await store.read(readLease, { session_id })).toEqual({
      session_id,
      epoch: fresh.epoch,
      owner: other,
    });
  });

  it("is taken over only if it is the one that was meant", async () => {
    const store = await openFresh(engine);
    const { id: session_id } = await newSession(store);
    const first = await store.write(takeLease, { session_id, owner, life_ms: 60_000 });
    const takeOver = { session_id, owner: other, life_ms: 60_000, take_over_epoch: first.epoch };

    const second = await store.write(takeLease, takeOver);

    expect(second.epoch).toBe(first.epoch + 1);
    await expectRefused(store, first, "lease_lost");
    // a third that saw the first holder dead comes too late
    await expect(store.write(takeLease, takeOver)).rejects.toMatchObject({ code: "session_busy" });
  });

  it("is prolonged by its holder, also after it ran out and nobody took it", async () => {
    const store = await openFresh(engine);
    const { id: session_id } = await newSession(store);
    const fence = await store.write(takeLease, { session_id, owner, life_ms: 60_000 });
    await expire(store, session_id);

    await store.write(renewLease, { fence, life_ms: 60_000 });

    expect(await store.read(readLease, { session_id })).toEqual({
      session_id,
      epoch: fence.epoch,
      owner,
    });
    await expect(
      store.write(takeLease, { session_id, owner: other, life_ms: 60_000 }),
    ).rejects.toMatchObject({ code: "session_busy" });
  });

  it.each([
    [true, "idle"],
    [false, "interrupted"],
  ])(
    "[STORE-14] [STORE-71] a lease returned with finished: %s leaves the session %s",
    async (finished, activity) => {
      const store = await openFresh(engine);
      const { id: session_id } = await newSession(store);
      const fence = await store.write(takeLease, { session_id, owner, life_ms: 60_000 });
      await store.write(beginExchange, { fence, ...begin });

      await store.write(releaseLease, { fence, finished });

      expect(await store.read(readSession, { id: session_id })).toMatchObject({ activity });
      await expectRefused(store, fence, "lease_lost");
      const next = await store.write(takeLease, { session_id, owner: other, life_ms: 60_000 });
      expect(next).toMatchObject({ epoch: fence.epoch + 1, was_interrupted: !finished });
    },
  );

  it("[STORE-15] ending a session revokes its lease, and no new one is granted", async () => {
    const store = await openFresh(engine);
    const { id: session_id } = await newSession(store);
    const fence = await store.write(takeLease, { session_id, owner, life_ms: 60_000 });

    expect(await store.write(endSession, { id: session_id })).toMatchObject({ activity: "idle" });

    await expectRefused(store, fence, "session_ended");
    await expect(
      store.write(takeLease, { session_id, owner, life_ms: 60_000 }),
    ).rejects.toMatchObject({ code: "session_ended" });
  });

  it("is refused for a session that does not exist", async () => {
    const store = await openFresh(engine);
    const session_id = "00000000-0000-4000-8000-000000000000";

    await expect(
      store.write(takeLease, { session_id, owner, life_ms: 60_000 }),
    ).rejects.toMatchObject({ code: "session_not_found" });
  });
});

describeEngines("beginExchange", (engine) => {
  it("stores the message, marks the exchange and hands over what is pending, oldest first", async () => {
    const store = await openFresh(engine);
    const { id: session_id } = await newSession(store);
    await store.write(appendUserMessage, { reference: session_id, content: "through the API" });
    const fence = await store.write(takeLease, { session_id, owner, life_ms: 60_000 });

    const begun = await store.write(beginExchange, { fence, ...begin });

    expect(begun.session).toMatchObject({
      title: "through the API",
      model: "demo",
      persona_name: "assistant",
      activity: "running",
      last_seq: 2,
    });
    expect(begun.pending.map(({ content }) => content)).toEqual(["through the API", "hello"]);
  });

  it("keeps the model and persona that the session has, and stores nothing without content", async () => {
    const store = await openFresh(engine);
    const { id: session_id } = await newSession(store, { model: "m", persona_name: "p" });
    const fence = await store.write(takeLease, { session_id, owner, life_ms: 60_000 });

    const begun = await store.write(beginExchange, { fence, ...begin, content: null });

    expect(begun).toMatchObject({
      session: { model: "m", persona_name: "p", last_seq: 0, title: null },
      pending: [],
    });
  });
});

/** Lets the lease run out, as if its holder had slept for long. */
describeEngines("openExchange", (engine) => {
  it("takes the lease and stores the message in one transaction", async () => {
    const { store, taking, leaseState } = await openLeaseState(engine);

    const { begun, epoch } = await store.write(openExchange, {
      ...taking,
      begin: { ...begin, leaseState },
    });

    expect(epoch).toBe(1);
    expect(begun?.pending.map(({ content }) => content)).toEqual([begin.content]);
    expect(await store.read(readSession, { id: taking.session_id })).toMatchObject({
      activity: "running",
      last_seq: 1,
    });
    await expect(
      store.write(openExchange, { ...taking, owner: other, begin: { ...begin, leaseState } }),
    ).rejects.toMatchObject({ code: "session_busy" });
    expect(await store.read(readSession, { id: taking.session_id })).toMatchObject({ last_seq: 1 });
  });

  it.each([
    { what: "an interrupted session", finished: false, again: true },
    { what: "a session that somebody else held since it was read", finished: true, again: false },
  ])("takes only the lease of $what", async ({ finished, again }) => {
    const { store, taking, leaseState: early } = await openLeaseState(engine);
    const fence = await store.write(takeLease, taking);
    await store.write(beginExchange, { fence, ...begin });
    await store.write(releaseLease, { fence, finished });
    const leaseState = again ? await store.read(readLeaseState, taking) : early;

    const lease = await store.write(openExchange, { ...taking, begin: { ...begin, leaseState } });

    expect(lease).toMatchObject({ epoch: 2, was_interrupted: !finished, begun: null });
    expect(lease.session.last_seq).toBe(1);
  });
});

async function openLeaseState(engine: Engine) {
  const store = await openFresh(engine);
  const { id: session_id } = await newSession(store);
  const taking = { session_id, owner, life_ms: 60_000 };
  return { store, taking, leaseState: await store.read(readLeaseState, taking) };
}

async function expire(store: Store, session_id: string): Promise<void> {
  await execute(
    store,
    `UPDATE sessions SET lease_expires_at = '2001-01-01T00:00:00.000Z' WHERE id = '${session_id}'`,
  );
}

/** Every write of an exchange that holds this fence is refused and leaves no trace. */
async function expectRefused(
  store: Store,
  fence: { session_id: string; epoch: number },
  code: string,
): Promise<void> {
  const reference = fence.session_id;
  const before = await store.read(readDetail, { reference, all: true });
  const lease = await store.read(readLease, { session_id: reference });
  await expect(
    store.write(pruneThread, { thread_id: `${reference}:0`, fence }),
  ).rejects.toMatchObject({ code });
  await expect(store.write(beginExchange, { fence, ...begin })).rejects.toMatchObject({ code });
  await expect(store.write(renewLease, { fence, life_ms: 1 })).rejects.toMatchObject({ code });
  expect(await store.read(readDetail, { reference, all: true })).toEqual(before);
  expect(await store.read(readLease, { session_id: reference })).toEqual(lease);
}
