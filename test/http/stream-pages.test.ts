import { expect, it } from "vitest";

import { createPageReader, type EventPage } from "../../src/http/stream/stream-pages.ts";
import { appendUserMessage } from "../../src/store/records/messages/append.ts";
import { createSession } from "../../src/store/records/sessions/create.ts";
import { openSqliteStore } from "../../src/store/engines/sqlite/open.ts";
import type { Store } from "../../src/store/store.ts";
import { temporaryFolder } from "../helpers/temp.ts";

it("[HTTP-28] streams at one position share a read until it begins, and none after that", async () => {
  await using store = await openSqliteStore({ path: `${temporaryFolder()}/reprise.db` });
  const { id } = await store.write(createSession, {});
  await store.write(appendUserMessage, { reference: id, content: "hello" });
  const position = { session_id: id, after_seq: 0, all: false };
  const meanwhile: Promise<EventPage>[] = [];
  const whileReading: Store["read"] = (operation, input) =>
    store.read((tx, given: typeof input) => {
      const output = operation(tx, given);
      // the read is running: who hears of a message now must not be given what it has seen
      if (meanwhile.length === 0) {
        meanwhile.push(readPage(position));
      }
      return output;
    }, input);
  const readPage = createPageReader({ ...store, read: whileReading }, 1_000_000);

  const first = readPage(position);
  expect(readPage({ ...position })).toBe(first);
  expect(readPage({ ...position, after_seq: 1 })).not.toBe(first);
  expect((await first).bytes?.toString()).toMatch(/^id: 1\nevent: message\ndata: \{.*"hello"/);
  expect(meanwhile[0]).not.toBe(first);
  expect(await meanwhile[0]).toMatchObject({ cursor: 1, more: false, isLast: false });
});

it("[HTTP-28] a read that was refused is shared by nobody who asks after it", async () => {
  await using store = await openSqliteStore({ path: `${temporaryFolder()}/reprise.db` });
  await store.close();
  const readPage = createPageReader(store, 1_000_000);
  const position = { session_id: "0b6f0c5e-3f4b-4d0e-9a55-0d2f6f1f6a01", after_seq: 0, all: false };
  const refused = readPage(position);
  await expect(refused).rejects.toMatchObject({ code: "shutting_down" });
  const again = readPage(position);
  expect(again).not.toBe(refused);
  await expect(again).rejects.toMatchObject({ code: "shutting_down" });
});
