import { expect, it } from "vitest";

import { listExchanges, readExchange } from "../../../../src/store/records/exchanges/read.ts";
import { finishExchange } from "../../../../src/store/checkpoints/finish.ts";
import { releaseLease, takeLease } from "../../../../src/store/records/leases/lease.ts";
import { appendUserMessage } from "../../../../src/store/records/messages/append.ts";
import { beginExchange } from "../../../../src/store/records/messages/begin-exchange.ts";
import { describeEngines, newSession, openFresh, owner } from "../../../helpers/engines.ts";
import { createWalk } from "../../../helpers/exchange-walk.ts";
import { localPrincipal } from "../../../../src/core/principal.ts";

const WITH = { model: "demo:echo", persona_name: "assistant" };

describeEngines("the record of an exchange", (engine) => {
  it("[RECORD-1] [RECORD-2] says what an exchange was, with its messages and tokens", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    await store.write(appendUserMessage, { reference: id, content: "waits" });
    const fence = await store.write(takeLease, { session_id: id, owner, life_ms: 60_000 });
    const exchange_id = "0d4c9c52-64c2-4b5e-a2c9-0d2a0b1f0e01";
    const principal = localPrincipal("terminal", null);
    const begin = { fence, content: "a question", exchange_id, principal, ...WITH };
    const begun = await store.write(beginExchange, begin);
    expect(begun.record).toMatchObject({ n: 1, id: exchange_id });
    const running = await store.read(readExchange, { reference: id.slice(0, 8), n: 1 });
    expect(running).toMatchObject({
      session_id: id,
      n: 1,
      id: exchange_id,
      state: "running",
      asked_by: "terminal",
      ...WITH,
      first_seq: 1,
      last_seq: null,
      input_tokens: null,
      ended_at: null,
    });
    await store.write(finishExchange, { fence, thread_id: `${id}:0` });
    const done = await store.read(readExchange, { reference: id, n: 1 });
    expect(done).toMatchObject({ state: "done", first_seq: 1, last_seq: 2, error_code: null });
    expect(done.input_tokens).toBeGreaterThan(0);
    expect(done.revision).toBeGreaterThan(running.revision);
    expect(Date.parse(done.ended_at ?? "")).toBeGreaterThanOrEqual(Date.parse(done.begun_at ?? ""));
    const none = store.read(readExchange, { reference: id, n: 2 });
    await expect(none).rejects.toMatchObject({ code: "exchange_not_found" });
  });

  it("[RECORD-10] names no messages if it stored none", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    const failure = { code: "model_failed", sentence: "The model failed." };
    for (const content of ["a question", null]) {
      const fence = await store.write(takeLease, { session_id: id, owner, life_ms: 60_000 });
      await store.write(beginExchange, { fence, content, ...WITH });
      await store.write(releaseLease, { fence, finished: false, failure });
      // as a checkpoint would
      await store.write(
        ({ db }) => db.updateTable("messages").set({ checkpointed: 1 }).execute(),
        null,
      );
    }
    const records = await store.read(listExchanges, { reference: id, limit: 9 });
    expect(records.map(({ first_seq, last_seq }) => [first_seq, last_seq])).toEqual([
      [null, null],
      [1, 1],
    ]);
  });

  it("[RECORD-4] stays what it is when something else takes the lease", async () => {
    const store = await openFresh(engine);
    const walk = await createWalk(store);
    await walk.act("ask");
    await walk.act("die");
    expect(await walk.states()).toEqual(["interrupted"]);
    await walk.act("compact");
    await walk.act("compact");
    expect(await walk.states()).toEqual(["interrupted"]);
    await walk.act("resume");
    await walk.act("finish");
    expect(await walk.states()).toEqual(["done"]);
  });
});
