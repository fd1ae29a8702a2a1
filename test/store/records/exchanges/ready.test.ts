import { setTimeout as sleep } from "node:timers/promises";

import { expect, it } from "vitest";

import { queueExchange } from "../../../../src/store/records/exchanges/queue.ts";
import { readNextQueued } from "../../../../src/store/records/exchanges/ready.ts";
import { finishExchange } from "../../../../src/store/checkpoints/finish.ts";
import { releaseLease, takeLease } from "../../../../src/store/records/leases/lease.ts";
import { beginExchange } from "../../../../src/store/records/messages/begin-exchange.ts";
import { describeEngines, newSession, openFresh, owner } from "../../../helpers/engines.ts";
import { tokenHolder } from "../../../../src/core/principal.ts";

const CALLER = tokenHolder("owner");

describeEngines("a message that is posted while the exchange before it ends", (engine) => {
  it.each(["finished", "failed", "given back"])("is found: %s", async (how) => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    const lease = await store.write(takeLease, { session_id: id, owner, life_ms: 60_000 });
    const fence = { session_id: id, epoch: lease.epoch };
    const model = "demo:echo";
    await store.write(beginExchange, { fence, content: "first", model, persona_name: null });

    const posted = Promise.withResolvers<void>();
    const mayCommit = Promise.withResolvers<void>();
    const posting = store.write(async (tx) => {
      const input = {
        reference: id,
        content: "second",
        asked_by: "http",
        principal: CALLER,
      } as const;
      await queueExchange(tx, input);
      posted.resolve();
      await mayCommit.promise;
    }, null);
    await posted.promise;
    const failure = { code: "internal", sentence: "Something." };
    const ending =
      how === "finished"
        ? store.write(finishExchange, { fence, thread_id: `${id}:0` })
        : store.write(releaseLease, {
            fence,
            finished: false,
            ...(how === "failed" ? { failure } : { end: "queued" }),
          });
    // on PostgreSQL its first statement waits for the session's row by then
    await sleep(200);
    mayCommit.resolve();
    await Promise.all([posting, ending]);

    const next = await store.read(readNextQueued, { session_id: id });
    expect(next).toMatchObject(how === "given back" ? { n: 1 } : { n: 2, content: "second" });
  });
});
