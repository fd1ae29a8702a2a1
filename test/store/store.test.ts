import { sql } from "kysely";
import { expect, it } from "vitest";

import { sessionOfHint } from "../../src/store/hints.ts";
import { appendUserMessage } from "../../src/store/records/messages/append.ts";
import { readDetail } from "../../src/store/records/messages/read.ts";
import { createSession } from "../../src/store/records/sessions/create.ts";
import { endSession } from "../../src/store/records/sessions/change.ts";
import { listSessions } from "../../src/store/records/sessions/list.ts";
import { readSession } from "../../src/store/records/sessions/read.ts";
import type { Operation } from "../../src/store/store.ts";
import { startProgram } from "../helpers/start-program.ts";
import { describeEngines, execute, newSession, openFresh } from "../helpers/engines.ts";

/** Makes a session and then fails. */
const makeAndFail: Operation<{ readonly error: unknown }, never> = async (tx, { error }) => {
  await createSession(tx, {});
  throw error;
};

describeEngines("write", (engine) => {
  it("[STORE-19] undoes an operation that throws, alone, and rejects with what it threw", async () => {
    const store = await openFresh(engine);
    const thrown = new Error("on purpose");

    const [before, failed, after] = await Promise.allSettled([
      store.write(createSession, {}),
      store.write(makeAndFail, { error: thrown }),
      store.write(createSession, {}),
    ]);

    expect(before.status).toBe("fulfilled");
    expect(after.status).toBe("fulfilled");
    expect(failed).toEqual({ status: "rejected", reason: thrown });
    expect((await store.read(listSessions, { limit: 10 })).sessions).toHaveLength(2);
  });

  it("[STORE-19] undoes an operation whose statement the database refused, alone", async () => {
    const store = await openFresh(engine);

    const settled = await Promise.allSettled([
      store.write(createSession, {}),
      execute(store, "INSERT INTO sessions (id, depth) VALUES ('forged', 9)"),
      execute(store, "INSERT INTO no_such_table (id) VALUES (1)"),
      store.write(createSession, {}),
    ]);

    expect(settled.map(({ status }) => status)).toEqual([
      "fulfilled",
      "rejected",
      "rejected",
      "fulfilled",
    ]);
    expect((await store.read(listSessions, { limit: 10 })).sessions).toHaveLength(2);
  });

  it("[STORE-20] answers an operation only when a read already sees what it stored", async () => {
    const store = await openFresh(engine);

    await Promise.all(
      Array.from({ length: 100 }, async () => {
        const { id } = await newSession(store);
        const { message } = await store.write(appendUserMessage, { reference: id, content: "hi" });
        const detail = await store.read(readDetail, { reference: id, all: false });
        expect(detail.messages).toEqual([message]);
      }),
    );
  });

  it("gives other work of the process its turn between many writers", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    let turns = 0;
    let writing = true;
    const count = (): void => {
      turns += 1;
      if (writing) {
        setImmediate(count);
      }
    };
    setImmediate(count);

    // each writes again as soon as it is answered: without a break, nobody else ever has a turn
    for (let index = 0; index < 50; index += 1) {
      await store.write(appendUserMessage, { reference: id, content: `${index}` });
    }
    writing = false;

    expect(turns).toBeGreaterThanOrEqual(50);
  });
});

describeEngines("read", (engine) => {
  it("gives other work of the process its turn between many readers", async () => {
    const store = await openFresh(engine);
    const timer = new AbortController();
    setTimeout(() => timer.abort(), 1);

    for (let reads = 0; !timer.signal.aborted; reads += 1) {
      await store.read(listSessions, { limit: 1 });
      expect(reads).toBeLessThan(100_000);
    }
  });

  it("leaves the store usable when an operation throws", async () => {
    const store = await openFresh(engine);

    await expect(
      store.read(async (tx) => {
        await tx.db.selectFrom("sessions").select("id").execute();
        throw new Error("on purpose");
      }, null),
    ).rejects.toThrow("on purpose");
    await expect(
      store.read(async (tx) => {
        await sql`SELECT id FROM nowhere`.execute(tx.db);
      }, null),
    ).rejects.toThrow(/nowhere/);

    const { id } = await newSession(store);
    expect(await store.read(readSession, { id })).toMatchObject({ id });
  });

  it("cannot write", async () => {
    const store = await openFresh(engine);

    await expect(
      store.read(async (tx) => {
        await tx.db.insertInto("sessions").values({ id: "sneaked in" }).execute();
      }, null),
    ).rejects.toMatchObject({ name: "RepriseError" });
    expect((await store.read(listSessions, { limit: 10 })).sessions).toEqual([]);
  });

  it("[STORE-20] sees one state, whatever others commit between its queries", async () => {
    const database = await engine.create();
    const store = await database.open();
    const other = await database.open();
    const { id } = await newSession(store);

    const seen = await store.read(async (tx) => {
      const before = await readSession(tx, { id });
      await other.write(appendUserMessage, { reference: id, content: "meanwhile" });
      return [before.last_seq, (await readSession(tx, { id })).last_seq];
    }, null);

    expect(seen).toEqual([0, 0]);
    expect(await store.read(readSession, { id })).toMatchObject({ last_seq: 1 });
  });
});

