import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import type { SessionAck, SessionDetail } from "../../src/core/schemas/schemas.ts";
import { startTestServer, type TestServer } from "../helpers/server.ts";
import { testSize } from "../helpers/size.ts";
import { anyText } from "../helpers/any-text.ts";

let t: TestServer;
beforeAll(async () => {
  t = await startTestServer();
});
afterAll(() => t[Symbol.asyncDispose]());

const MIB = 1024 * 1024;

function post(id: string, content: string, headers: Record<string, string> = {}) {
  return t.call<SessionAck>("POST", `/api/sessions/${id}/messages`, { body: { content }, headers });
}

async function detail(id: string): Promise<SessionDetail> {
  return (await t.call<SessionDetail>("GET", `/api/sessions/${id}`)).json;
}

describe("appending", () => {
  it("[HTTP-9] stores a user message and answers with its seq", async () => {
    const id = await t.newSession();
    const first = await post(id, "one");
    expect(first.status).toBe(201);
    expect(first.json).toMatchObject({ id, state: "active", seq: 1 });
    expect((await post(id, "two")).json.seq).toBe(2);
    expect((await detail(id)).messages).toMatchObject([
      { session_id: id, seq: 1, role: "user", content: "one", tool_calls: null, archived: false },
      { session_id: id, seq: 2, role: "user", content: "two", is_summary: false },
    ]);
  });

  it("[HTTP-9] [HTTP-94] concurrent messages get different seqs without a gap", async () => {
    const id = await t.newSession();
    const acks = await Promise.all(Array.from({ length: 40 }, (_, index) => post(id, `m${index}`)));
    const places = acks.map(({ json }) => json.seq).sort((a, b) => a - b);
    expect(places).toEqual(Array.from({ length: 40 }, (_, index) => index + 1));
    expect((await detail(id)).messages).toHaveLength(40);
  });

  it("[HTTP-9] [HTTP-93] gives any storable text back unchanged", async () => {
    const id = await t.newSession();
    await fc.assert(
      fc.asyncProperty(
        anyText({ minLength: 1 }).filter((text) => !text.includes("\0")),
        async (content) => {
          expect((await post(id, content)).status).toBe(201);
          expect((await detail(id)).messages.at(-1)?.content).toBe(content);
        },
      ),
      { numRuns: testSize("texts") },
    );
  });

  it("[HTTP-10] answers with the title, which the first message gives for good", async () => {
    const id = await t.newSession();
    const title = `${"😀".repeat(49)}é`;
    expect((await post(id, `${title} and more`)).json.title).toBe(title);
    expect((await post(id, "another")).json.title).toBe(title);
  });

  it("[HTTP-11] moves last_message_at and raises the totals by the token count", async () => {
    const id = await t.newSession();
    expect((await detail(id)).last_message_at).toBeNull();
    await post(id, "twelve chars");
    const ack = await post(id, "and some more of them");
    const after = await detail(id);
    const tokens = after.messages.map(({ token_count }) => token_count);
    expect(tokens.every((count) => count > 0)).toBe(true);
    expect(after.total_input_tokens).toBe(tokens[0]! + tokens[1]!);
    expect(ack.json.total_input_tokens).toBe(after.total_input_tokens);
    expect(after.last_message_at).toBe(after.messages[1]?.ts);
  });

  it("[HTTP-15] refuses a message to an ended session with 409", async () => {
    const id = await t.newSession();
    await t.call("POST", `/api/sessions/${id}/end`);
    const answer = await post(id, "too late");
    expect(answer.status).toBe(409);
    expect(answer.json).toMatchObject({ code: "session_ended" });
    expect((await detail(id)).last_seq).toBe(0);
  });
});

describe("the limits of a message", () => {
  it("[HTTP-12] accepts 1 MiB of UTF-8 however JSON spells it, and not one byte more", async () => {
    const id = await t.newSession();
    const largest = ["a".repeat(MIB), "é".repeat(MIB / 2), "\n".repeat(MIB), "\u0001".repeat(MIB)];
    for (const content of largest) {
      expect((await post(id, content)).status).toBe(201);
      expect((await post(id, `${content}a`)).status).toBe(413);
    }
    const escaped = `{"content":"${"\\u00e9".repeat(MIB / 2)}"}`;
    const path = `/api/sessions/${id}/messages`;
    expect((await t.call("POST", path, { body: escaped })).status).toBe(201);
    const { messages } = await detail(id);
    expect(messages.map(({ content }) => content.length)).toEqual([
      MIB,
      MIB / 2,
      MIB,
      MIB,
      MIB / 2,
    ]);
    expect(messages[4]?.content).toBe(largest[1]);
  });

  it("[HTTP-12] refuses an empty message, and a far too large body before it is read", async () => {
    const id = await t.newSession();
    expect((await post(id, "")).status).toBe(422);
    const answer = await post(id, "\u0001".repeat(MIB + 1024));
    expect(answer.status).toBe(413);
    expect(answer.json).toMatchObject({ code: "body_too_large" });
    expect((await detail(id)).last_seq).toBe(0);
  });

  it("[HTTP-13] refuses NUL and lone surrogates", async () => {
    const id = await t.newSession();
    for (const spelled of ["a\\u0000b", "\\ud800", "\\udc00x", "x\\ud83dy"]) {
      const answer = await t.call("POST", `/api/sessions/${id}/messages`, {
        body: `{"content":"${spelled}"}`,
      });
      expect(answer.status, spelled).toBe(422);
      expect(answer.json).toMatchObject({ faults: [{ pointer: "/content" }] });
    }
    expect((await detail(id)).last_seq).toBe(0);
  });
});

describe("the header Idempotency-Key", () => {
  it("[HTTP-14] makes a repeated request take effect once", async () => {
    const id = await t.newSession();
    const key = { "idempotency-key": "k-1" };
    const [first, again] = [await post(id, "once", key), await post(id, "once", key)];
    expect([first.status, first.json.seq]).toEqual([201, 1]);
    expect([again.status, again.json]).toEqual([201, first.json]);
    expect((await post(id, "once")).json.seq).toBe(2);
    expect((await detail(id)).messages).toHaveLength(2);
  });

  it("[HTTP-14] [HTTP-95] with another message it is refused; another session has separate keys", async () => {
    const id = await t.newSession();
    const key = { "idempotency-key": "k-2" };
    await post(id, "this", key);
    const answer = await post(id, "that", key);
    expect(answer.status).toBe(422);
    expect(answer.json).toMatchObject({ code: "idempotency_key_reused" });
    expect((await post(await t.newSession(), "that", key)).status).toBe(201);
  });

  it("[HTTP-14] is 1 to 255 visible ASCII characters", async () => {
    const id = await t.newSession();
    expect((await post(id, "x", { "idempotency-key": "~".repeat(255) })).status).toBe(201);
    for (const key of ["", "a b", "é", "~".repeat(256)]) {
      const answer = await post(id, "x", { "idempotency-key": key });
      expect(answer.status, key).toBe(422);
      expect(answer.json).toMatchObject({ faults: [{ pointer: "/idempotency-key" }] });
    }
    expect((await detail(id)).last_seq).toBe(1);
  });
});
