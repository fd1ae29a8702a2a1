import { afterAll, beforeAll, expect, it } from "vitest";

import { type Client, createClient } from "../../src/client/client.ts";
import { openPage } from "../helpers/page-client.ts";
import { startTestServer, type TestServer } from "../helpers/server.ts";
import { makeFolder } from "../helpers/temp.ts";

const TOKEN = "a-token";
const headers = { authorization: `Bearer ${TOKEN}` };
const made = makeFolder();
let t: TestServer;
let client: Client;
let isOn = true;
let id = "";

beforeAll(async () => {
  t = await startTestServer({ token: TOKEN, isSearchOn: () => Promise.resolve(isOn) });
  client = createClient({ baseUrl: t.url, token: TOKEN });
  ({ id } = await client.createSession({ repo_path: made.path }));
  for (const text of ["First", "The rent of April", "the rent of May"]) {
    await client.postMessage(id, text);
  }
  const { id: other } = await client.createSession({});
  await client.postMessage(other, "rent: archived");
  await client.patchSession(other, { archived: true });
});

afterAll(async () => {
  await t[Symbol.asyncDispose]();
  made[Symbol.dispose]();
});

it("[HTTP-330] finds messages with an excerpt and the places of the words", async () => {
  const { status, json } = await t.call("GET", "/api/search?q=RENT%20april", { headers });
  expect(status).toBe(200);
  expect(json).toEqual({
    results: [
      {
        session_id: id,
        seq: 2,
        role: "user",
        ts: expect.stringMatching(/^\d{4}-.*Z$/),
        title: "First",
        excerpt: "The rent of April",
        marks: [
          [4, 8],
          [12, 17],
        ],
      },
    ],
    complete: true,
    indexed_until: null,
  });
  expect((await client.searchMessages("first")).results.map(({ seq }) => seq)).toEqual([null, 1]);
});

it("[HTTP-331] limits it by role, time, folder and archive, and refuses queries without a word or with wrong values", async () => {
  const found = async (options: object): Promise<(number | null)[]> =>
    (await client.searchMessages("rent", options)).results.map(({ seq }) => seq);
  expect(await found({})).toEqual([3, 2]);
  expect(await found({ role: "tool" })).toEqual([]);
  expect(await found({ since: "2020-01-01", role: "user" })).toEqual([3, 2]);
  expect(await found({ since: "2999-01-01T00:00:00Z" })).toEqual([]);
  expect(await found({ repo_path: made.path })).toEqual([3, 2]);
  expect(await found({ repo_path: "/nowhere" })).toEqual([]);
  expect(await found({ archived: true })).toEqual([null, 1, 3, 2]);
  for (const query of ["", "q=", "q=%22", `q=${"x".repeat(256)}`, "q=a&limit=51", "q=a&since=x"]) {
    const answer = await t.call("GET", `/api/search?${query}`, { headers });
    expect(answer.status, query).toBe(422);
  }
  expect((await t.call("GET", "/api/search?q=a&since=2026-13-41", { headers })).status).toBe(422);
});

it("[HTTP-332] names the next page with the filters of this one", async () => {
  const first = await client.searchMessages("rent", { limit: 1, role: "user" });
  expect(first.results.map(({ seq }) => seq)).toEqual([3]);
  const options = { limit: 1, role: "user", cursor: first.next ?? "" } as const;
  expect((await client.searchMessages("rent", options)).results.map(({ seq }) => seq)).toEqual([2]);
  const answer = await t.call("GET", "/api/search?q=rent&limit=1&role=user", { headers });
  expect(answer.headers.get("link")).toMatch(
    /^<\/api\/search\?q=rent&limit=1&role=user&cursor=[\w-]+>; rel="next"$/,
  );
  await expect(client.searchMessages("rent", { cursor: "W10" })).rejects.toMatchObject({
    code: "invalid_request",
  });
});

it("[HTTP-333] is refused if the config turns the search off", async () => {
  isOn = false;
  await expect(client.searchMessages("rent")).rejects.toMatchObject({
    code: "search_off",
    status: 409,
  });
  isOn = true;
});

it("[HTTP-334] shows readers and guests what the list shows them, and visitors with a link nothing", async () => {
  await using service = await startTestServer({ token: TOKEN, readToken: "read-only" });
  const owner = createClient({ baseUrl: service.url, token: TOKEN });
  const { id: session } = await owner.createSession({});
  await owner.postMessage(session, "the rent of June");
  const reader = createClient({ baseUrl: service.url, token: "read-only" });
  expect((await reader.searchMessages("june", { role: "user" })).results).toHaveLength(1);
  const page = openPage(service);
  const { secret } = await owner.createShare(session, {});
  expect((await page.login({ share: secret })).status).toBe(200);
  expect((await page.call("GET", `/api/sessions/${session}`)).status).toBe(200);
  expect((await page.call("GET", "/api/search?q=june")).status).toBe(403);
});
