import { expect, it } from "vitest";

import { offeredChoices } from "../../src/core/text/words.ts";
import {
  readDetailWithin,
  readMessagesWithin,
  readWholeDetail,
} from "../../src/store/records/messages/detail-within.ts";
import {
  readMessagePage,
  readWholeMessagePage,
} from "../../src/store/records/messages/message-page.ts";
import { sessionBytes } from "../../src/store/records/messages/session-bytes.ts";
import { readPageAfter, readStreamPage } from "../../src/store/records/messages/stream-page.ts";
import { appendUserMessage } from "../../src/store/records/messages/append.ts";
import { openQuestionBytes } from "../../src/store/records/questions/read.ts";
import {
  type ListPosition,
  listSummaries,
  type SummariesText,
} from "../../src/store/records/sessions/list.ts";
import type { Store } from "../../src/store/store.ts";
import { describeEngines, newSession, openFresh } from "../helpers/engines.ts";
import { waitingSession } from "../helpers/waiting-session.ts";

const MESSAGE_BYTES = 1000;

/** A session with five messages of 1000 bytes. */
async function fiveMessages(store: Store): Promise<string> {
  const { id } = await newSession(store);
  for (let index = 0; index < 5; index += 1) {
    await store.write(appendUserMessage, { reference: id, content: "é".repeat(MESSAGE_BYTES / 2) });
  }
  return id;
}

describeEngines("pages that fit", (engine) => {
  it("[HTTP-240] of a session are whole, or nothing but the sizes was read", async () => {
    const store = await openFresh(engine);
    const id = await fiveMessages(store);
    const detail = { reference: id, all: false };
    const page = { ...detail, after_seq: 0, before_seq: 99, order: "asc", limit: 5 } as const;
    const whole = { max_bytes: 5 * MESSAGE_BYTES };
    const less = { max_bytes: 5 * MESSAGE_BYTES - 1 };
    expect(await store.read(readWholeDetail, { ...detail, ...less })).toBeNull();
    expect(
      await store.read(readWholeDetail, { ...detail, ...less, messages: false }),
    ).not.toBeNull();
    expect(await store.read(readWholeDetail, { ...detail, ...whole })).toEqual(
      await store.read(readDetailWithin, { ...detail, ...whole }),
    );
    expect(await store.read(readWholeMessagePage, { ...page, ...less })).toBeNull();
    expect(await store.read(readWholeMessagePage, { ...page, ...whole })).toEqual(
      await store.read(readMessagePage, { ...page, ...whole }),
    );
    // what follows the page does not count
    const two = { ...page, limit: 2, max_bytes: 2 * MESSAGE_BYTES };
    expect(await store.read(readWholeMessagePage, two)).toMatchObject({ next: 2 });
    const last = await store.read(readMessagesWithin, { ...detail, max_bytes: 2 * MESSAGE_BYTES });
    expect(last.map(({ seq }) => seq)).toEqual([4, 5]);
    expect(await store.read(sessionBytes, { reference: id })).toBe(5 * MESSAGE_BYTES);
  });

  it("[HTTP-33] of a stream hold one larger message, or nothing if they must be small", async () => {
    const store = await openFresh(engine);
    const place = { session_id: await fiveMessages(store), after_seq: 0, all: false };
    const limits = { max_rows: 200, max_bytes: MESSAGE_BYTES - 1 };
    const read = (or_nothing: boolean) =>
      store.read((tx) => readPageAfter(tx, { ...place, ...limits, or_nothing }), null);
    expect(await read(false)).toMatchObject({ messages: [{ seq: 1 }], more: true });
    expect(await read(true)).toEqual({ messages: [], more: true });
    const last = { ...place, ...limits, after_seq: 4 };
    expect(await store.read(readStreamPage, last)).toMatchObject({ messages: [{ seq: 5 }] });
    expect(await store.read(readStreamPage, { ...last, or_nothing: true })).toMatchObject({
      messages: [],
      more: true,
    });
  });

  it("[HTTP-240] of the list have as many sessions as fit with their metadata", async () => {
    const store = await openFresh(engine);
    for (let index = 0; index < 6; index += 1) {
      await newSession(store, { metadata: { key: "x".repeat(index * 100) } });
    }
    const input = { limit: 6, order: "created" } as const;
    const all = await store.read(listSummaries, input);
    expect(await store.read(listSummaries, { ...input, max_bytes: all.json.length })).toEqual(all);
    const ids = (JSON.parse(all.json) as { readonly id: string }[]).map(({ id }) => id);
    expect(ids).toHaveLength(6);
    const seen: string[] = [];
    const sizes: number[] = [];
    let after: ListPosition | null | undefined;
    while (after !== null) {
      const from: { readonly after?: ListPosition } = after === undefined ? {} : { after };
      const page: SummariesText = await store.read(listSummaries, {
        ...input,
        ...from,
        max_bytes: 2000,
      });
      const sessions = JSON.parse(page.json) as { readonly id: string }[];
      seen.push(...sessions.map(({ id }) => id));
      sizes.push(sessions.length);
      after = page.next;
    }
    expect(seen).toEqual(ids);
    expect(sizes.length).toBeGreaterThan(2);
    expect(Math.max(...sizes)).toBeGreaterThan(1);
  });

  it("[HTTP-248] the size of open questions is known before they are read", async () => {
    const store = await openFresh(engine);
    const { id } = await waitingSession(store, ["yes", "no"], null);
    expect(await store.read(openQuestionBytes, { reference: id })).toBe(
      "Question 0?Question 1?".length + JSON.stringify(offeredChoices(["yes", "no"])).length,
    );
  });
});
