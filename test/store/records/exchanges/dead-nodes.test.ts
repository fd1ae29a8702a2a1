import { expect, it } from "vitest";

import { MAX_ATTEMPTS } from "../../../../src/core/exchanges.ts";
import { stopExchange } from "../../../../src/store/records/exchanges/change.ts";
import { queueExchange } from "../../../../src/store/records/exchanges/queue.ts";
import { listExchanges } from "../../../../src/store/records/exchanges/read.ts";
import {
  type QueuedExchange,
  readNextQueued,
  readReady,
} from "../../../../src/store/records/exchanges/ready.ts";
import { findDead, reviveDead } from "../../../../src/store/records/exchanges/revive.ts";
import { type Fence, holdFence } from "../../../../src/store/records/leases/fence.ts";
import { releaseLease, takeLease } from "../../../../src/store/records/leases/lease.ts";
import { beginExchange } from "../../../../src/store/records/messages/begin-exchange.ts";
import { openChild } from "../../../../src/store/records/sessions/open-child.ts";
import { readSession } from "../../../../src/store/records/sessions/read.ts";
import type { Store } from "../../../../src/store/store.ts";
import {
  describeEngines,
  execute,
  newSession,
  openFresh,
  owner,
} from "../../../helpers/engines.ts";
import { tokenHolder } from "../../../../src/core/principal.ts";

const WITH = { model: "demo:echo", persona_name: "assistant" };
const CALLER = tokenHolder("owner");

describeEngines("an exchange whose node is dead", (engine) => {
  it("is queued again, before what was sent after it", async () => {
    const { store, id } = await openSession();
    await queue(store, id, "first");
    await claim(store);
    await leaseRunsOut(store);
    await queue(store, id, "second");
    expect(await statesOf(store, id)).toEqual(["interrupted", "queued"]);
    await revive(store);
    expect(await statesOf(store, id)).toEqual(["queued", "queued"]);
    const next = await store.read(readNextQueued, { session_id: id });
    expect(next).toMatchObject({ n: 1, content: null });
  });

  it("fails after some attempts, and what was sent after it comes next", async () => {
    const { store, id } = await openSession();
    await queue(store, id, "first");
    await queue(store, id, "second");
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      await claim(store);
      await leaseRunsOut(store);
      await revive(store);
    }
    expect(await statesOf(store, id)).toEqual(["failed", "queued"]);
    const next = await store.read(readNextQueued, { session_id: id });
    expect(next).toMatchObject({ n: 2, content: "second" });
  });

  it("is not run again if somebody asked it to stop", async () => {
    const { store, id } = await openSession();
    await queue(store, id, "first");
    await claim(store);
    await store.write(stopExchange, { reference: id, n: 1 });
    await leaseRunsOut(store);
    await revive(store);
    expect(await statesOf(store, id)).toEqual(["stopped"]);
    expect(await readySessions(store)).toEqual([]);
  });

  it.each(["revived", "stopped", "continued"])(
    "writes nothing more, its sub-agents neither, when it was %s and the node wakes up",
    async (what) => {
      const { store, id } = await openSession();
      await queue(store, id, "first");
      const { fence } = await claim(store);
      const child = await store.write(openChild, { fence, parent_call_id: "call", ...WITH });
      const ofChild = await take(store, child.id);
      await leaseRunsOut(store, id);
      await (what === "revived"
        ? revive(store)
        : what === "stopped"
          ? store.write(stopExchange, { reference: id, n: 1 })
          : queue(store, id, null));
      const before = await store.read(readSession, { id });
      for (const held of [fence, ofChild]) {
        await expect(store.write(holdFence, held)).rejects.toMatchObject({ code: "lease_lost" });
        const failure = { code: "internal", sentence: "Something." };
        for (const end of [{ finished: true }, { finished: false, failure }]) {
          expect(await store.write(releaseLease, { fence: held, ...end })).toBeNull();
        }
      }
      expect(await store.read(readSession, { id })).toEqual(before);
      expect(await statesOf(store, id)).toEqual([what === "stopped" ? "stopped" : "queued"]);
    },
  );

  it("keeps its lease while the node is alive, and a person's at its sub-agent", async () => {
    const { store, id } = await openSession();
    await queue(store, id, "first");
    const { fence } = await claim(store);
    const child = await store.write(openChild, { fence, parent_call_id: "call", ...WITH });
    const ofPerson = await take(store, child.id, { ...owner, pid: 99 });
    expect(await store.read(findDead, null)).toEqual([]);
    await store.write(reviveDead, { id });
    await store.write(holdFence, fence);
    await leaseRunsOut(store, id);
    await revive(store);
    await store.write(holdFence, ofPerson);
  });

  async function openSession() {
    const store = await openFresh(engine);
    const { id } = await newSession(store, { repo_path: "/srv/project" });
    return { store, id };
  }
});

function queue(store: Store, reference: string, content: string | null) {
  return store.write(queueExchange, { reference, content, asked_by: "http", principal: CALLER });
}

function take(store: Store, session_id: string, by = owner): Promise<Fence> {
  return store.write(takeLease, { session_id, owner: by, life_ms: 60_000 });
}

/** As a node does with the first exchange that is ready. */
async function claim(store: Store): Promise<{ readonly fence: Fence }> {
  const [ready] = await readySessions(store);
  const queued = await store.read(readNextQueued, { session_id: ready?.id ?? "" });
  const { session_id, content, ...claimed } = queued as QueuedExchange;
  const { epoch } = await take(store, session_id);
  const fence = { session_id, epoch };
  await store.write(beginExchange, { fence, content, claim: claimed, ...WITH });
  return { fence };
}

function readySessions(store: Store) {
  return store.read(readReady, { limit: 10, after: null });
}

/** As if the node had been away for longer than a lease; in one session, or in all. */
function leaseRunsOut(store: Store, id?: string): Promise<number> {
  const statement = "UPDATE sessions SET lease_expires_at = created_at";
  return id === undefined
    ? execute(store, statement)
    : execute(store, `${statement} WHERE id = ?`, id);
}

async function revive(store: Store): Promise<void> {
  for (const id of await store.read(findDead, null)) {
    await store.write(reviveDead, { id });
  }
}

async function statesOf(store: Store, reference: string): Promise<string[]> {
  const records = await store.read(listExchanges, { reference, limit: 100 });
  return records.toReversed().map(({ state }) => state);
}
