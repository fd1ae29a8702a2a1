import { expect, it } from "vitest";

import { codePoints } from "../../../src/core/text/code-points.ts";
import {
  addToChecksum,
  EMPTY_CHECKSUM,
  type LivePosition,
  positionAfter,
  writePosition,
} from "../../../src/core/live/live-position.ts";
import { createFeed } from "../../../src/exchange/live/feed.ts";
import { releaseLease } from "../../../src/store/records/leases/lease.ts";
import { openLive } from "../../helpers/live-reader.ts";
import { openStoreAt } from "../../helpers/open-store.ts";
import { randomOf, seedOf } from "../../helpers/random.ts";
import { startTestServer } from "../../helpers/server.ts";
import { createStrictReader } from "../../helpers/strict-live-reader.ts";
import { pick } from "./live-world.ts";
import { begin, storeAnswer } from "./running-exchange.ts";

const ANSWER = "Good 👩‍👩‍👧 morne\u0301ing, 𝒳!";
const BEGINNING = ANSWER.slice(0, 16);

/** The position of a reader that claims to have this text of the answer. */
function claim(text: string, changed: Partial<LivePosition>): LivePosition {
  return {
    ...positionAfter(2),
    n: 2,
    attempt: 2,
    message_id: "a",
    offset: codePoints(text),
    checksum: addToChecksum(EMPTY_CHECKSUM, text),
    revision: 1,
    ...changed,
  };
}

it("[LIVE-30] no Last-Event-ID makes the feed fail, hide a message or leave a reader with text that is not stored", async () => {
  const random = randomOf(seedOf("Last-Event-ID"));
  await using t = await startTestServer();
  const feed = createFeed({ store: t.store, storeMs: 1 });
  await using elsewhere = await openStoreAt(t.path);
  await using here = await startTestServer({ store: t.store, live: feed });
  await using there = await startTestServer({ store: elsewhere });
  const id = await t.newSession();
  const first = await begin(t.store, id, "One");
  await storeAnswer(t.store, first, "before", "Two 👍🏽");
  await t.store.write(releaseLease, { fence: first, finished: true });
  const fence = await begin(t.store, id, "Three");
  const { begun, heard } = feed.open(id);
  begun({ n: 2, epoch: fence.epoch });
  const identity = { exchange_id: id, session_id: id };
  heard({ type: "text", ...identity, message_id: "a", text: BEGINNING });
  const witness = await openLive(there.url, id);
  await witness.until(({ event, data }) =>
    event === "snapshot" ? data.text !== null : event === "text",
  );

  const huge = 999_999_999_999_999;
  const someClaim = (): readonly [LivePosition, string] => {
    const cut = Math.floor(random() * (ANSWER.length + 1));
    const text = pick(random, [
      BEGINNING,
      ANSWER,
      ANSWER.slice(0, cut),
      `${ANSWER} more`,
      "no",
      "",
    ]);
    const changed: Partial<LivePosition>[] = [
      {},
      { seq: pick(random, [0, 1, 2, 3]) },
      { n: pick(random, [1, 2, 3, huge]) },
      { attempt: pick(random, [0, 1, 3, huge]) },
      { offset: pick(random, [0, 1, text.length, codePoints(ANSWER), huge]) },
      { checksum: Math.floor(random() * 2 ** 32) },
      { revision: huge },
      { message_id: pick(random, ["before", "b", "\u{1f600}", "x".repeat(4096)]) },
    ];
    return [claim(text, { ...pick(random, changed), ...pick(random, changed) }), text];
  };
  const readings = Array.from({ length: 60 }, async () => {
    const [position, text] = someClaim();
    const lastId = writePosition(position);
    const live = await openLive(pick(random, [here, there]).url, id, { lastId });
    expect(live.status, lastId).toBe(200);
    await live.until(() => true);
    return { position, text, lastId, live };
  });
  const readers = await Promise.all(readings);

  heard({ type: "text", ...identity, message_id: "a", text: ANSWER.slice(BEGINNING.length) });
  await storeAnswer(t.store, fence, "a", ANSWER);
  const stored = { call_id: null, seq: 4, role: "assistant", is_summary: false } as const;
  heard({ type: "message", ...identity, message_id: "a", ...stored });
  await t.store.write(releaseLease, { fence, finished: true });
  await t.call("POST", `/api/sessions/${id}/end`);

  for (const { position, text, lastId, live } of readers) {
    expect(await live.ended, lastId).toBe(true);
    const reader = createStrictReader();
    const { seq } = position;
    reader.texts.set(position.message_id ?? "", text);
    try {
      live.events().forEach(reader.take);
    } catch (error) {
      throw new Error(`${lastId} with ${JSON.stringify(text)}`, { cause: error });
    }
    expect([...reader.texts], lastId).toEqual([]);
    // one of which it claims a part comes again, as one does that was replaced
    const isNew = (each: number) => each > seq || (each === 2 && position.message_id === "before");
    const received = reader.messages.map((message) => message.seq);
    expect(
      received.toSorted((one, other) => one - other),
      lastId,
    ).toEqual([1, 2, 3, 4].filter(isNew));
  }
  witness.cut();
  feed.close();
  for (const server of [here, there]) {
    expect(server.log.filter(({ event }) => event === "failure")).toEqual([]);
  }
});

it("[LIVE-30] [LIVE-21] refuses what no event of the session can have had, and asks no database about it", async () => {
  await using t = await startTestServer();
  const id = await t.newSession();
  await t.post(id, "one");
  for (const lastId of [
    "1.2.3.4.0000abcd.5.a%00",
    "1.2.3.4.0000abcd.5.%00",
    "1.2.3.4.0000abcd.5.a%ED%A0%80",
    "2.0.0.0.811c9dc5.0.-",
    "999999999999999.0.0.0.811c9dc5.0.-",
    "9999999999999999.0.0.0.811c9dc5.0.-",
    "1.1.0.0.811c9dc5.0.-",
    "1.0.0.1.811c9dc5.0.-",
    "__proto__",
  ]) {
    for (const method of ["GET", "HEAD"]) {
      const headers = { "last-event-id": lastId };
      const { status } = await t.call(method, `/api/sessions/${id}/live`, { headers });
      expect(status, `${method} ${lastId}`).toBe(422);
    }
  }
  expect(t.log.filter(({ event }) => event === "failure")).toEqual([]);
});
