import { once } from "node:events";

import { expect, it, onTestFinished } from "vitest";

import { holdLease } from "../../src/exchange/lease-holder.ts";
import { stopExchange } from "../../src/store/records/exchanges/change.ts";
import { stopHint } from "../../src/store/hints.ts";
import { readLeaseState } from "../../src/store/records/leases/lease.ts";
import type { Store } from "../../src/store/store.ts";
import { describeEngines, newSession, owner } from "../helpers/engines.ts";

/** No test lasts so long. */
const NEVER_MS = 2_000_000_000;

async function hold(store: Store) {
  const { id } = await newSession(store);
  const leaseState = await store.read(readLeaseState, { session_id: id });
  const held = await holdLease({
    store,
    session_id: id,
    owner,
    life_ms: NEVER_MS,
    when_busy: "refuse",
    signal: new AbortController().signal,
    begin: { content: "a question", model: "demo", persona_name: null, leaseState },
    stop_poll_ms: NEVER_MS,
  });
  onTestFinished(() => held.release({ finished: false, end: "stopped" }));
  return { id, held };
}

describeEngines("a stop", (engine) => {
  it("[QUEUE-11] reaches the exchange by the commit, without a poll", async () => {
    const database = await engine.create();
    const store = await database.open();
    const { id, held } = await hold(store);
    const other = await hold(store);
    const stopped = once(held.stop, "abort");
    await store.write(stopExchange, { reference: id, n: 1 });
    await stopped;
    expect(other.held.stop.aborted).toBe(false);
  });

  if (engine.name === "postgres") {
    it("[QUEUE-11] reaches the exchange of another node by a notification", async () => {
      const database = await engine.create();
      const { id, held } = await hold(await database.open());
      const node = await database.open();
      const stopped = once(held.stop, "abort");
      // the node may not listen yet: what is asked again is announced again
      const again = setInterval(() => {
        void node.write((tx) => Promise.resolve(tx.touch(stopHint(id))), null);
      }, 200);
      onTestFinished(() => clearInterval(again));
      await node.write(stopExchange, { reference: id, n: 1 });
      await stopped;
    });
  }
});
