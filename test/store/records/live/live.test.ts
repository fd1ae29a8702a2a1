import { expect, it } from "vitest";

import type { LiveState } from "../../../../src/core/live/live-state.ts";
import { releaseLease, takeLease } from "../../../../src/store/records/leases/lease.ts";
import type { Fence } from "../../../../src/store/records/leases/fence.ts";
import {
  forgetLive,
  type LiveOutcome,
  type LiveWrite,
  storeLive,
} from "../../../../src/store/records/live/store-live.ts";
import { beginExchange } from "../../../../src/store/records/messages/begin-exchange.ts";
import { mirrorMessages } from "../../../../src/store/records/messages/mirror.ts";
import { readSession } from "../../../../src/store/records/sessions/read.ts";
import { deleteSessionTree } from "../../../../src/store/records/sessions/delete-tree.ts";
import { readSessionTree } from "../../../../src/store/portable/read-tree.ts";
import type { Store } from "../../../../src/store/store.ts";
import { liveOf, storedPieces } from "../../../helpers/live.ts";
import {
  describeEngines,
  execute,
  newSession,
  openFresh,
  owner,
} from "../../../helpers/engines.ts";

const STATE: LiveState = {
  calls: [],
  outputs: [],
  usage: { input_tokens: 1, output_tokens: 2 },
  retry: null,
  reasoning: null,
};
const plain = { tool_calls: null, token_count: 3, is_summary: false, usage: null } as const;
const value = JSON.stringify(STATE);

async function running(store: Store): Promise<{ id: string; fence: Fence }> {
  const { id } = await newSession(store);
  const fence = await begin(store, id, "Hello");
  return { id, fence };
}

async function begin(store: Store, id: string, content: string | null): Promise<Fence> {
  const { session_id, epoch } = await store.write(takeLease, {
    session_id: id,
    owner,
    life_ms: 60_000,
  });
  const fence = { session_id, epoch };
  await store.write(beginExchange, { fence, content, model: "demo:echo", persona_name: null });
  return fence;
}

async function write(
  store: Store,
  fence: Fence,
  text: string,
  more: { readonly position?: number; readonly id?: string; readonly revision?: number } = {},
): Promise<LiveOutcome | undefined> {
  const { position = 0, id: message_id = "a", revision = 1 } = more;
  const write: LiveWrite = {
    ...fence,
    n: 1,
    piece: { message_id, position, text },
    state: { revision, message_id, value },
  };
  return (await store.write(storeLive, { writes: [write] }))[0];
}

function answer(content: string, message_id = "a") {
  return { ...plain, message_id, role: "assistant" as const, content };
}

