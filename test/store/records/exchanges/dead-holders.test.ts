import { expect, it } from "vitest";

import { MAX_ATTEMPTS } from "../../../../src/core/exchanges.ts";
import { stopCurrent, stopExchange } from "../../../../src/store/records/exchanges/change.ts";
import { readCurrent } from "../../../../src/store/records/exchanges/current.ts";
import { readExchange } from "../../../../src/store/records/exchanges/read.ts";
import { isStopAsked } from "../../../../src/store/records/exchanges/stop-asked.ts";
import { type Fence, holdFence } from "../../../../src/store/records/leases/fence.ts";
import { finishExchange } from "../../../../src/store/checkpoints/finish.ts";
import { releaseLease, takeLease } from "../../../../src/store/records/leases/lease.ts";
import { thisProcess } from "../../../../src/store/records/leases/this-process.ts";
import { beginExchange } from "../../../../src/store/records/messages/begin-exchange.ts";
import { endSession } from "../../../../src/store/records/sessions/change.ts";
import { readFailures } from "../../../../src/store/records/sessions/failures.ts";
import type { Store } from "../../../../src/store/store.ts";
import { verifySession } from "../../../../src/store/verify/verify-session.ts";
import {
  describeEngines,
  execute,
  newSession,
  openFresh,
  owner,
} from "../../../helpers/engines.ts";
import {
  ask,
  claim,
  claimNext,
  expire,
  queue,
  readyOf,
  revive,
  statesOf,
} from "../../../helpers/queue.ts";

async function readyNumbers(store: Store): Promise<number[]> {
  return (await readyOf(store)).map(({ n }) => n);
}

function release(store: Store, fence: Fence, end: "queued" | "interrupted" | "stopped") {
  return store.write(releaseLease, { fence, finished: false, end });
}

