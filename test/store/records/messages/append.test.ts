import fc from "fast-check";
import { expect, it } from "vitest";

import { MAX_CONTENT_BYTES } from "../../../../src/core/limits.ts";
import { appendUserMessage } from "../../../../src/store/records/messages/append.ts";
import {
  readDetail,
  readMessagesAfter,
  readPending,
} from "../../../../src/store/records/messages/read.ts";
import { endSession } from "../../../../src/store/records/sessions/change.ts";
import { readSession } from "../../../../src/store/records/sessions/read.ts";
import { describeEngines, execute, newSession, openFresh } from "../../../helpers/engines.ts";
import { startProgram } from "../../../helpers/start-program.ts";
import { testLevel, testSize } from "../../../helpers/size.ts";
import { anyText } from "../../../helpers/any-text.ts";

/** Messages of each of several processes. */
const EACH = testSize("many-writers");
/** Appends of one process at once. */
const AT_ONCE = testLevel() === "test" ? 150 : 600;

const unknown = "00000000-0000-4000-8000-000000000000";
const rocket = "\u{1F680}";

describeEngines("appendUserMessage", (engine) => {
  it("[STORE-4] stores the message and updates the session", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);

    const { session, message } = await store.write(appendUserMessage, {
      reference: id,
      content: "12345678",
    });

    expect(message).toEqual({
      session_id: id,
      seq: 1,
      message_id: expect.any(String),
      role: "user",
      content: "12345678",
      tool_calls: null,
      call_id: null,
      status: null,
      token_count: 2,
      is_summary: false,
      archived: false,
      ts: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    expect(session).toMatchObject({
      title: "12345678",
      last_seq: 1,
      last_message_at: message.ts,
      total_input_tokens: 2,
      total_output_tokens: 0,
    });
    expect(await store.read(readDetail, { reference: id, all: false })).toEqual({
      session,
      messages: [message],
      has_earlier: false,
    });
  });

  it("[STORE-4] gives the message and the session's last activity the same time, always", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);

    const appended = await Promise.all(
      Array.from({ length: AT_ONCE / 2 }, (_, index) =>
        store.write(appendUserMessage, { reference: id, content: `${index}` }),
      ),
    );

    expect(appended.map(({ message }) => message.ts)).toEqual(
      appended.map(({ session }) => session.last_message_at),
    );
  });

  it("accepts a prefix for the session, and refuses what is unknown or ended", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);

    const { message } = await store.write(appendUserMessage, {
      reference: id.slice(0, 8),
      content: "by prefix",
    });

    expect(message.session_id).toBe(id);
    await expect(
      store.write(appendUserMessage, { reference: unknown, content: "lost" }),
    ).rejects.toMatchObject({ code: "session_not_found" });
    await store.write(endSession, { id });
    await expect(
      store.write(appendUserMessage, { reference: id, content: "late" }),
    ).rejects.toMatchObject({ code: "session_ended" });
  });

  it("[STORE-5] makes the first message's first 50 characters the title, whatever comes later", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    const contents = [`${"x".repeat(49)}${rocket}y`, `${"y".repeat(49)}${rocket}z`];
    const appended = await Promise.all(
      contents.map((content) => store.write(appendUserMessage, { reference: id, content })),
    );

    const first = appended.find(({ message }) => message.seq === 1)?.message.content;
    expect(await store.read(readSession, { id })).toMatchObject({
      title: first?.slice(0, -1),
      last_seq: 2,
    });
  });

  it("[STORE-3] assigns seq without gaps or repeats under concurrency and refusals", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    const other = await newSession(store);

    const settled = await Promise.allSettled(
      Array.from({ length: AT_ONCE }, (_, index) =>
        store.write(async (tx) => {
          const reference = index % 3 === 2 ? other.id : id;
          const appended = await appendUserMessage(tx, { reference, content: `${index}` });
          if (index % 5 === 0) {
            throw new Error("undone");
          }
          return appended.message;
        }, null),
      ),
    );

    for (const session_id of [id, other.id]) {
      const acknowledged = settled
        .flatMap((result) =>
          result.status === "fulfilled" && result.value.session_id === session_id
            ? [result.value]
            : [],
        )
        .sort((a, b) => a.seq - b.seq);
      expect(acknowledged.map(({ seq }) => seq)).toEqual(acknowledged.map((_, index) => index + 1));
      expect(
        await store.read(readMessagesAfter, { session_id, after_seq: 0, all: true, limit: 1000 }),
      ).toEqual(acknowledged);
    }
    expect(settled.filter(({ status }) => status === "rejected")).toHaveLength(AT_ONCE / 5);
  });

  it("[STORE-3] loses nothing and never answers busy when 4 processes append at once", async () => {
    const database = await engine.create();
    const store = await database.open();
    const { id } = await newSession(store);
    const programs = Array.from({ length: 4 }, () =>
      startProgram("store-append.ts", [database.location, id, `${EACH}`]),
    );

    const results = await Promise.all(programs.map(({ finished }) => finished));

    expect(results).toMatchObject(programs.map(() => ({ code: 0, stderr: "" })));
    const acknowledged = results
      .flatMap(({ stdout }) => stdout.trim().split("\n"))
      .map((line) => line.replace(" ", "\0").split("\0"))
      .toSorted(([a], [b]) => Number(a) - Number(b));
    const stored = await store.read(readMessagesAfter, {
      session_id: id,
      after_seq: 0,
      all: true,
      limit: 4 * EACH + 1,
    });
    expect(stored.map(({ seq }) => seq)).toEqual(Array.from({ length: 4 * EACH }, (_, i) => i + 1));
    expect(stored.map(({ seq, content }) => [`${seq}`, content])).toEqual(acknowledged);
    expect(await store.read(readSession, { id })).toMatchObject({ last_seq: 4 * EACH });
  });

  it("[STORE-6] keeps what was acknowledged when the process is killed", async () => {
    const database = await engine.create();
    const store = await database.open();
    const { id } = await newSession(store);
    const program = startProgram("store-append-forever.ts", [database.location, id]);
    await program.waitFor(/^40$/m);

    const { stdout, signal } = await program.stop("SIGKILL");

    expect(signal).toBe("SIGKILL");
    const last = Number(stdout.trim().split("\n").at(-1));
    const { last_seq } = await store.read(readSession, { id });
    expect(last_seq).toBeGreaterThanOrEqual(last);
    const stored = await store.read(readMessagesAfter, {
      session_id: id,
      after_seq: 0,
      all: true,
      limit: last_seq + 10,
    });
    expect(stored.map(({ content }) => content)).toEqual(
      Array.from({ length: last_seq }, (_, index) => `${index}`),
    );
    // and the next writer is not held up by the dead one
    const { message } = await store.write(appendUserMessage, { reference: id, content: "next" });
    expect(message.seq).toBe(last_seq + 1);
  });

  it("[STORE-7] takes effect once for one idempotency key, also concurrently", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    const retry = { reference: id, content: "once", idempotency_key: "k1" };

    const answers = await Promise.all(
      Array.from({ length: 5 }, () => store.write(appendUserMessage, retry)),
    );

    expect(new Set(answers.map(({ message }) => message.message_id)).size).toBe(1);
    expect(await store.read(readSession, { id })).toMatchObject({
      last_seq: 1,
      total_input_tokens: 1,
    });
    await expect(
      store.write(appendUserMessage, { ...retry, content: "twice" }),
    ).rejects.toMatchObject({ code: "idempotency_key_reused" });
    expect(await store.read(readSession, { id })).toMatchObject({ last_seq: 1 });
  });

  it("[STORE-7] answers a retry after the session's end, and keeps the keys of sessions apart", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    const other = await newSession(store);
    const first = { reference: id, content: "once", idempotency_key: "k1" };
    const { message } = await store.write(appendUserMessage, first);
    await store.write(endSession, { id });

    expect((await store.write(appendUserMessage, first)).message).toEqual(message);
    const elsewhere = await store.write(appendUserMessage, {
      reference: other.id,
      content: "another",
      idempotency_key: "k1",
    });
    expect(elsewhere.message).toMatchObject({ session_id: other.id, seq: 1 });
  });

  it("[STORE-2] lists a message that was inserted with only its key", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);

    await execute(store, `INSERT INTO messages (session_id, seq) VALUES ('${id}', 1)`);

    const { messages } = await store.read(readDetail, { reference: id, all: false });
    expect(messages).toEqual([
      {
        session_id: id,
        seq: 1,
        message_id: expect.stringMatching(/^\S+$/),
        role: "user",
        content: "",
        tool_calls: null,
        call_id: null,
        status: null,
        token_count: 0,
        is_summary: false,
        archived: false,
        ts: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      },
    ]);
    expect(await store.read(readPending, { session_id: id })).toEqual(messages);
  });

  it("refuses the same position twice, position 0 and a message of no session", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    await execute(store, `INSERT INTO messages (session_id, seq) VALUES ('${id}', 1)`);

    for (const [session_id, seq] of [
      [id, 1],
      [id, 0],
      [unknown, 1],
    ]) {
      await expect(
        execute(store, `INSERT INTO messages (session_id, seq) VALUES ('${session_id}', ${seq})`),
      ).rejects.toThrow(/constraint/i);
    }
  });
});

