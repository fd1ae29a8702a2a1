import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";

import { NO_USAGE } from "../../src/core/cost/model-calls.ts";
import { costOf } from "../../src/core/cost/cost-fields.ts";
import { type Client, createClient } from "../../src/client/client.ts";
import type { MessageInfo, SessionDetail } from "../../src/core/schemas/schemas.ts";
import { startThread } from "../../src/store/records/sessions/change.ts";
import { createSession } from "../../src/store/records/sessions/create.ts";
import { startTestServer, type TestServer } from "../helpers/server.ts";

let t: TestServer;
let client: Client;
/** A session with messages 1 to 5, which are archived, and 6 to 12. */
let id: string;
beforeAll(async () => {
  t = await startTestServer();
  client = createClient({ baseUrl: t.url });
  id = await t.newSession();
  for (let index = 1; index <= 12; index += 1) {
    await t.post(id, `message ${index} 😀"\\`);
    if (index === 5) {
      await t.store.write(startThread, { id, archive: true });
    }
  }
});
afterAll(() => t[Symbol.asyncDispose]());

const list = (query = "") => t.call<MessageInfo[]>("GET", `/api/sessions/${id}/messages${query}`);

it("[HTTP-181] lists messages between two positions, in both orders, archived ones on request", async () => {
  const { messages: all } = await client.getSession(id, { all: true });
  const seqs = async (query: string) => (await list(query)).json.map(({ seq }) => seq);
  expect((await list()).json).toEqual(all.slice(5));
  expect((await list("?all=true")).json).toEqual(all);
  expect((await list("?all=true&order=desc")).json).toEqual(all.toReversed());
  expect(await seqs("?after_seq=7&before_seq=10")).toEqual([8, 9]);
  expect(await seqs("?order=desc&after_seq=7&before_seq=10")).toEqual([9, 8]);
  expect(await seqs("?after_seq=3&limit=2")).toEqual([6, 7]);
  expect(await seqs("?after_seq=12")).toEqual([]);
  expect(await seqs("?after_seq=9&before_seq=3")).toEqual([]);
  const prefix = await t.call("GET", `/api/sessions/${id.slice(0, 8).toUpperCase()}/messages`);
  expect(prefix.json).toEqual(all.slice(5));
  const { id: empty } = await t.store.write(createSession, {});
  expect((await t.call("GET", `/api/sessions/${empty}/messages`)).json).toEqual([]);
});

it("[HTTP-182] pages together hold each message once, in both orders", async () => {
  const bound = fc.option(fc.integer({ min: 1, max: 14 }), { nil: undefined });
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom("asc", "desc"),
      fc.integer({ min: 1, max: 5 }),
      fc.boolean(),
      bound,
      bound,
      async (order, limit, all, after_seq, before_seq) => {
        const expected: number[] = [];
        for (let seq = all ? 1 : 6; seq <= 12; seq += 1) {
          if (seq > (after_seq ?? 0) && seq < (before_seq ?? 99)) {
            expected.push(seq);
          }
        }
        const bounds = {
          ...(after_seq === undefined ? {} : { after_seq }),
          ...(before_seq === undefined ? {} : { before_seq }),
        };
        const seqs: number[] = [];
        for (let next: number | null = 0, begin = {}; next !== null;) {
          const page = await client.listMessages(id, { order, limit, all, ...bounds, ...begin });
          expect(page.messages.length).toBeLessThanOrEqual(limit);
          seqs.push(...page.messages.map(({ seq }) => seq));
          next = page.next;
          begin = order === "asc" ? { after_seq: next } : { before_seq: next };
        }
        expect(seqs).toEqual(order === "asc" ? expected : expected.reverse());
      },
    ),
    { numRuns: 30 },
  );
  const first = await list("?limit=2&all=true&before_seq=11");
  const [target] = /<(.*)>; rel="next"/.exec(first.headers.get("link") ?? "")?.slice(1) ?? [];
  expect(Object.fromEntries(new URL(target ?? "", t.url).searchParams)).toEqual({
    limit: "2",
    order: "asc",
    all: "true",
    after_seq: "2",
    before_seq: "11",
  });
  expect((await t.call<MessageInfo[]>("GET", target ?? "")).json).toMatchObject([
    { seq: 3 },
    { seq: 4 },
  ]);
});

it("[HTTP-181] refuses what it does not know, and sessions that are not there", async () => {
  for (const query of [
    "limit=0",
    "limit=201",
    "limit=x",
    "order=up",
    "after_seq=-1",
    "before_seq=0",
    "all=1",
    "cursor=x",
    "limit=1&limit=2",
    "after_seq=9007199254740993",
  ]) {
    const { status, json } = await list(`?${query}`);
    expect([status, json], query).toMatchObject([422, { code: "invalid_request" }]);
  }
  const unknown = await t.call("GET", "/api/sessions/ffffffff/messages?limit=0");
  expect(unknown).toMatchObject({ status: 404, json: { code: "session_not_found" } });
  const head = await fetch(`${t.url}/api/sessions/${id}/messages`, { method: "HEAD" });
  expect([head.status, await head.text()]).toEqual([200, ""]);
});

it("[HTTP-180] a session comes without its messages", async () => {
  const read = async (query: string) =>
    (await t.call<SessionDetail>("GET", `/api/sessions/${id}?${query}`)).json;
  const { messages: _, ...session } = await read("messages=true");
  expect(await read("messages=false")).toEqual({
    ...session,
    ...costOf(NO_USAGE),
    messages: [],
    has_earlier: true,
  });
  expect(await read("messages=false&before_seq=6")).toMatchObject({ has_earlier: false });
  expect(await read("messages=false&before_seq=6&all=true")).toMatchObject({ has_earlier: true });
  expect(await client.getSession(id, { messages: false })).toMatchObject({
    messages: [],
    exchange: null,
  });
  expect(await read("messages=0")).toMatchObject({ code: "invalid_request" });
});
