import { once } from "node:events";

import { afterAll, beforeAll, expect, it } from "vitest";

import { createClient } from "../../src/client/client.ts";
import { newId } from "../../src/core/ids.ts";
import type { QuestionInfo } from "../../src/core/schemas.ts";
import { readExchange } from "../../src/store/exchanges/read.ts";
import { answerQuestion } from "../../src/store/questions/answer.ts";
import { endSession } from "../../src/store/sessions/change.ts";
import { createSession } from "../../src/store/sessions/create.ts";
import { openStoreAt } from "../helpers/open-store.ts";
import { startTestServer, type TestServer } from "../helpers/server.ts";
import { openStream, type WireStream } from "../helpers/stream.ts";
import { askIn, waitingSession } from "../helpers/waiting-session.ts";

const token = "0123456789abcdef0123456789abcdef";
let t: TestServer;
beforeAll(async () => {
  t = await startTestServer({ token, stream: { pollMs: 20 } });
});
afterAll(() => t[Symbol.asyncDispose]());

async function waiting(...choices: readonly (readonly string[] | null)[]) {
  const { id, ids } = await waitingSession(t.store, ...choices);
  return {
    id,
    ids,
    path: (rest = "") => `/api/sessions/${id.slice(0, 8)}/questions${rest}`,
    state: async (n = 1) => (await t.store.read(readExchange, { reference: id, n })).state,
  };
}

const headers = { authorization: `Bearer ${token}` };
const call = <Json>(method: string, path: string, body?: unknown) =>
  t.call<Json>(method, path, { headers, ...(body === undefined ? {} : { body }) });

it("[HTTP-141] [HTTP-142] lists what is open, and queues the exchange with the last answer", async () => {
  const { id, ids, path, state } = await waiting(null, ["yes", "no"]);
  const { json, status } = await call<QuestionInfo[]>("GET", path());
  expect(status).toBe(200);
  expect(json).toMatchObject([
    { id: ids[0], session_id: id, text: "Question 0?", choices: null, path: [id] },
    { id: ids[1], choices: ["yes", "no"], state: "open", answer: null },
  ]);
  const first = await call("POST", path(`/${ids[0]}/answer`), { answer: "red", note: "bright" });
  expect(first.json).toMatchObject({ state: "answered", answer: "red", note: "bright" });
  expect(await state()).toBe("waiting");
  const client = createClient({ baseUrl: t.url, token });
  expect((await client.listQuestions(id)).map((question) => question.id)).toEqual([ids[1]]);
  const second = await client.answerQuestion(id, ids[1] ?? "", { answer: "no" });
  expect(second).toMatchObject({ answered_by: "http", answer: "no", note: null });
  expect(await state()).toBe("queued");
  expect(await client.listQuestions(id)).toEqual([]);
});

it("[HTTP-143] refuses an answer that cannot count, each with its code", async () => {
  const { id, ids, path } = await waiting(["yes", "no"], null);
  const answer = (body: unknown, q = ids[0]) =>
    call<{ code: string; faults?: unknown }>("POST", path(`/${q}/answer`), body);
  const wrong = await answer({ answer: "perhaps" });
  expect(wrong).toMatchObject({
    status: 422,
    json: { code: "invalid_request", faults: [{ pointer: "/answer" }] },
  });
  for (const body of [{}, { answer: "" }, { answer: "yes", more: 1 }, { answer: 1 }, ["yes"]]) {
    expect((await answer(body)).status, JSON.stringify(body)).toBe(422);
  }
  expect((await answer({ answer: "x".repeat(20_001) }, ids[1])).status).toBe(422);
  for (const q of [newId(), "x", "%00", "..%2f"]) {
    const { status, json } = await answer({ answer: "yes" }, q);
    expect([status, json.code], q).toEqual([404, "question_not_found"]);
  }
  const other = await waiting(null);
  const elsewhere = await answer({ answer: "yes" }, other.ids[0]);
  expect(elsewhere.json).toMatchObject({ code: "question_not_found" });
  expect((await answer({ answer: "yes" })).status).toBe(200);
  expect(await answer({ answer: "no" })).toMatchObject({
    status: 409,
    json: { code: "question_answered" },
  });
  await t.store.write(endSession, { id });
  expect(await answer({ answer: "red" }, ids[1])).toMatchObject({
    status: 409,
    json: { code: "session_ended" },
  });
  const unknown = await call("GET", "/api/sessions/ffffffff/questions");
  expect(unknown.json).toMatchObject({ code: "session_not_found" });
});

