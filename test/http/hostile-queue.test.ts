import { afterAll, beforeAll, expect, it } from "vitest";

import { newId } from "../../src/core/ids.ts";
import { finishExchange } from "../../src/store/checkpoints/finish.ts";
import { releaseLease } from "../../src/store/records/leases/lease.ts";
import { insertQuestion } from "../../src/store/records/questions/ask.ts";
import { endSession } from "../../src/store/records/sessions/change.ts";
import { ask, claimNext, expire, queue, statesOf } from "../helpers/queue.ts";
import { startTestServer, type TestServer } from "../helpers/server.ts";

const TOKEN = "a-token";
let t: TestServer;
beforeAll(async () => {
  t = await startTestServer({ token: TOKEN });
});
afterAll(() => t[Symbol.asyncDispose]());

interface Request {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What a request is answered with, in short. */
async function answerTo({ method, path, body, headers }: Request): Promise<string> {
  const { status, json } = await t.call<{ code?: string } | null>(method, `/api/sessions/${path}`, {
    ...(body === undefined ? {} : { body }),
    headers: { authorization: `Bearer ${TOKEN}`, ...headers },
  });
  return [status, ...(json?.code === undefined ? [] : [json.code])].join(" ");
}

/** Each request, with what it has to be answered with. */
async function expectEach(cases: readonly (readonly [string, Request])[]): Promise<void> {
  for (const [expected, request] of cases) {
    const { method, path, body, headers } = request;
    const sent = `${method} ${path} ${JSON.stringify({ body, headers })}`.slice(0, 300);
    expect(`${sent}: ${await answerTo(request)}`).toBe(`${sent}: ${expected}`);
  }
}

/** A session with an exchange that is done, one that is stopped, and one that is queued. */
async function withExchanges(): Promise<string> {
  const id = await t.newSession();
  await queue(t.store, id, "one");
  const fence = await claimNext(t.store, id);
  await t.store.write(finishExchange, { fence, thread_id: `${id}:0` });
  await ask(t.store, id, "typed");
  await expire(t.store, id);
  await queue(t.store, id, "three");
  return id;
}

/** A session whose exchange waits for the answer to a question. */
async function withQuestion() {
  const id = await t.newSession();
  await queue(t.store, id, "one");
  const fence = await claimNext(t.store, id);
  const question = {
    id: newId(),
    call_id: "call_1",
    number: 1,
    kind: "question",
    text: "Really?",
    choices: null,
    permission: null,
    shown_hash: "0".repeat(64),
    default: null,
  } as const;
  const thread = { session_id: id, thread_suffix: 0 };
  await t.store.write((tx) => insertQuestion(tx, thread, question), null);
  await t.store.write(releaseLease, { fence, finished: false, end: "waiting" });
  return { id, q: question.id };
}

const BAD_NUMBERS = [
  "0",
  "-1",
  "01",
  "1.5",
  "1e3",
  "0x1",
  "abc",
  "null",
  "__proto__",
  "%00",
  "%20",
  "..%2f",
  "9007199254740993",
  "9".repeat(90),
  "%F0%9F%98%80",
  "%D9%A3",
  "1%00",
  "1;--",
  "'%20OR%201=1",
];

it("[HTTP-150] a number that no exchange has is not found, whatever it is", async () => {
  const id = await withExchanges();
  const missing = "404 exchange_not_found";
  for (const n of BAD_NUMBERS) {
    const path = `${id}/exchanges/${n}`;
    await expectEach([
      [missing, { method: "GET", path }],
      [missing, { method: "POST", path: `${path}/stop` }],
      [missing, { method: "PATCH", path, body: { content: "x" } }],
      [missing, { method: "DELETE", path }],
    ]);
  }
  expect(await statesOf(t.store, id)).toEqual(["done", "stopped", "queued"]);
});

it("[HTTP-150] bodies and headers that cannot be are refused, and change nothing", async () => {
  const id = await withExchanges();
  const [all, one] = [`${id}/exchanges`, `${id}/exchanges/3`];
  const refused = "422 invalid_request";
  const contents = [5, null, [], {}, true, "", "\0", "a\0b", "\ud800", ["x"], { text: "x" }];
  await expectEach([
    ...contents.flatMap((content) => [
      [refused, { method: "POST", path: all, body: { content } }] as const,
      [refused, { method: "PATCH", path: one, body: { content } }] as const,
    ]),
    ...[[], "x", 5, null, { content: "x", n: 1 }, { content: "x", supersede: "yes" }].map(
      (body) => [refused, { method: "POST", path: all, body: JSON.stringify(body) }] as const,
    ),
    [refused, { method: "POST", path: all, body: '{"content":"x","__proto__":{"n":1}}' }],
    [refused, { method: "PATCH", path: one, body: {} }],
    [refused, { method: "POST", path: `${one}/stop`, body: { force: true } }],
    [refused, { method: "DELETE", path: one, body: { force: true } }],
    ["400 malformed_json", { method: "POST", path: all, body: '{"content":' }],
    ["400 malformed_json", { method: "DELETE", path: one, body: "{" }],
    ["413 body_too_large", { method: "POST", path: all, body: { content: "x".repeat(2 ** 21) } }],
    ["413 body_too_large", { method: "PATCH", path: one, body: { content: "x".repeat(2 ** 21) } }],
    ...['""', "*", 'W/"1"', "-1", "1e3", "0", "1, 2", "9".repeat(30), '"1'].flatMap((match) => [
      [refused, { method: "DELETE", path: one, headers: { "if-match": match } }] as const,
    ]),
    ["412 exchange_changed", { method: "DELETE", path: one, headers: { "if-match": '"77"' } }],
    [refused, { method: "POST", path: all, headers: { "idempotency-key": "k k" } }],
    [refused, { method: "POST", path: all, headers: { "idempotency-key": "k".repeat(256) } }],
    ...["limit=0", "limit=-1", "limit=1e9", "limit=x", "before_n=0", "before_n=-1", "x=1"].map(
      (query) => [refused, { method: "GET", path: `${all}?${query}` }] as const,
    ),
    [refused, { method: "GET", path: `${one}?x=1` }],
  ]);
  expect(await statesOf(t.store, id)).toEqual(["done", "stopped", "queued"]);
});

it("[HTTP-150] what is over cannot be stopped, changed or withdrawn, and an ended session takes nothing", async () => {
  const id = await withExchanges();
  const at = (n: number, rest = "") => `${id}/exchanges/${n}${rest}`;
  for (const n of [1, 2]) {
    await expectEach([
      ["409 exchange_ended", { method: "POST", path: at(n, "/stop") }],
      ["409 exchange_begun", { method: "PATCH", path: at(n), body: { content: "x" } }],
      ["409 exchange_begun", { method: "DELETE", path: at(n) }],
    ]);
  }
  await expectEach([
    ["200", { method: "DELETE", path: at(3), body: {} }],
    ["409 exchange_begun", { method: "DELETE", path: at(3) }],
    ["409 exchange_ended", { method: "POST", path: at(3, "/stop") }],
  ]);
  await queue(t.store, id, "four");
  await t.store.write(endSession, { id });
  await expectEach([
    ["409 session_ended", { method: "POST", path: `${id}/exchanges` }],
    ["409 session_ended", { method: "POST", path: `${id}/exchanges`, body: { content: "x" } }],
    ["409 exchange_ended", { method: "POST", path: at(4, "/stop") }],
    ["409 exchange_begun", { method: "DELETE", path: at(4) }],
    ["404 session_not_found", { method: "POST", path: `${newId()}/exchanges/1/stop` }],
    ["404 session_not_found", { method: "DELETE", path: `${newId()}/exchanges/1` }],
  ]);
});

it("[HTTP-150] an answer that cannot be, or comes too late, is refused with its code", async () => {
  const { id, q } = await withQuestion();
  const other = await withQuestion();
  const at = (question: string) => `${id}/questions/${question}/answer`;
  const refused = "422 invalid_request";
  const yes = { text: "yes" };
  const post = (path: string, body: unknown): Request => ({ method: "POST", path, body });
  const strange = [newId(), other.q, "0", "abc", "%00", "%20", "__proto__", "%F0%9F%98%80"];
  await expectEach([
    ...[...strange, q.toUpperCase(), "x".repeat(90), q.slice(0, 8), `${q}%00`].map(
      (each) => ["404 question_not_found", post(at(each), yes)] as const,
    ),
    ...[5, null, [], {}, true, "", "a\0", "\ud800", "x".repeat(20_001)].map(
      (answer) => [refused, post(at(q), { text: answer })] as const,
    ),
    ...[5, [], "a\0", "x".repeat(20_001)].map(
      (note) => [refused, post(at(q), { ...yes, note })] as const,
    ),
    [refused, post(at(q), { ...yes, answered_by: "terminal" })],
    [refused, { method: "POST", path: at(q) }],
    [refused, post(at(q), "[]")],
    ["409 question_open", { method: "POST", path: `${id}/exchanges` }],
    ["200", post(at(q), yes)],
    ["409 question_answered", post(at(q), yes)],
    ["409 nothing_to_continue", { method: "POST", path: `${id}/exchanges` }],
  ]);
  expect(await statesOf(t.store, id)).toEqual(["queued"]);
  await t.store.write(endSession, { id: other.id });
  await expectEach([
    ["409 session_ended", post(`${other.id}/questions/${other.q}/answer`, yes)],
    ["404 session_not_found", post(`${newId()}/questions/${q}/answer`, yes)],
    [refused, { method: "GET", path: `${id}/questions?state=open` }],
  ]);
});