describeEngines("onCommit", (engine) => {
  it("[STORE-21] names the sessions that a commit touched, and none of an operation that failed", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    const heard: string[][] = [];
    const stop = store.onCommit((hints) => heard.push([...hints].map(sessionOfHint)));

    await store.write(appendUserMessage, { reference: id, content: "hi" });
    await store.write(endSession, { id });
    await expect(
      store.write(appendUserMessage, { reference: id, content: "late" }),
    ).rejects.toMatchObject({ code: "session_ended" });
    await expect(store.write(makeAndFail, { error: new Error("no") })).rejects.toThrow("no");
    await execute(store, "SELECT 1");
    stop();
    stop();
    await newSession(store);

    expect(heard).toEqual([[id], [id]]);
  });

  it("is heard after the commit: a read in the listener sees the message", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    const seen = new Promise((resolve) => {
      store.onCommit(() => resolve(store.read(readSession, { id })));
    });

    await store.write(appendUserMessage, { reference: id, content: "hi" });

    expect(await seen).toMatchObject({ last_seq: 1 });
  });

  it("calls a listener twice that was added twice, and each stops separately", async () => {
    const store = await openFresh(engine);
    let calls = 0;
    const listener = (): void => {
      calls += 1;
    };
    const stopFirst = store.onCommit(listener);
    store.onCommit(listener);

    await newSession(store);
    stopFirst();
    await newSession(store);

    expect(calls).toBe(3);
  });
});

describeEngines("mayHaveChanged", (engine) => {
  it("[STORE-22] is false only if nobody has committed since the last call", async () => {
    const database = await engine.create();
    const store = await database.open();
    const { id } = await newSession(store);
    await store.mayHaveChanged();
    expect(await store.mayHaveChanged()).toBe(!engine.noticesQuiet);

    await store.read(readSession, { id });
    expect(await store.mayHaveChanged()).toBe(!engine.noticesQuiet);

    await store.write(appendUserMessage, { reference: id, content: "by this process" });
    expect(await store.mayHaveChanged()).toBe(true);
    expect(await store.mayHaveChanged()).toBe(!engine.noticesQuiet);

    const program = startProgram("store-append.ts", [database.location, id, "1"]);
    expect(await program.finished).toMatchObject({ code: 0 });
    expect(await store.mayHaveChanged()).toBe(true);
    expect(await store.mayHaveChanged()).toBe(!engine.noticesQuiet);
  });

  it("[STORE-22] misses nothing while a read runs in an older snapshot", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    await store.mayHaveChanged();
    const asked: Promise<boolean>[] = [];

    await store.read(async (tx) => {
      await readSession(tx, { id });
      await store.write(appendUserMessage, { reference: id, content: "meanwhile" });
      asked.push(store.mayHaveChanged());
      await readSession(tx, { id });
    }, null);

    expect(await Promise.all(asked)).toEqual([true]);
  });
});

describeEngines("close", (engine) => {
  it("[STORE-23] finishes what was accepted and refuses what comes later", async () => {
    const database = await engine.create();
    const store = await database.open();
    const accepted = Array.from({ length: 600 }, () => store.write(createSession, {}));
    const reading = store.read(listSessions, { limit: 1 });

    const closing = store.close();
    const late = [
      store.write(createSession, {}),
      store.read(listSessions, { limit: 1 }),
      store.mayHaveChanged(),
    ];

    for (const refused of late) {
      await expect(refused).rejects.toMatchObject({ name: "RepriseError", code: "shutting_down" });
    }
    await closing;
    expect(await reading).toMatchObject({ sessions: expect.any(Array) });
    const made = await Promise.all(accepted);
    const again = await database.open();
    for (const { id } of made) {
      expect(await again.read(readSession, { id })).toMatchObject({ id });
    }
  });

  it("[STORE-23] may be called again and again", async () => {
    const store = await openFresh(engine);

    await Promise.all([store.close(), store.close()]);
    await store.close();
    await store[Symbol.asyncDispose]();

    await expect(store.write(createSession, {})).rejects.toMatchObject({ code: "shutting_down" });
  });
});
