import { setTimeout as sleep } from "node:timers/promises";

import { expect, it, onTestFinished } from "vitest";

import { createFeed } from "../../../src/exchange/live/feed.ts";
import { takeLease } from "../../../src/store/records/leases/lease.ts";
import { storeLive } from "../../../src/store/records/live/store-live.ts";
import { beginExchange } from "../../../src/store/records/messages/begin-exchange.ts";
import type { Store } from "../../../src/store/store.ts";
import { describeEngine, newSession, openFresh, owner } from "../../helpers/engines.ts";
import { liveOnce } from "../../helpers/live.ts";

const SESSIONS = 20;
/** A timer counts from the begin of its turn of the event loop, and turns are long on a busy machine. */
const EARLY_MS = 50;

describeEngine("the feed of a process", (engine) => {
  it("[LIVE-1] stores the text of all exchanges in one operation, at most 4 times a second, until it has all", async () => {
    const store = await openFresh(engine);
    const begunAt: number[] = [];
    const touched: number[] = [];
    store.onCommit((ids) => touched.push([...ids].length));
    const write: Store["write"] = (operation, input) => {
      if (Object.is(operation, storeLive)) {
        begunAt.push(performance.now());
      }
      return store.write(operation, input);
    };
    const feed = createFeed({ store: { ...store, write } });
    onTestFinished(() => feed.close());
    const exchanges = await Promise.all(
      Array.from({ length: SESSIONS }, async () => {
        const { id: session_id } = await newSession(store);
        const { epoch } = await store.write(takeLease, { session_id, owner, life_ms: 3_600_000 });
        const fence = { session_id, epoch };
        const exchange = { content: "hi", model: "demo:echo", persona_name: null };
        await store.write(beginExchange, { fence, ...exchange });
        const { begun, heard } = feed.open(session_id);
        begun({ n: 1, epoch });
        return { session_id, hear: heard };
      }),
    );
    touched.length = 0;

    for (let count = 0; begunAt.length < 4; count += 1) {
      for (const { session_id, hear } of exchanges) {
        const from = { exchange_id: session_id, session_id, message_id: "a" };
        hear({ type: "text", ...from, text: `${count} 👩‍🚀 ` });
      }
      await sleep(1);
    }
    // nothing more arrives: what is missing is stored all the same
    const whole = feed.current(exchanges[0]?.session_id ?? "")?.text ?? "";
    for (const { session_id } of exchanges) {
      await liveOnce(store, session_id, ({ live }) => live?.text === whole);
    }
    const pauses = begunAt.slice(1).map((at, index) => at - (begunAt[index] ?? 0));
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(250 - EARLY_MS);
    // each write had the text of every exchange
    expect(touched).toEqual(begunAt.map(() => SESSIONS));
  });
});
