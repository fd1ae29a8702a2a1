import { expect, it } from "vitest";

import { RepriseError } from "../../../../src/core/errors.ts";
import { readNextQueued, readReady } from "../../../../src/store/records/exchanges/ready.ts";
import { finishExchange } from "../../../../src/store/checkpoints/finish.ts";
import { readDetail } from "../../../../src/store/records/messages/read.ts";
import type { Store } from "../../../../src/store/store.ts";
import { describeEngines, newSession, owner } from "../../../helpers/engines.ts";
import { claim, queue } from "../../../helpers/queue.ts";
import { testSize } from "../../../helpers/size.ts";

/** Exchanges that are queued; see `npm run torture`. */
const QUEUED = testSize("claimers");
const PER_SESSION = 4;
const CLAIMERS = 12;
const NODES = 3;

/** Claims and finishes what is ready until nothing is, and counts how often others were first. */
async function work(store: Store, pid: number) {
  const claimed: string[] = [];
  let lost = 0;
  for (;;) {
    const ready = await store.read(readReady, { limit: 20, after: null });
    if (ready.length === 0) {
      return { claimed, lost };
    }
    for (const { id } of ready) {
      const next = await store.read(readNextQueued, { session_id: id });
      if (next === null) {
        continue;
      }
      try {
        const fence = await claim(store, next, { ...owner, pid });
        claimed.push(`${id} ${next.n}`);
        await store.write(finishExchange, { fence, thread_id: `${id}:0` });
      } catch (error) {
        const codes = ["session_busy", "exchange_changed"];
        if (!(error instanceof RepriseError) || !codes.includes(error.code)) {
          throw error;
        }
        lost += 1;
      }
    }
  }
}

describeEngines("many claimers of one queue", (engine) => {
  it("[QUEUE-3] run each exchange once, and those of a session in order", async () => {
    const database = await engine.create();
    const stores = await Promise.all(Array.from({ length: NODES }, () => database.open()));
    const store = stores[0]!;
    const ids: string[] = [];
    for (let index = 0; index < QUEUED / PER_SESSION; index += 1) {
      const { id } = await newSession(store);
      ids.push(id);
      for (let n = 1; n <= PER_SESSION; n += 1) {
        await queue(store, id, `${n}`);
      }
    }
    const began = performance.now();
    const done = await Promise.all(
      Array.from({ length: CLAIMERS }, (_, index) => work(stores[index % NODES]!, index + 1)),
    );
    const ms = performance.now() - began;
    const lost = done.reduce((sum, each) => sum + each.lost, 0);
    console.log(
      `${engine.name}: ${QUEUED} claimed, ${lost} lost to others, ${(ms / QUEUED).toFixed(2)} ms each`,
    );
    const all = ids.flatMap((id) =>
      Array.from({ length: PER_SESSION }, (_, index) => `${id} ${index + 1}`),
    );
    expect(done.flatMap(({ claimed }) => claimed).sort((a, b) => a.localeCompare(b))).toEqual(
      all.sort((a, b) => a.localeCompare(b)),
    );
    for (const id of ids) {
      const { messages } = await store.read(readDetail, { reference: id, all: true });
      expect(messages.map(({ content }) => content)).toEqual(["1", "2", "3", "4"]);
    }
  });
});