describeEngines("queued exchanges and processes that die", (engine) => {
  it("[QUEUE-6] what a node gives back is continued as the same exchange, and does not count as an attempt", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    await queue(store, id, "one");
    await queue(store, id, "two");
    for (let round = 0; round < MAX_ATTEMPTS + 1; round += 1) {
      await release(store, await claimNext(store, id), "queued");
      await revive(store);
      expect(await statesOf(store, id)).toEqual(["queued", "queued"]);
      expect(await readyNumbers(store)).toEqual([1]);
    }
    const [ready] = await readyOf(store);
    expect(ready).toMatchObject({ content: null, attempts: 0 });
    const fence = await claimNext(store, id);
    await store.write(finishExchange, { fence, thread_id: `${id}:0` });
    expect(await store.read(readExchange, { reference: id, n: 1 })).toMatchObject({
      state: "done",
      first_seq: 1,
      last_seq: 1,
    });
    expect(await readyNumbers(store)).toEqual([2]);
  });

  it("[QUEUE-7] what a dead node ran is queued again, until it has cost three processes", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    await queue(store, id, "one");
    await queue(store, id, "two");
    for (let attempt = 1; attempt < MAX_ATTEMPTS; attempt += 1) {
      await claimNext(store, id);
      await revive(store);
      expect((await statesOf(store, id))[0]).toBe("running");
      await expire(store, id);
      // a message that comes in between skips nothing
      await queue(store, id, `during ${attempt}`);
      await revive(store);
      expect(new Set(await statesOf(store, id))).toEqual(new Set(["queued"]));
      expect(await readyOf(store)).toMatchObject([{ n: 1, attempts: attempt, content: null }]);
    }
    await claimNext(store, id);
    await expire(store, id);
    await revive(store);
    const failed = await store.read(readExchange, { reference: id, n: 1 });
    expect(failed).toMatchObject({ state: "failed", error_code: "attempts_used_up" });
    const failures = await store.read(readFailures, { ids: [id] });
    expect(failures.get(id)?.code).toBe("attempts_used_up");
    expect(await readyNumbers(store)).toEqual([2]);
    expect((await verifySession(store, id)).findings).toEqual([]);
  });

  it("[QUEUE-7] a dead process of this machine is found before its lease runs out", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    await queue(store, id, "one");
    const [ready] = await readyOf(store);
    // no process has this number
    await claim(store, ready!, { ...thisProcess("test"), pid: 2 ** 22 + 1 });
    await revive(store);
    expect(await readyOf(store)).toMatchObject([{ n: 1, attempts: 1 }]);
  });

  it("[QUEUE-7] also if somebody had the session's lease since, and did not continue it", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    await queue(store, id, "one");
    await claimNext(store, id);
    await expire(store, id);
    const fence = await store.write(takeLease, { session_id: id, owner, life_ms: 60_000 });
    expect(await statesOf(store, id)).toEqual(["interrupted"]);
    await revive(store);
    expect(await statesOf(store, id)).toEqual(["interrupted"]);
    await store.write(releaseLease, { fence, finished: false, end: null });
    await revive(store);
    expect(await readyOf(store)).toMatchObject([{ n: 1, attempts: 1 }]);
  });

  it("[QUEUE-8] a process that runs again, after it lost its exchange like this, writes nothing", async () => {
    const lost = { code: "lease_lost" };
    const cases: Record<string, (store: Store, id: string) => Promise<unknown>> = {
      revived: (store) => revive(store),
      continued: (store, id) => queue(store, id, null),
      stopped: (store, id) => store.write(stopExchange, { reference: id, n: 1 }),
    };
    const store = await openFresh(engine);
    for (const [name, lose] of Object.entries(cases)) {
      const { id } = await newSession(store);
      await queue(store, id, "one");
      const fence = await claimNext(store, id);
      await expire(store, id);
      await lose(store, id);
      await expect(store.write(holdFence, fence), name).rejects.toMatchObject(lost);
      const states = await statesOf(store, id);
      await store.write(releaseLease, { fence, finished: true });
      expect(await statesOf(store, id), name).toEqual(states);
    }
    const { id } = await newSession(store);
    const fence = await ask(store, id, "typed");
    await expire(store, id);
    await queue(store, id, "skips it");
    await expect(store.write(holdFence, fence)).rejects.toMatchObject(lost);
    expect(await statesOf(store, id)).toEqual(["stopped", "queued"]);
  });

  it("[QUEUE-9] what a terminal left is continued by no node, and what was queued waits", async () => {
    const decisions: Record<string, [(store: Store, id: string) => Promise<unknown>, number[]]> = {
      "a person stops it": [(store, id) => store.write(stopExchange, { reference: id, n: 1 }), [2]],
      "a person continues it over HTTP": [(store, id) => queue(store, id, null), [1]],
      "a person continues it in a terminal": [
        async (store, id) => {
          const fence = await ask(store, id, null);
          await store.write(finishExchange, { fence, thread_id: `${id}:0` });
        },
        [2],
      ],
      "another message is sent": [(store, id) => queue(store, id, "three"), [2]],
    };
    const store = await openFresh(engine);
    for (const [name, [decide, next]] of Object.entries(decisions)) {
      const { id } = await newSession(store);
      const mine = async () =>
        (await readyOf(store)).filter(({ session_id }) => session_id === id).map(({ n }) => n);
      await ask(store, id, "typed");
      await queue(store, id, "queued before the terminal died");
      await expire(store, id);
      await revive(store);
      expect(await statesOf(store, id), name).toEqual(["interrupted", "queued"]);
      expect(await mine(), name).toEqual([]);
      await decide(store, id);
      expect(await mine(), name).toEqual(next);
    }
  });

  it("[QUEUE-9] so is what a service's exchange became in a terminal, or gave up itself", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    await queue(store, id, "one");
    await release(store, await claimNext(store, id), "queued");
    const fence = await ask(store, id, null);
    expect(await statesOf(store, id)).toEqual(["running"]);
    await expire(store, id);
    await revive(store);
    expect(await statesOf(store, id)).toEqual(["interrupted"]);
    await expect(store.write(holdFence, fence)).resolves.toBeDefined();

    const other = await newSession(store);
    await queue(store, other.id, "one");
    // nobody has said whether its calls may run again
    await release(store, await claimNext(store, other.id), "interrupted");
    await revive(store);
    expect(await statesOf(store, other.id)).toEqual(["interrupted"]);
    expect(await readyOf(store)).toEqual([]);
  });

  it("[QUEUE-36] what is continued comes before a message that was queued earlier", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    await queue(store, id, "waits for a node");
    const [unbegun] = await readyOf(store);
    await ask(store, id, "typed");
    await expire(store, id);
    expect(await queue(store, id, null)).toMatchObject({ n: 2, state: "queued" });
    const current = await store.read(readCurrent, [id]);
    expect(current.get(id)).toEqual({ n: 2, state: "queued", holder: null });
    await expect(claim(store, unbegun!)).rejects.toMatchObject({ code: "exchange_changed" });
    expect(await readyNumbers(store)).toEqual([2]);
    await claimNext(store, id);
    expect(await statesOf(store, id)).toEqual(["queued", "running"]);
    expect(await store.write(stopCurrent, { reference: id })).toMatchObject({ n: 2 });
  });

  it("[QUEUE-9] one that died before it began anything keeps no node from what is queued", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    const fence = await store.write(takeLease, { session_id: id, owner, life_ms: 60_000 });
    await queue(store, id, "one");
    // there is nothing to continue, and the process is killed before it gives the lease back
    const begin = { fence, content: null, model: "demo", persona_name: "assistant" };
    expect((await store.write(beginExchange, begin)).record).toBeNull();
    await revive(store);
    expect(await readyNumbers(store)).toEqual([]);
    await expire(store, id);
    await revive(store);
    expect(await readyNumbers(store)).toEqual([1]);
    await store.write(endSession, { id });
    await revive(store);
    expect(await statesOf(store, id)).toEqual(["stopped"]);
  });

  it("[QUEUE-10] a message skips what waits for a person, and follows what a service ran", async () => {
    const store = await openFresh(engine);
    const left = await newSession(store);
    await ask(store, left.id, "typed");
    await expire(store, left.id);
    await queue(store, left.id, "next");
    expect(await statesOf(store, left.id)).toEqual(["stopped", "queued"]);

    const served = await newSession(store);
    await queue(store, served.id, "one");
    await claimNext(store, served.id);
    await expire(store, served.id);
    await queue(store, served.id, "two");
    expect(await statesOf(store, served.id)).toEqual(["interrupted", "queued"]);
    await revive(store);
    expect(await statesOf(store, served.id)).toEqual(["queued", "queued"]);
  });

  it("[QUEUE-11] stopping ends what does not run, and asks the process of what does", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    const reference = id;
    const ended = { code: "exchange_ended" };
    await expect(store.write(stopCurrent, { reference })).rejects.toMatchObject(ended);
    await queue(store, id, "one");
    await queue(store, id, "two");
    const fence = await claimNext(store, id);
    expect(await store.read(isStopAsked, fence)).toBe(false);
    const asked = await store.write(stopCurrent, { reference });
    expect(asked).toMatchObject({ n: 1, state: "running" });
    expect(await store.read(isStopAsked, fence)).toBe(true);
    // asking twice changes nothing
    expect(await store.write(stopExchange, { reference, n: 1 })).toEqual(asked);
    await release(store, fence, "stopped");
    expect(await readyNumbers(store)).toEqual([2]);
    expect(await store.write(stopCurrent, { reference })).toMatchObject({ n: 2, state: "stopped" });
    expect(await readyNumbers(store)).toEqual([]);
    await expect(store.write(stopExchange, { reference, n: 2 })).rejects.toMatchObject(ended);
    await ask(store, id, "typed");
    await expire(store, id);
    await queue(store, id, "waits");
    const cut = await store.write(stopExchange, { reference, n: 4 });
    expect(cut.state).toBe("stopped");
  });

  it("[QUEUE-12] a stop that was asked for is not lost, whatever becomes of the process", async () => {
    const ways: Record<string, (store: Store, fence: Fence) => Promise<unknown>> = {
      "gives it back": (store, fence) => release(store, fence, "queued"),
      "breaks off": (store, fence) => release(store, fence, "interrupted"),
      "dies, and a node finds it": async (store, { session_id }) => {
        await expire(store, session_id);
        await revive(store);
      },
      "dies, and somebody takes the session": async (store, { session_id }) => {
        await expire(store, session_id);
        const fence = await store.write(takeLease, { session_id, owner, life_ms: 60_000 });
        await store.write(releaseLease, { fence, finished: false, end: null });
      },
    };
    const store = await openFresh(engine);
    for (const [name, end] of Object.entries(ways)) {
      const { id } = await newSession(store);
      await queue(store, id, "one");
      await queue(store, id, "two");
      const fence = await claimNext(store, id);
      await store.write(stopExchange, { reference: id, n: 1 });
      await end(store, fence);
      expect(await statesOf(store, id), name).toEqual(["stopped", "queued"]);
      await revive(store);
      const ready = (await readyOf(store)).filter(({ session_id }) => session_id === id);
      expect(ready, name).toMatchObject([{ n: 2 }]);
    }
  });

  it("[QUEUE-12] does not stop what a person has continued since", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    await queue(store, id, "one");
    await claimNext(store, id);
    await store.write(stopExchange, { reference: id, n: 1 });
    await expire(store, id);
    await queue(store, id, null);
    const fence = await ask(store, id, null);
    expect(await store.read(isStopAsked, fence)).toBe(false);
  });

  it("[QUEUE-22] a terminal continues what a node gave back, and its new message skips it", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    await queue(store, id, "one");
    await queue(store, id, "two");
    await release(store, await claimNext(store, id), "queued");
    const fence = await ask(store, id, null);
    expect(await statesOf(store, id)).toEqual(["running", "queued"]);
    await store.write(finishExchange, { fence, thread_id: `${id}:0` });
    expect(await statesOf(store, id)).toEqual(["done", "queued"]);

    await release(store, await claimNext(store, id), "queued");
    await ask(store, id, "typed");
    expect(await statesOf(store, id)).toEqual(["done", "stopped", "running"]);
  });

  it("[QUEUE-25] finds what a process left without notice that took the lease and died", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    await queue(store, id, "waits");
    await execute(store, "UPDATE sessions SET ready_at = NULL WHERE id = ?", id);
    await store.write(takeLease, { session_id: id, owner, life_ms: 60_000 });
    await revive(store);
    expect(await readyNumbers(store)).toEqual([]);
    await expire(store, id);
    await revive(store);
    expect(await readyNumbers(store)).toEqual([1]);
  });
});
