import fc from "fast-check";
import { expect, it } from "vitest";

import { newId } from "../../src/core/ids.ts";
import { METADATA_KEY, type Metadata } from "../../src/core/labels.ts";
import { MAX_CONTENT_BYTES, MAX_DETAIL_BYTES, MESSAGES_PER_READ } from "../../src/core/limits.ts";
import { ROLES, type Session, SESSION_FIELDS, SESSION_STATES } from "../../src/core/sessions.ts";
import { readDetailWithin } from "../../src/store/records/messages/detail-within.ts";
import { readDetail } from "../../src/store/records/messages/read.ts";
import { listSessions, listSummaries } from "../../src/store/records/sessions/list.ts";
import type { Store } from "../../src/store/store.ts";
import { describeEngines, newSession, openFresh, owner } from "../helpers/engines.ts";
import { testSize } from "../helpers/size.ts";
import { anyText } from "../helpers/any-text.ts";

const CONTROLS = Array.from({ length: 0x20 }, (_, code) => String.fromCharCode(code)).join("");
const NASTY = `${CONTROLS.slice(1)}"\\/'\u007f\u0080\u2028\u2029\ufeff\ufffd\uffff🚀\u202e`;

const text = fc.oneof(
  anyText({ maxLength: 60 }).filter((value) => !value.includes("\0")),
  fc.constantFrom("", NASTY, "null", "true", '{"a":1}', "},{", "1e999"),
);
const nullable = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });
const flag = fc.constantFrom(0, 1);
const count = fc.oneof(fc.nat(), fc.constantFrom(0, Number.MAX_SAFE_INTEGER));
const time = fc.date({ noInvalidDate: true, min: new Date(0) }).map((date) => date.toISOString());

// stored as escapes, what the columns of PostgreSQL refuse as text is there too
const toolCalls = fc.array(
  fc.record({
    id: fc.string(),
    name: text,
    args: fc.oneof(fc.jsonValue(), fc.constantFrom({ lone: "\ud800", nul: "\0", small: 1e-7 })),
  }),
  { maxLength: 3 },
);

const metadataPairs = fc.dictionary(fc.stringMatching(new RegExp(`^${METADATA_KEY}$`)), text, {
  maxKeys: 3,
  noNullPrototype: true,
});

const message = fc.record({
  role: fc.constantFrom(...ROLES),
  content: text,
  tool_calls: nullable(toolCalls.map((calls) => JSON.stringify(calls))),
  token_count: count,
  is_summary: flag,
  archived: flag,
  ts: fc.oneof(time, text),
});

const session = fc.record({
  state: fc.constantFrom(...SESSION_STATES),
  title: nullable(text),
  name: nullable(text),
  persona_name: nullable(text),
  model: nullable(text),
  repo_path: nullable(text),
  project_key: nullable(text),
  project_id: nullable(text),
  plan_mode: flag,
  depth: fc.integer({ min: 0, max: 3 }),
  total_input_tokens: count,
  total_output_tokens: count,
  last_seq: count,
  created_at: fc.oneof(time, text),
  last_message_at: nullable(time),
  archived_at: nullable(time),
  pinned_at: nullable(time),
  ended_at: nullable(time),
  exchange_open: flag,
  lease_owner: nullable(fc.constant(JSON.stringify(owner))),
  lease_expires_at: nullable(
    fc.constantFrom("2000-01-01T00:00:00.000Z", "2999-01-01T00:00:00.000Z"),
  ),
});