describeEngines("stored text", (engine) => {
  const nasty = [
    "👩‍👩‍👧‍👦 family, 🏳️‍🌈 flag, 👍🏽 skin, e\u0301 and \u00e9",
    "line\u2028separator\u2029paragraph\r\n\ttab\u0085",
    "\uFEFF byte order mark, \uFFFD, \uFFFE, \u{10FFFF}",
    "'; DROP TABLE messages; -- \" ` $1 ?1 :a %s {{}}",
    "\u202E right to left \u200B\u200D",
    "\u0001\u0007\u001b[31m\u007f",
  ];

  it.each(nasty)("[STORE-16] comes back as it was: %j", async (content) => {
    const store = await openFresh(engine);
    const { id } = await newSession(store, { persona_name: content, model: content });

    const { session, message } = await store.write(appendUserMessage, { reference: id, content });

    expect(message.content).toBe(content);
    expect(session).toMatchObject({ persona_name: content, model: content });
  });

  it("[STORE-16] comes back as it was, whatever well-formed text without NUL it is", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    await fc.assert(
      fc.asyncProperty(
        anyText({ minLength: 1, maxLength: 300 }).filter((text) => !text.includes("\0")),
        async (content) => {
          const { message } = await store.write(appendUserMessage, { reference: id, content });
          const [stored] = await store.read(readMessagesAfter, {
            session_id: id,
            after_seq: message.seq - 1,
            all: true,
            limit: 1,
          });
          expect(stored?.content).toBe(content);
        },
      ),
      { numRuns: testSize("texts") },
    );
  });

  it.each([
    ["one byte a character", "x".repeat(MAX_CONTENT_BYTES)],
    ["four bytes a character", rocket.repeat(MAX_CONTENT_BYTES / 4)],
  ])("[STORE-16] comes back as it was with 1 MiB of %s", async (_, content) => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);

    await store.write(appendUserMessage, { reference: id, content });

    const { messages } = await store.read(readDetail, { reference: id, all: false });
    // not toBe: a failure would print both
    expect(messages[0]?.content === content).toBe(true);
    expect(messages[0]?.token_count).toBe(MAX_CONTENT_BYTES / 4);
  });
});