it("[HTTP-144] answers without a token are refused", async () => {
  await using open = await startTestServer();
  const { id } = await open.store.write(createSession, {});
  const answered = await open.call("POST", `/api/sessions/${id}/questions/${newId()}/answer`, {
    body: { answer: "yes" },
  });
  expect(answered).toMatchObject({ status: 403, json: { code: "token_required" } });
  expect((await open.call("GET", `/api/sessions/${id}/questions`)).json).toEqual([]);
});

it("[HTTP-145] a message waits for the answers and names the question, or supersedes it", async () => {
  const { id, ids, state } = await waiting(null);
  const post = (body?: object) => call("POST", `/api/sessions/${id}/exchanges`, body);
  expect(await post()).toMatchObject({
    status: 409,
    json: { code: "question_open", detail: expect.stringContaining(ids[0] ?? "") as string },
  });
  expect(await post({ content: "later" })).toMatchObject({
    status: 202,
    json: { n: 2, state: "queued", open_question: ids[0] },
  });
  expect(await state()).toBe("waiting");
  expect(await post({ content: "now", supersede: true })).toMatchObject({
    status: 202,
    json: { n: 3, open_question: null },
  });
  expect(await state()).toBe("stopped");
  const answered = await call("POST", `/api/sessions/${id}/questions/${ids[0]}/answer`, {
    answer: "late",
  });
  expect(answered.json).toMatchObject({ code: "question_withdrawn" });
});

/** The stream's events as `message` or `<path length> <state>`, once there are so many. */
async function eventsOf({ response, text }: WireStream, count: number): Promise<string[]> {
  const read = () => [...text().matchAll(/event: (.*)\ndata: (.*)\n\n/g)];
  while (read().length < count && !response.closed) {
    await Promise.race([once(response, "data"), once(response, "close")]);
  }
  return read().map(([, event, data = ""]) => {
    const { path, state } = JSON.parse(data) as QuestionInfo;
    return event === "question" ? `${path?.length} ${state}` : String(event);
  });
}

it("[HTTP-146] a stream sends questions to who asks for them", async () => {
  const { id, ids, path } = await waiting(null, ["yes", "no"]);
  const stream = await openStream(t.url, `/api/sessions/${id}/stream?questions=true`, headers);
  const plain = await openStream(t.url, `/api/sessions/${id}/stream`, headers);
  const expected = ["message", "1 open", "1 open"];
  expect(await eventsOf(stream, 3)).toEqual(expected);
  await call("POST", path(`/${ids[1]}/answer`), { answer: "no" });
  expect(await eventsOf(stream, 4)).toEqual([...expected, "1 answered"]);
  // of another process, as far as the service knows
  await using other = await openStoreAt(t.path);
  const child = await other.write(createSession, { parent_session_id: id });
  const asked = await askIn(other, child.id, {});
  expect(await eventsOf(stream, 5)).toEqual([...expected, "1 answered", "2 open"]);
  const given = { answer: "red", note: null, answered_by: "terminal" } as const;
  await other.write(answerQuestion, { reference: id, question: asked, ...given });
  await eventsOf(stream, 6);
  await other.write(endSession, { id });
  expect(await stream.ended).toBe(true);
  expect((await eventsOf(stream, 7)).slice(5)).toEqual(["2 answered", "1 withdrawn"]);
  expect(stream.text()).toContain('"text":"Question 0?"');
  expect(await plain.ended).toBe(true);
  expect(plain.messages()).toHaveLength(1);
});

it("[HTTP-147] followSession reports questions", async () => {
  const { id, ids } = await waiting(["yes", "no"]);
  const client = createClient({ baseUrl: t.url, token });
  const seen: string[] = [];
  const onQuestion = (question: QuestionInfo): void => {
    seen.push(`${question.text} ${question.answer}`);
    void (question.state === "open"
      ? client.answerQuestion(id, ids[0] ?? "", { answer: "no" })
      : client.endSession(id));
  };
  const messages = await Array.fromAsync(client.followSession(id, { onQuestion }));
  expect(messages.map(({ content }) => content)).toEqual(["a question"]);
  expect(seen).toEqual(["Question 0? null", "Question 0? no"]);
});