describeEngines("JSON that the database writes", (engine) => {
  it("[HTTP-25] equals byte for byte what the schema's fields of the same rows give", async () => {
    const store = await openFresh(engine);
    const metadataOf = new Map<string, Metadata>();
    await fc.assert(
      fc.asyncProperty(
        session,
        fc.array(message, { maxLength: 12 }),
        fc.boolean(),
        fc.option(fc.integer({ min: 1, max: 14 }), { nil: undefined }),
        metadataPairs,
        async (fields, messages, all, before_seq, metadata) => {
          const id = newId();
          await insert(store, id, { fields, messages, metadata });
          metadataOf.set(id, metadata);
          const input = {
            reference: id,
            all,
            ...(before_seq === undefined ? {} : { before_seq }),
          };

          const read = await store.read(readDetail, input);
          const written = await store.read(readDetailWithin, {
            ...input,
            max_bytes: MAX_DETAIL_BYTES,
          });
          expect(written.json).toBe(JSON.stringify(read.messages));
          expect(written.summary).toBe(summaryOf(read.session, metadata));
          expect(written.has_earlier).toBe(read.has_earlier);

          const page = await store.read(listSessions, { limit: 5 });
          const summaries = await store.read(listSummaries, { limit: 5 });
          const listed = page.sessions.map((each) =>
            summaryOf(each, metadataOf.get(each.id) ?? {}),
          );
          expect(summaries.json).toBe(`[${listed.join(",")}]`);
          expect(summaries.next).toEqual(page.next);
        },
      ),
      { numRuns: testSize("texts") },
    );
  });

  it("[HTTP-55] leaves out what does not fit, from the first message on", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    const one = { content: "é".repeat(MAX_CONTENT_BYTES / 2), tool_calls: null };
    await insertMessages(
      store,
      id,
      Array.from({ length: 5 }, () => one),
    );
    for (const [limit, fitting] of [
      [1, 1],
      [3 * MAX_CONTENT_BYTES, 3],
      [5 * MAX_CONTENT_BYTES - 1, 4],
      [5 * MAX_CONTENT_BYTES, 5],
    ] as const) {
      const { json, has_earlier } = await store.read(readDetailWithin, {
        reference: id,
        all: false,
        max_bytes: limit,
      });
      const shown = JSON.parse(json) as { seq: number; content: string }[];
      expect(shown.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5].slice(-fitting));
      // not toBe: a failure would print both
      expect(shown.every(({ content }) => content === one.content)).toBe(true);
      expect(has_earlier).toBe(fitting < 5);
    }
  });

  it("[HTTP-7] holds the last 200 shown messages, whatever is stored between them", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    const shown = Array.from({ length: 3 * MESSAGES_PER_READ }, (_, index) => ({
      content: `${index}`,
      archived: index % 2,
      tool_calls: null,
    }));
    await insertMessages(store, id, shown);
    for (const before_seq of [undefined, 402, 401, 400, 2, 1]) {
      const input = {
        reference: id,
        all: false,
        ...(before_seq === undefined ? {} : { before_seq }),
      };
      const read = await store.read(readDetail, input);
      const written = await store.read(readDetailWithin, { ...input, max_bytes: MAX_DETAIL_BYTES });
      expect(written.json).toBe(JSON.stringify(read.messages));
      expect(written.has_earlier).toBe(read.has_earlier);
    }
  });

  it.each(["[", "", '[1]"', '[1],"x":[2]'])(
    "is refused if a message's tool calls are damaged: %j",
    async (tool_calls) => {
      const store = await openFresh(engine);
      const { id } = await newSession(store);
      await insertMessages(store, id, [{ content: "x", tool_calls }]);
      const refused = store.read(readDetailWithin, { reference: id, all: false, max_bytes: 1 });
      await expect(refused).rejects.toMatchObject({ code: "database_corrupt" });
    },
  );
});

type Fields = typeof session extends fc.Arbitrary<infer T> ? T : never;
type Row = { readonly content: string; readonly tool_calls: string | null };

/** The JSON of a session that has no exchange and is not a fork. */
function summaryOf(session: Session, metadata: Metadata): string {
  const fields = Object.keys(SESSION_FIELDS).map((name) => [name, Reflect.get(session, name)]);
  return JSON.stringify({
    ...Object.fromEntries(fields),
    metadata: Object.fromEntries(
      Object.keys(metadata)
        .toSorted()
        .map((key) => [key, metadata[key]]),
    ),
    permission: "ask",
    forked_from: null,
    exchange: null,
  });
}

async function insert(
  store: Store,
  id: string,
  given: {
    readonly fields: Fields;
    readonly messages: readonly Row[];
    readonly metadata: Metadata;
  },
) {
  const pairs = Object.entries(given.metadata);
  await store.write(async ({ db }) => {
    await db
      .insertInto("sessions")
      .values({ id, root_session_id: id, ...given.fields })
      .execute();
    if (pairs.length > 0) {
      const rows = pairs.map(([key, value]) => ({ session_id: id, key, value }));
      await db.insertInto("session_metadata").values(rows).execute();
    }
  }, null);
  await insertMessages(store, id, given.messages);
}

async function insertMessages(store: Store, session_id: string, rows: readonly Row[]) {
  if (rows.length === 0) {
    return;
  }
  await store.write(async (tx) => {
    await tx.db
      .insertInto("messages")
      .values(rows.map((row, index) => ({ session_id, seq: index + 1, ...row })))
      .execute();
  }, null);
}
