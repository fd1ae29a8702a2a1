import { sql } from "kysely";
import { describe, expect, it, onTestFinished } from "vitest";

import { appendUserMessage } from "../../../src/store/records/messages/append.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { listSessions } from "../../../src/store/records/sessions/list.ts";
import { readSession } from "../../../src/store/records/sessions/read.ts";
import { openSqliteStore } from "../../../src/store/engines/sqlite/open.ts";
import { sessionOfHint } from "../../../src/store/hints.ts";
import type { Operation, Store } from "../../../src/store/store.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

/** All its statements succeed; what it leaves behind is refused by COMMIT alone. */
const refusedAtCommit: Operation<null, void> = async (tx) => {
  await sql`PRAGMA defer_foreign_keys = ON`.execute(tx.db);
  await sql`INSERT INTO messages (session_id, seq) VALUES ('nobody', 1)`.execute(tx.db);
};

/** SQLite ends the transaction under it, and it continues as if nothing had happened. */
const goesOnAfterRollback: Operation<{ readonly taken: string }, void> = async (tx, { taken }) => {
  await sql`INSERT OR ROLLBACK INTO sessions (id) VALUES (${taken})`
    .execute(tx.db)
    .catch(() => undefined);
  await createSession(tx, { id: "11111111-1111-4111-8111-111111111111" });
};

describe("a commit that fails", () => {
  it("[STORE-19] costs only the operation that made it fail", async () => {
    const { store, id } = await openStore();
    const heard: string[] = [];
    store.onCommit((hints) => heard.push(...[...hints].map(sessionOfHint)));
    const append = (content: string) => store.write(appendUserMessage, { reference: id, content });

    const settled = await Promise.allSettled([
      append("one"),
      store.write(refusedAtCommit, null),
      append("two"),
    ]);

    expect(settled).toMatchObject([
      { status: "fulfilled", value: { message: { seq: 1 } } },
      { status: "rejected", reason: { message: expect.stringMatching(/FOREIGN KEY/) } },
      { status: "fulfilled", value: { message: { seq: 2 } } },
    ]);
    expect(await store.read(readSession, { id })).toMatchObject({ last_seq: 2 });
    expect(heard).toEqual([id, id]);
  });

  it("[STORE-19] leaves nothing of an operation that is alone, and the store continues", async () => {
    const { store, id } = await openStore();

    await expect(store.write(refusedAtCommit, null)).rejects.toThrow(/FOREIGN KEY/);

    const { message } = await store.write(appendUserMessage, { reference: id, content: "next" });
    expect(message.seq).toBe(1);
  });
});

describe("a transaction that SQLite ends by itself", () => {
  it("[STORE-19] stores nothing of the operation in progress, and all of the others", async () => {
    const { store, id } = await openStore();
    const append = (content: string) => store.write(appendUserMessage, { reference: id, content });

    const settled = await Promise.allSettled([
      append("one"),
      store.write(goesOnAfterRollback, { taken: id }),
      append("two"),
    ]);

    expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect((await store.read(listSessions, { limit: 10 })).sessions).toMatchObject([
      { id, last_seq: 2 },
    ]);
  });
});

async function openStore(): Promise<{ store: Store; id: string }> {
  const store = await openSqliteStore({ path: `${temporaryFolder()}/reprise.db` });
  onTestFinished(() => store.close());
  const { id } = await store.write(createSession, {});
  return { store, id };
}