describeEngines("the stored half of the live feed", (engine) => {
  it("[LIVE-2] [LIVE-4] shows the text of an answer until the commit that stores its message", async () => {
    const store = await openFresh(engine);
    const { id, fence } = await running(store);
    expect(await liveOf(store, id)).toMatchObject({ live: null, exchange: { state: "running" } });
    expect(await write(store, fence, "Good ")).toBe("stored");
    expect(await write(store, fence, "morning", { position: 5, revision: 2 })).toBe("stored");
    const { live, messages } = await liveOf(store, id);
    expect(messages).toEqual([]);
    expect(live).toEqual({
      n: 1,
      attempt: fence.epoch,
      revision: 2,
      state: STATE,
      message_id: "a",
      offset: 0,
      text: "Good morning",
    });
    const from = { message_id: "a", attempt: fence.epoch, offset: 7 };
    expect((await liveOf(store, id, { text_from: from })).live).toMatchObject({
      offset: 5,
      text: "morning",
    });
    const stale = { ...from, attempt: fence.epoch + 1 };
    expect((await liveOf(store, id, { text_from: stale })).live).toMatchObject({ offset: 0 });

    await store.write(mirrorMessages, {
      session_id: id,
      messages: [answer("Good morning, Ada")],
      fence,
    });
    const after = await liveOf(store, id, { text_from: from });
    expect(after.live).toMatchObject({ message_id: "a", text: "" });
    expect(after.messages.map(({ content }) => content)).toEqual(["Good morning, Ada"]);
    expect(after.answer?.content).toBe("Good morning, Ada");
    // what comes late changes nothing
    expect(await write(store, fence, ", Ada", { position: 12 })).toBe("stored");
    expect((await liveOf(store, id)).live).toMatchObject({ text: "" });
    await store.write(releaseLease, { fence, finished: true });
    expect(await liveOf(store, id)).toMatchObject({ live: null, exchange: { state: "done" } });
  });

  it("[LIVE-3] stores nothing of a process that lost its lease, and shows nothing of it", async () => {
    const store = await openFresh(engine);
    const { id, fence } = await running(store);
    await write(store, fence, "kept to itself", { id: "b" });
    await write(store, fence, "from the first");
    await store.write(releaseLease, { fence, finished: false });
    expect(await liveOf(store, id)).toMatchObject({
      live: null,
      exchange: { state: "interrupted" },
    });
    expect(await write(store, fence, "too late")).toBe("lost");
    const next = await begin(store, id, null);
    expect((await liveOf(store, id)).live).toBeNull();
    expect(await write(store, fence, "too late")).toBe("lost");
    expect(await write(store, next, "from the second")).toBe("stored");
    expect((await liveOf(store, id)).live).toMatchObject({
      attempt: next.epoch,
      text: "from the second",
    });
    // the first may say that it is over only after the second has begun
    await store.write(forgetLive, { ...fence, message_ids: ["b"] });
    expect((await liveOf(store, id)).live).toMatchObject({ text: "from the second" });
    await store.write(forgetLive, { ...next, message_ids: ["b"] });
    expect((await liveOf(store, id)).live).toBeNull();
    // what the first had written of the answer is kept, and no part of the message
    await store.write(mirrorMessages, { session_id: id, messages: [answer("x")], fence: next });
    expect((await storedPieces(store)).map(({ text }) => text)).toEqual(["from the first"]);
    await store.write(releaseLease, { fence: next, finished: true });
    await store.write(deleteSessionTree, { id });
    expect((await storedPieces(store)).map(({ text }) => text)).toEqual([]);
  });

  it("[LIVE-2] shows the text of an answer that replaces one that broke off", async () => {
    const store = await openFresh(engine);
    const { id, fence } = await running(store);
    const half = { ...answer("Good mo"), token_count: 0 };
    await store.write(mirrorMessages, { session_id: id, messages: [half], fence });
    expect(await write(store, fence, "Good evening")).toBe("stored");
    const text_from = { message_id: "a", attempt: fence.epoch, offset: 0 };
    const before = await liveOf(store, id, { after_seq: 2, text_from });
    expect(before).toMatchObject({
      live: { text: "Good evening" },
      answer: { content: "Good mo" },
    });
    const whole = { session_id: id, messages: [answer("Good evening!")], fence };
    await store.write(mirrorMessages, whole);
    const after = await liveOf(store, id, { after_seq: 2, text_from });
    expect(after).toMatchObject({
      live: { text: "" },
      answer: { seq: 2, content: "Good evening!" },
    });
  });

  it("[LIVE-2] [LIVE-4] shows every reader the text or the message, whichever commits first", async () => {
    const database = await engine.create();
    const [store, other] = [await database.open(), await database.open()];
    await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const { id, fence } = await running(store);
        await write(store, fence, "Good ");
        const read = async (): Promise<void> => {
          const { live, messages } = await liveOf(other, id);
          expect(live?.text.startsWith("Good ") === true || messages.length === 1).toBe(true);
        };
        const steps = [
          () => write(store, fence, "morning", { position: 5, revision: 2 }),
          read,
          () => {
            const messages = [answer("Good morning")];
            return store.write(mirrorMessages, { session_id: id, messages, fence });
          },
          read,
        ];
        const turned = steps.map((_step, at) => steps[(at + index) % steps.length] ?? read);
        await Promise.all(turned.map((step) => step()));
        await read();
      }),
    );
    expect(await storedPieces(store)).toEqual([]);
  });

  it("[LIVE-4] stores no late text of an answer whose tokens nobody counted", async () => {
    const store = await openFresh(engine);
    const { id, fence } = await running(store);
    await write(store, fence, "Good ");
    const uncounted = { ...answer("Good morning"), token_count: 0 };
    await store.write(mirrorMessages, { session_id: id, messages: [uncounted], fence });
    expect(await write(store, fence, "morning", { position: 5 })).toBe("stored");
    expect(await storedPieces(store)).toEqual([]);
  });

  it("[LIVE-5] changes nothing else of the session", async () => {
    const store = await openFresh(engine);
    const { id, fence } = await running(store);
    const before = await store.read(readSession, { id });
    const { session, ...tree } = await store.read(readSessionTree, { id });
    const touched: string[] = [];
    store.onCommit((ids) => touched.push(...ids));
    await write(store, fence, "text");
    expect(await store.read(readSession, { id })).toEqual(before);
    expect(await store.read(readSessionTree, { id })).toEqual({ session, ...tree });
    expect(touched).toEqual([`live ${id}`]);
  });

  it("stores the exchanges of a process together, each under its lease", async () => {
    const store = await openFresh(engine);
    const all = await Promise.all(Array.from({ length: 20 }, () => running(store)));
    const writes = all.map(({ fence }, index) => ({
      ...fence,
      epoch: fence.epoch + (index % 5 === 0 ? 1 : 0),
      n: 1,
      piece: index % 2 === 0 ? null : { message_id: "a", position: 0, text: `text ${index}` },
      state: { revision: 1, message_id: "a", value },
    }));
    expect(await store.write(storeLive, { writes })).toEqual(
      all.map((_, index) => (index % 5 === 0 ? "lost" : "stored")),
    );
    for (const [index, { id }] of all.entries()) {
      const { live } = await liveOf(store, id);
      expect(live?.text).toBe(index % 5 === 0 ? undefined : index % 2 === 0 ? "" : `text ${index}`);
    }
  });

  it("[LIVE-8] names the call that a tool's result answers, also after an import of a message that did not", async () => {
    const store = await openFresh(engine);
    const { id, fence } = await running(store);
    const result = {
      ...plain,
      message_id: "r",
      role: "tool" as const,
      content: "found",
      call_id: "call 1",
    };
    await store.write(mirrorMessages, { session_id: id, messages: [result], fence });
    const { messages } = await liveOf(store, id);
    expect(messages.map(({ call_id }) => call_id)).toEqual(["call 1"]);
    await execute(store, "update messages set call_id = null where role = ?", "tool");
    await store.write(mirrorMessages, { session_id: id, messages: [result], fence });
    expect((await liveOf(store, id)).messages[0]?.call_id).toBe("call 1");
  });
});
