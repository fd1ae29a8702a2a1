import { expect, it } from "vitest";

import { positionAfter } from "../../../src/core/live/live-position.ts";
import { cursorAt } from "../../../src/exchange/live/events-between.ts";
import { stepTo } from "../../../src/exchange/live/feed-step.ts";
import { NO_SOURCE } from "../../../src/exchange/live/live-source.ts";
import { NO_PHASES } from "../../../src/exchange/live/live-view.ts";
import { createSessionFeed } from "../../../src/exchange/live/session-feed.ts";
import { finishExchange } from "../../../src/store/checkpoints/finish.ts";
import { takeLease } from "../../../src/store/records/leases/lease.ts";
import { thisProcess } from "../../../src/store/records/leases/this-process.ts";
import { beginExchange } from "../../../src/store/records/messages/begin-exchange.ts";
import type { ReadOnlyStore } from "../../../src/store/store.ts";
import { describeEngine, newSession, openFresh } from "../../helpers/engines.ts";
import { startProcess } from "../../helpers/process.ts";

describeEngine("an exchange whose process dies", (engine) => {
  it("[LIVE-76] is not shown as interrupted if the process stored its end and left while the session was read", async () => {
    const store = await openFresh(engine);
    const { id: session_id } = await newSession(store);
    const runner = startProcess(process.execPath, ["-e", ""]);
    const owner = { ...thisProcess("a test"), pid: runner.pid };
    await runner.finished;
    const { epoch } = await store.write(takeLease, { session_id, owner, life_ms: 3_600_000 });
    const fence = { session_id, epoch };
    await store.write(beginExchange, { fence, content: "hi", model: "demo", persona_name: null });
    let reads = 0;
    const read: ReadOnlyStore["read"] = async (operation, input) => {
      const found = await store.read(operation, input);
      reads += 1;
      if (reads === 1) {
        await store.write(finishExchange, { fence, thread_id: `${session_id}:0` });
      }
      return found;
    };
    const feed = createSessionFeed(session_id, {
      store: { ...store, read },
      source: NO_SOURCE,
      unsentBytes: 1_000_000,
      readPhases: NO_PHASES,
      stepsTo: (view) => (cursor) => stepTo(cursor, view),
    });
    const { events } = await feed.next(cursorAt(positionAfter(1)), false);
    expect(events[0]).toMatchObject({ event: "snapshot", data: { exchange: { state: "done" } } });
    feed.close();
  });

  it("[LIVE-60] is noticed on its machine without a read of the database", async () => {
    const store = await openFresh(engine);
    const { id: session_id } = await newSession(store);
    const runner = startProcess(process.execPath, ["-e", "process.stdin.resume()"]);
    const owner = { ...thisProcess("a test"), pid: runner.pid };
    const { epoch } = await store.write(takeLease, { session_id, owner, life_ms: 3_600_000 });
    const fence = { session_id, epoch };
    await store.write(beginExchange, { fence, content: "hi", model: "demo", persona_name: null });
    const feed = createSessionFeed(session_id, {
      store,
      source: NO_SOURCE,
      unsentBytes: 1_000_000,
      readPhases: NO_PHASES,
      stepsTo: (view) => (cursor) => stepTo(cursor, view),
    });
    const { events, cursor } = await feed.next(cursorAt(positionAfter(1)), false);
    expect(events[0]).toMatchObject({
      event: "snapshot",
      data: { exchange: { state: "running" } },
    });

    const before = feed.changes.count;
    feed.refresh({ read: false });
    expect(feed.changes.count).toBe(before);
    feed.refresh({ read: true });
    expect(feed.changes.count).toBe(before + 1);
    expect((await feed.next(cursor, false)).events).toEqual([]);

    await runner.stop("SIGKILL");
    feed.refresh({ read: false });
    expect(feed.changes.count).toBe(before + 2);
    const after = await feed.next(cursor, false);
    expect(after.events).toMatchObject([{ event: "exchange", data: { state: "interrupted" } }]);
    feed.close();
  });
});
