import { afterAll, beforeAll, expect, it } from "vitest";

import { offeredChoices } from "../../src/core/text/words.ts";
import { createClient } from "../../src/client/client.ts";
import { newId } from "../../src/core/ids.ts";
import type { QuestionInfo } from "../../src/core/schemas/schemas.ts";
import { readExchange } from "../../src/store/records/exchanges/read.ts";
import { releaseLease, takeLease } from "../../src/store/records/leases/lease.ts";
import { beginExchange } from "../../src/store/records/messages/begin-exchange.ts";
import { insertQuestion } from "../../src/store/records/questions/ask.ts";
import { endSession } from "../../src/store/records/sessions/change.ts";
import { createSession } from "../../src/store/records/sessions/create.ts";
import { owner } from "../helpers/engines.ts";
import { startTestServer, type TestServer } from "../helpers/server.ts";

const token = "0123456789abcdef0123456789abcdef";
let t: TestServer;
beforeAll(async () => {
  t = await startTestServer({ token });
});
afterAll(() => t[Symbol.asyncDispose]());

/** A session whose exchange waits for the answers to these questions. */
async function waiting(...choices: readonly (readonly string[] | null)[]) {
  const { store } = t;
  const { id } = await store.write(createSession, {});
  const fence = await store.write(takeLease, { session_id: id, owner, life_ms: 60_000 });
  const begin = { fence, content: "a question", model: "demo", persona_name: "assistant" };
  await store.write(beginExchange, begin);
  const questions = choices.map((each, index) => ({
    id: newId(),
    choices: each === null ? null : offeredChoices(each),
    index,
  }));
  for (const { index, ...question } of questions) {
    await store.write(
      (tx) =>
        insertQuestion(
          tx,
          { session_id: id, thread_suffix: 0 },
          {
            ...question,
            call_id: `call_${index}`,
            number: 1,
            kind: "question",
            text: `Question ${index}?`,
            permission: null,
            shown_hash: "0".repeat(64),
            default: null,
          },
        ),
      null,
    );
  }
  await store.write(releaseLease, { fence, finished: false, end: "waiting" });
  return {
    id,
    ids: questions.map((question) => question.id),
    path: (rest = "") => `/api/sessions/${id.slice(0, 8)}/questions${rest}`,
    state: async (n = 1) => (await store.read(readExchange, { reference: id, n })).state,
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
    { id: ids[1], choices: offeredChoices(["yes", "no"]), state: "open", answer: null },
  ]);
  const first = await call("POST", path(`/${ids[0]}/answer`), { text: "red", note: "bright" });
  expect(first.json).toMatchObject({
    state: "answered",
    choice: null,
    answer: "red",
    note: "bright",
  });
  expect(await state()).toBe("waiting");
  const client = createClient({ baseUrl: t.url, token });
  expect((await client.listQuestions(id)).map((question) => question.id)).toEqual([ids[1]]);
  const second = await client.answerQuestion(id, ids[1] ?? "", { choice: "2" });
  expect(second).toMatchObject({ answered_by: "http", choice: "2", answer: "no", note: null });
  expect(await state()).toBe("queued");
  expect(await client.listQuestions(id)).toEqual([]);
});

it("[HTTP-143] [HTTP-247] refuses an answer that cannot count, each with its code", async () => {
  const { id, ids, path } = await waiting(["yes", "no"], null);
  const answer = (body: unknown, q = ids[0]) =>
    call<{ code: string; faults?: unknown }>("POST", path(`/${q}/answer`), body);
  const refused = async (body: unknown, q = ids[0]) => {
    const { status, json } = await answer(body, q);
    expect([status, json.code]).toEqual([422, "invalid_request"]);
    return json.faults;
  };
  // a label is not an id
  for (const choice of ["perhaps", "yes", "allow_once"]) {
    expect(await refused({ choice })).toEqual([
      { pointer: "/choice", message: 'Must be one of "1", "2".' },
    ]);
  }
  expect(await refused({ text: "yes" })).toEqual([
    { pointer: "/text", message: 'The question has choices. Send `choice`, one of "1", "2".' },
  ]);
  expect(await refused({ choice: "1" }, ids[1])).toEqual([
    { pointer: "/choice", message: "The question has no choices. Send `text` instead." },
  ]);
  expect(await refused({ choice: "1", text: "yes" })).toEqual([
    { pointer: "/text", message: "Must not be sent with `choice`. Send one of them." },
  ]);
  expect(await refused({ note: "only" })).toMatchObject([{ pointer: "/choice" }]);
  for (const body of [{}, { choice: "" }, { choice: "1", more: 1 }, { choice: 1 }, ["1"]]) {
    expect((await answer(body)).status, JSON.stringify(body)).toBe(422);
  }
  expect((await answer({ text: "x".repeat(20_001) }, ids[1])).status).toBe(422);
  for (const q of [newId(), "x", "%00", "..%2f"]) {
    const { status, json } = await answer({ choice: "1" }, q);
    expect([status, json.code], q).toEqual([404, "question_not_found"]);
  }
  const other = await waiting(null);
  const elsewhere = await answer({ text: "yes" }, other.ids[0]);
  expect(elsewhere.json).toMatchObject({ code: "question_not_found" });
  expect((await answer({ choice: "1" })).status).toBe(200);
  expect(await answer({ choice: "2" })).toMatchObject({
    status: 409,
    json: { code: "question_answered" },
  });
  await t.store.write(endSession, { id });
  expect(await answer({ text: "red" }, ids[1])).toMatchObject({
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
    body: { choice: "1" },
  });
  expect(answered).toMatchObject({ status: 403, json: { code: "token_required" } });
  expect((await open.call("GET", `/api/sessions/${id}/questions`)).json).toEqual([]);
});

it("[HTTP-145] [HTTP-185] a message waits for the answers and names the question, or supersedes it", async () => {
  const { id, ids, state } = await waiting(null);
  const post = (body?: object) => call("POST", `/api/sessions/${id}/exchanges`, body);
  expect(await post()).toMatchObject({
    status: 409,
    json: {
      code: "question_open",
      detail: expect.stringContaining(ids[0] ?? "") as string,
      open_question: ids[0],
    },
  });
  const client = createClient({ baseUrl: t.url, token });
  await expect(client.queueExchange(id, null)).rejects.toMatchObject({ open_question: ids[0] });
  await expect(client.getExchange(id, 9)).rejects.toMatchObject({ open_question: null });
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
    text: "late",
  });
  expect(answered.json).toMatchObject({ code: "question_withdrawn" });
});
