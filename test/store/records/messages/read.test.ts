import { expect, it } from "vitest";

import { MESSAGES_PER_READ } from "../../../../src/core/limits.ts";
import { appendUserMessage } from "../../../../src/store/records/messages/append.ts";
import {
  readDetail,
  readMessagesAfter,
  readPending,
  readProgress,
} from "../../../../src/store/records/messages/read.ts";
import { endSession, startThread } from "../../../../src/store/records/sessions/change.ts";
import type { Store } from "../../../../src/store/store.ts";
import { describeEngines, newSession, openFresh } from "../../../helpers/engines.ts";

describeEngines("readDetail", (engine) => {
  it("[STORE-17] gives the last 200 messages, ascending, and reads further back without a gap", async () => {
    const store = await openFresh(engine);
    const { id: reference } = await newSession(store);
    await appendMany(store, reference, 2 * MESSAGES_PER_READ + 50);

    const last = await store.read(readDetail, { reference, all: false });
    expect(seqs(last.messages)).toEqual(range(251, 450));
    expect(last.has_earlier).toBe(true);

    const middle = await store.read(readDetail, { reference, all: false, before_seq: 251 });
    expect(seqs(middle.messages)).toEqual(range(51, 250));
    expect(middle.has_earlier).toBe(true);

    const first = await store.read(readDetail, { reference, all: false, before_seq: 51 });
    expect(seqs(first.messages)).toEqual(range(1, 50));
    expect(first.has_earlier).toBe(false);
  });

  it("says that there is nothing before exactly 200 messages", async () => {
    const store = await openFresh(engine);
    const { id: reference } = await newSession(store);
    await appendMany(store, reference, MESSAGES_PER_READ);

    const detail = await store.read(readDetail, { reference, all: false });

    expect(seqs(detail.messages)).toEqual(range(1, MESSAGES_PER_READ));
    expect(detail.has_earlier).toBe(false);
  });

  it("[STORE-17] counts archived messages only if they are shown", async () => {
    const store = await openFresh(engine);
    const { id: reference } = await newSession(store);
    await appendMany(store, reference, MESSAGES_PER_READ);
    await store.write(startThread, { id: reference, archive: true });
    await appendMany(store, reference, 3);

    const shown = await store.read(readDetail, { reference, all: false });
    expect(seqs(shown.messages)).toEqual([201, 202, 203]);
    expect(shown.has_earlier).toBe(false);

    const all = await store.read(readDetail, { reference, all: true });
    expect(seqs(all.messages)).toEqual(range(4, 203));
    expect(all.has_earlier).toBe(true);
  });
});

describeEngines("readMessagesAfter", (engine) => {
  it("gives what comes after a position, ascending, up to the limit", async () => {
    const store = await openFresh(engine);
    const { id: session_id } = await newSession(store);
    await appendMany(store, session_id, 5);
    await store.write(startThread, { id: session_id, archive: true });
    await appendMany(store, session_id, 5);
    const after = async (after_seq: number, all: boolean, limit: number) =>
      seqs(await store.read(readMessagesAfter, { session_id, after_seq, all, limit }));

    expect(await after(0, true, 100)).toEqual(range(1, 10));
    expect(await after(3, true, 4)).toEqual(range(4, 7));
    expect(await after(0, false, 100)).toEqual(range(6, 10));
    expect(await after(10, true, 100)).toEqual([]);
    expect(await after(999, true, 100)).toEqual([]);
  });
});

describeEngines("readPending", (engine) => {
  it("gives the user's messages that no checkpoint holds, of this session only", async () => {
    const store = await openFresh(engine);
    const { id: session_id } = await newSession(store);
    const other = await newSession(store);
    await appendMany(store, session_id, 2);
    await appendMany(store, other.id, 1);

    expect(seqs(await store.read(readPending, { session_id }))).toEqual([1, 2]);
  });
});

describeEngines("readProgress", (engine) => {
  it("reports the state of each session, however many are asked about", async () => {
    const store = await openFresh(engine);
    const first = await newSession(store);
    const second = await newSession(store);
    await newSession(store);
    await appendMany(store, first.id, 3);
    await store.write(endSession, { id: second.id });
    const unknown = Array.from({ length: 12_000 }, (_, index) => `unknown ${index}`);

    const progress = await store.read(readProgress, {
      session_ids: [first.id, ...unknown, second.id],
    });

    expect(progress).toHaveLength(2);
    expect(progress).toEqual(
      expect.arrayContaining([
        { id: first.id, last_seq: 3, state: "active" },
        { id: second.id, last_seq: 0, state: "ended" },
      ]),
    );
    expect(await store.read(readProgress, { session_ids: [] })).toEqual([]);
  });
});

async function appendMany(store: Store, reference: string, count: number): Promise<void> {
  await Promise.all(
    Array.from({ length: count }, (_, index) =>
      store.write(appendUserMessage, { reference, content: `message ${index}` }),
    ),
  );
}

function seqs(messages: readonly { readonly seq: number }[]): number[] {
  return messages.map(({ seq }) => seq);
}

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}
