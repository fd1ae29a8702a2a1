import { expect, it } from "vitest";

import { appendUserMessage } from "../../../../src/store/records/messages/append.ts";
import { beginExchange } from "../../../../src/store/records/messages/begin-exchange.ts";
import { readDetail, readPending } from "../../../../src/store/records/messages/read.ts";
import { releaseLease, takeLease } from "../../../../src/store/records/leases/lease.ts";
import {
  endSession,
  startThread,
  switchModel,
} from "../../../../src/store/records/sessions/change.ts";
import { readSession } from "../../../../src/store/records/sessions/read.ts";
import { describeEngines, newSession, openFresh, owner } from "../../../helpers/engines.ts";

const unknown = "00000000-0000-4000-8000-000000000000";

describeEngines("endSession", (engine) => {
  it("ends a session once and keeps its messages", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    await store.write(appendUserMessage, { reference: id, content: "kept" });

    const ended = await store.write(endSession, { id });

    expect(ended).toMatchObject({ state: "ended", ended_at: expect.any(String) });
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await store.write(endSession, { id })).toEqual(ended);
    expect((await store.read(readDetail, { reference: id, all: false })).messages).toMatchObject([
      { content: "kept" },
    ]);
  });

  it("[STORE-12] accepts no message and no new thread afterwards", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    await store.write(endSession, { id });
    const before = await store.read(readSession, { id });

    await expect(
      store.write(appendUserMessage, { reference: id, content: "late" }),
    ).rejects.toMatchObject({ code: "session_ended" });
    await expect(store.write(startThread, { id, archive: true })).rejects.toMatchObject({
      code: "session_ended",
    });
    expect(await store.read(readSession, { id })).toEqual(before);
  });

  it("ends its sub-agents too, and nobody else", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    const child = await newSession(store, { parent_session_id: id });
    const grandchild = await newSession(store, { parent_session_id: child.id });
    const sibling = await newSession(store);

    await store.write(endSession, { id: child.id });

    const states = async (...ids: string[]) =>
      Promise.all(ids.map(async (one) => (await store.read(readSession, { id: one })).state));
    expect(await states(id, child.id, grandchild.id)).toEqual(["active", "ended", "ended"]);
    const second = await newSession(store, { parent_session_id: id });
    await store.write(endSession, { id });
    expect(await states(id, second.id, sibling.id)).toEqual(["ended", "ended", "active"]);
  });

  it("refuses an unknown session", async () => {
    const store = await openFresh(engine);

    await expect(store.write(endSession, { id: unknown })).rejects.toMatchObject({
      code: "session_not_found",
    });
  });
});

describeEngines("startThread", (engine) => {
  it("[STORE-13] raises the suffix by one and keeps messages, model and persona", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store, { model: "demo", persona_name: "planner" });
    await store.write(appendUserMessage, { reference: id, content: "still here" });

    expect(await store.write(startThread, { id, archive: false })).toMatchObject({
      thread_suffix: 1,
      state: "active",
      model: "demo",
      persona_name: "planner",
    });
    expect(await store.write(startThread, { id, archive: false, model: "other" })).toMatchObject({
      thread_suffix: 2,
      model: "other",
      persona_name: "planner",
    });
    expect(
      await store.write(startThread, { id, archive: false, persona_name: "reviewer" }),
    ).toMatchObject({ thread_suffix: 3, model: "other", persona_name: "reviewer" });
    expect(await store.read(readPending, { session_id: id })).toHaveLength(1);
  });

  it("[STORE-13] [STORE-70] the clear action archives every message so far, and only those", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    const other = await newSession(store);
    for (const reference of [id, id, other.id]) {
      await store.write(appendUserMessage, { reference, content: "before" });
    }

    const cleared = await store.write(startThread, { id, archive: true });
    await store.write(appendUserMessage, { reference: id, content: "after" });

    expect(cleared).toMatchObject({ thread_suffix: 1, state: "active", last_seq: 2 });
    const shown = await store.read(readDetail, { reference: id, all: false });
    expect(shown.messages).toMatchObject([{ seq: 3, content: "after", archived: false }]);
    const all = await store.read(readDetail, { reference: id, all: true });
    expect(all.messages.map(({ archived }) => archived)).toEqual([true, true, false]);
    expect(await store.read(readPending, { session_id: id })).toMatchObject([{ seq: 3 }]);
    expect(
      (await store.read(readDetail, { reference: other.id, all: false })).messages,
    ).toHaveLength(1);
  });

  it("refuses while an exchange is running, and finishes one that was interrupted", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    const fence = await store.write(takeLease, { session_id: id, owner, life_ms: 60_000 });
    await store.write(beginExchange, { fence, content: "hi", model: "demo", persona_name: "a" });

    await expect(store.write(startThread, { id, archive: true })).rejects.toMatchObject({
      code: "session_busy",
    });
    await store.write(releaseLease, { fence, finished: false });

    expect(await store.read(readSession, { id })).toMatchObject({ activity: "interrupted" });
    expect(await store.write(startThread, { id, archive: true })).toMatchObject({
      activity: "idle",
      thread_suffix: 1,
    });
  });

  it("refuses an unknown session", async () => {
    const store = await openFresh(engine);

    await expect(store.write(startThread, { id: unknown, archive: false })).rejects.toMatchObject({
      code: "session_not_found",
    });
  });
});

describeEngines("switchModel", (engine) => {
  it("[SWITCH-1] keeps the thread and what was interrupted, and is refused while an exchange runs", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    const fence = await store.write(takeLease, { session_id: id, owner, life_ms: 60_000 });
    await store.write(beginExchange, { fence, content: "hi", model: "demo", persona_name: "a" });

    const wanted = { id, model: "demo:other" };
    await expect(store.write(switchModel, wanted)).rejects.toMatchObject({ code: "session_busy" });
    await store.write(releaseLease, { fence, finished: false });

    expect(await store.write(switchModel, wanted)).toMatchObject({
      activity: "interrupted",
      model: "demo:other",
      thread_suffix: 0,
    });
  });

  it("[SWITCH-1] is refused in an ended and in an unknown session", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    await store.write(endSession, { id });

    await expect(store.write(switchModel, { id, model: "demo" })).rejects.toMatchObject({
      code: "session_ended",
    });
    await expect(store.write(switchModel, { id: unknown, model: "demo" })).rejects.toMatchObject({
      code: "session_not_found",
    });
  });
});
