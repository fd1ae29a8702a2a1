import { expect, it } from "vitest";

import { stopExchange } from "../../../src/store/exchanges/change.ts";
import { readExchange } from "../../../src/store/exchanges/read.ts";
import { findUnready, makeReady } from "../../../src/store/exchanges/revive.ts";
import { releaseLease, takeLease } from "../../../src/store/leases/lease.ts";
import { appendUserMessage } from "../../../src/store/messages/append.ts";
import type { Store } from "../../../src/store/store.ts";
import { statementsOf } from "../../helpers/count-statements.ts";
import { describeEngines, execute, newSession, openFresh, owner } from "../../helpers/engines.ts";
import { ask, expire, queue, readyOf, statesOf } from "../../helpers/queue.ts";

async function readyNumbers(store: Store): Promise<number[]> {
  return (await readyOf(store)).map(({ n }) => n);
}

async function makeAllReady(store: Store): Promise<void> {
  for (const id of await store.read(findUnready, null)) {
    await store.write(makeReady, { id });
  }
}

/** A terminal of a version without records begins, and stores the first checkpoint. */
async function beginElsewhere(store: Store, id: string): Promise<void> {
  await store.write(appendUserMessage, { reference: id, content: "typed" });
  await execute(store, "UPDATE messages SET checkpointed = 1 WHERE session_id = ?", id);
  await execute(
    store,
    `UPDATE sessions SET exchange_open = 1, lease_epoch = lease_epoch + 1, lease_owner = ?,
      lease_expires_at = '2999-01-01T00:00:00.000Z' WHERE id = ?`,
    JSON.stringify(owner),
    id,
  );
}

describeEngines("what a version without records left open", (engine) => {
  it("[QUEUE-37] gets its record, and no node skips it", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    await beginElsewhere(store, id);
    await queue(store, id, "during");
    expect(await readyNumbers(store)).toEqual([]);
    await expire(store, id);
    expect(await readyNumbers(store)).toEqual([]);
    await makeAllReady(store);
    expect(await statesOf(store, id)).toEqual(["queued", "interrupted"]);
    expect(await readyNumbers(store)).toEqual([]);
    const record = await store.read(readExchange, { reference: id, n: 2 });
    expect(record).toMatchObject({ asked_by: "terminal", first_seq: 1, last_seq: null });
    await store.write(stopExchange, { reference: id, n: 2 });
    await makeAllReady(store);
    expect(await statesOf(store, id)).toEqual(["queued", "stopped"]);
    expect(await readyNumbers(store)).toEqual([1]);
  });

  it("[QUEUE-37] is skipped by a message that comes later", async () => {
    const store = await openFresh(engine);
    // a connection that is opened meanwhile sends more statements, so one session is not enough
    const ids = await Promise.all([1, 2, 3].map(async () => (await newSession(store)).id));
    const counts: number[] = [];
    for (const each of ids) {
      await beginElsewhere(store, each);
      await expire(store, each);
      const sent = await statementsOf(() => queue(store, each, "after"));
      counts.push(sent.statements.length + 2 * sent.transactions);
    }
    expect(Math.min(...counts), counts.join()).toBeLessThanOrEqual(8);
    const [id = ""] = ids;
    await makeAllReady(store);
    expect(await statesOf(store, id)).toEqual(["stopped", "queued"]);
    const skipped = await store.read(readExchange, { reference: id, n: 1 });
    expect(skipped).toMatchObject({ first_seq: 1, last_seq: 1 });
    expect(await readyNumbers(store)).toEqual([2, 2, 2]);
  });

  it("[QUEUE-37] is not what failed or was stopped, also after a compaction", async () => {
    const store = await openFresh(engine);
    for (const end of ["failed", "stopped"] as const) {
      const { id } = await newSession(store);
      const fence = await ask(store, id, "typed");
      await execute(store, "UPDATE messages SET checkpointed = 1 WHERE session_id = ?", id);
      const failure = end === "failed" ? { code: "model_failed", sentence: "No." } : null;
      await store.write(releaseLease, { fence, finished: false, end, failure });
      const again = await store.write(takeLease, { session_id: id, owner, life_ms: 60_000 });
      await store.write(appendUserMessage, { reference: id, content: "summary" });
      await execute(
        store,
        "UPDATE messages SET checkpointed = 1, is_summary = 1 WHERE session_id = ? AND seq = 2",
        id,
      );
      await store.write(releaseLease, { fence: again, finished: false, end: null });
      await queue(store, id, "next");
      await makeAllReady(store);
      expect(await statesOf(store, id)).toEqual([end, "queued"]);
    }
    expect(await readyNumbers(store)).toEqual([2, 2]);
  });

  it("[QUEUE-37] is not what a node has left that died before it began the next message", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    const fence = await ask(store, id, "typed");
    await store.write(releaseLease, { fence, finished: false, end: "stopped" });
    await queue(store, id, "next");
    // it has given the open calls their results
    await store.write(appendUserMessage, { reference: id, content: "outcome unknown" });
    await execute(
      store,
      "UPDATE messages SET checkpointed = 1, role = CASE seq WHEN 2 THEN 'tool' ELSE role END WHERE session_id = ?",
      id,
    );
    await makeAllReady(store);
    expect(await statesOf(store, id)).toEqual(["stopped", "queued"]);
    expect(await readyNumbers(store)).toEqual([2]);
  });
});
