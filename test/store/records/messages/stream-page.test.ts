import { expect, it } from "vitest";

import { appendUserMessage } from "../../../../src/store/records/messages/append.ts";
import { readStreamPage } from "../../../../src/store/records/messages/stream-page.ts";
import { endSession, startThread } from "../../../../src/store/records/sessions/change.ts";
import type { Store } from "../../../../src/store/store.ts";
import { statementsOf } from "../../../helpers/count-statements.ts";
import { describeEngines, newSession, openFresh } from "../../../helpers/engines.ts";

const MAX_BYTES = 100;
const MAX_ROWS = 3;

/** The page after a position: what it holds of each message, and what it says of the session. */
async function pageOf(store: Store, session_id: string, after_seq: number, all = false) {
  const limits = { max_rows: MAX_ROWS, max_bytes: MAX_BYTES };
  const page = await store.read(readStreamPage, { session_id, after_seq, all, ...limits });
  return { ...page, messages: page.messages.map(({ seq }) => seq) };
}

describeEngines("a page of a stream", (engine) => {
  it("has what is left of a session, whether that is nothing, one message or more", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    const session = { state: "active", last_seq: 0, more: false };
    expect(await pageOf(store, id, 0)).toEqual({ ...session, messages: [] });
    for (const content of ["1", "2", "3", "4"]) {
      await store.write(appendUserMessage, { reference: id, content });
    }
    const left = { ...session, last_seq: 4 };
    expect(await pageOf(store, id, 0)).toEqual({ ...left, messages: [1, 2, 3], more: true });
    expect(await pageOf(store, id, 2)).toEqual({ ...left, messages: [3, 4] });
    expect(await pageOf(store, id, 3)).toEqual({ ...left, messages: [4] });
    expect(await pageOf(store, id, 4)).toEqual({ ...left, messages: [] });
    expect(await pageOf(store, id, 9)).toEqual({ ...left, messages: [] });
    await store.write(endSession, { id });
    expect(await pageOf(store, id, 3)).toEqual({ ...left, messages: [4], state: "ended" });
  });

  it("has a message that is larger than a page alone", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    for (const content of ["small", "x".repeat(2 * MAX_BYTES)]) {
      await store.write(appendUserMessage, { reference: id, content });
    }
    expect(await pageOf(store, id, 0)).toMatchObject({ messages: [1], more: true });
    expect(await pageOf(store, id, 1)).toMatchObject({ messages: [2], more: false });
  });

  it("skips archived messages unless they are asked for, and counts them in last_seq", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    await store.write(appendUserMessage, { reference: id, content: "old" });
    await store.write(startThread, { id, archive: true });
    expect(await pageOf(store, id, 0)).toMatchObject({ messages: [], more: false, last_seq: 1 });
    expect(await pageOf(store, id, 0, true)).toMatchObject({ messages: [1], more: false });
    await store.write(appendUserMessage, { reference: id, content: "new" });
    expect(await pageOf(store, id, 0)).toMatchObject({ messages: [2], more: false });
  });

  it("takes two statements for the next message", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    await store.write(appendUserMessage, { reference: id, content: "next" });
    const { statements } = await statementsOf(() => pageOf(store, id, 0));
    expect(statements.filter((statement) => statement.startsWith("select"))).toHaveLength(2);
  });

  it("is refused for a session that does not exist", async () => {
    const store = await openFresh(engine);
    const page = pageOf(store, crypto.randomUUID(), 0);
    await expect(page).rejects.toMatchObject({ code: "session_not_found" });
  });
});
