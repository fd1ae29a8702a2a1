import { afterAll, beforeAll, describe, expect, it } from "vitest";

import type { NewShareInfo } from "../../../src/core/schemas/access-schemas.ts";
import { openPage, type PageClient } from "../../helpers/page-client.ts";
import { routesOfService } from "../../helpers/routes-of-service.ts";
import { startTestServer, type TestServer } from "../../helpers/server.ts";
import { HOSTILE_ENTRIES } from "../../torture/hostile-entries.ts";

const TOKEN = "the-token-of-the-service";
const READ = "the-read-token";
const NOWHERE = "00000000-0000-4000-8000-000000000000";
const OWN = { authorization: `Bearer ${TOKEN}` };

let t: TestServer;
/** Reads without a token. */
let open: TestServer;
/** A session with a folder, a persona, metadata and a message; and another one. */
let shown: string;
let other: string;
/** All but those of a login. */
let routes: readonly string[];
beforeAll(async () => {
  const isOther = (route: string): boolean => !/^(OPTIONS |POST \/page\/)/.test(route);
  routes = (await routesOfService()).filter(isOther);
  t = await startTestServer({ token: TOKEN, readToken: READ });
  open = await startTestServer({ store: t.store, madeToken: TOKEN, readToken: READ });
  shown = await create({
    repo_path: "/secret-folder",
    persona_name: "secret-persona",
    metadata: { secret_key: "secret-value" },
  });
  other = await create({});
  await t.call("PATCH", `/api/sessions/${shown}`, {
    headers: OWN,
    body: { name: "the name", pinned: true },
  });
  await t.post(shown, "hello");
  await t.post(other, "of another session");
});
afterAll(async () => {
  await open[Symbol.asyncDispose]();
  await t[Symbol.asyncDispose]();
});

async function create(body: object): Promise<string> {
  return (await t.call<{ id: string }>("POST", "/api/sessions", { headers: OWN, body })).json.id;
}

async function newShare(id: string): Promise<NewShareInfo> {
  const path = `/api/sessions/${id}/shares`;
  return (await t.call<NewShareInfo>("POST", path, { headers: OWN, body: {} })).json;
}

async function visitor(service = t): Promise<PageClient> {
  const page = openPage(service);
  const { secret } = await newShare(shown);
  expect((await page.login({ share: secret })).json).toMatchObject({
    role: "visitor",
    session: shown,
  });
  return page;
}

/** The status of a call of a route for a session, without the rest of a stream. */
async function statusOf(page: PageClient, service: TestServer, route: string, id = shown) {
  const [method = "", pattern = ""] = route.split(" ");
  const path = pattern
    .replace(/(?<=sessions\/)\{id\}/, id)
    .replace("{id}", "dev%2Fphase-plan%401")
    .replace("{group}/{name}", "dev/phase-plan@1")
    .replace("{n}", "9")
    .replace(/\{(q|share)\}/, NOWHERE);
  const [set = ""] = page.cookies.values();
  const cookie = set.slice(0, set.indexOf(";"));
  const body = HOSTILE_ENTRIES[route]?.bodies?.[0];
  const answer = await fetch(`${service.url}${path}`, {
    method,
    headers: {
      "x-reprise-page": "1",
      "sec-fetch-site": "same-origin",
      ...(cookie === "" ? {} : { cookie }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  await answer.body?.cancel();
  return answer.status;
}

/** For every role. */
const PUBLIC = ["GET /livez", "GET /readyz", "GET /page/me"];
const SHARED = ["", "/messages", "/stream"].map((path) => `GET /api/sessions/{id}${path}`);

describe("a visitor, on every route", () => {
  it("[PAGE-10] reads the session of the link, its messages and its stream, and nothing else", async () => {
    const allowed = [...PUBLIC, ...SHARED].flatMap((route) => [
      route,
      route.replace("GET", "HEAD"),
    ]);
    const page = await visitor();
    const beside = await visitor(open);
    for (const route of routes) {
      const expected = allowed.includes(route) ? 200 : 403;
      expect(await statusOf(page, t, route), route).toBe(expected);
      expect(await statusOf(beside, open, route), `open: ${route}`).toBe(expected);
    }
    for (const route of SHARED) {
      for (const id of [other, shown.slice(0, 8), shown.toUpperCase(), "%2e%2e", `${shown}%00`]) {
        expect(await statusOf(page, t, route, id), `${route} ${id}`).toBe(404);
      }
    }
    expect((await page.call("GET", "/nowhere")).status).toBe(404);
    expect((await page.call("GET", "/api/sessions")).json).toMatchObject({
      code: "token_required",
    });
  });

  it("[PAGE-10] sees neither the folder nor the persona, the metadata and other sessions", async () => {
    const page = await visitor();
    const path = `/api/sessions/${shown}`;
    const { json, text } = await page.call<Record<string, unknown>>("GET", path);
    expect(json).toMatchObject({
      id: shown,
      repo_path: null,
      project_key: null,
      persona_name: null,
      agent: null,
      parent_session_id: null,
      metadata: {},
      permission: null,
      exchange: null,
      pinned_at: null,
      name: "the name",
      messages: [{ content: "hello" }],
    });
    expect(text).not.toMatch(/secret/);
    expect(Object.keys((await page.call<object>("GET", path)).json)).toEqual(
      Object.keys((await t.call<object>("GET", path, { headers: OWN })).json),
    );
    const messages = await page.call("GET", `${path}/messages?order=desc`);
    expect(messages.json).toMatchObject([{ content: "hello" }]);
  });

  it("[PAGE-10] does not see the origin of a fork", async () => {
    const path = `/api/sessions/${shown}/fork`;
    const { json } = await t.call<{ id: string }>("POST", path, { headers: OWN, body: {} });
    expect(json).toMatchObject({ forked_from: { session_id: shown } });
    const page = openPage(t);
    await page.login({ share: (await newShare(json.id)).secret });
    const { json: seen } = await page.call("GET", `/api/sessions/${json.id}`);
    expect(seen).toMatchObject({ id: json.id, forked_from: null });
  });

  it("[PAGE-17] who is an owner or a reader stays so when opening a link; a visitor sees the last link", async () => {
    for (const [token, role] of [
      [TOKEN, "owner"],
      [READ, "reader"],
    ] as const) {
      const page = openPage(t);
      await page.login({ token });
      const answer = await page.login({ share: (await newShare(shown)).secret });
      expect(answer.status).toBe(200);
      expect(answer.headers.get("set-cookie")).toBeNull();
      expect(await page.me()).toMatchObject({ role, session: null });
    }
    const page = await visitor();
    await page.login({ share: (await newShare(other)).secret });
    expect(await page.me()).toMatchObject({ role: "visitor", session: other });
    expect((await page.call("GET", `/api/sessions/${shown}`)).status).toBe(404);
    await page.login({ token: TOKEN });
    expect(await page.me()).toMatchObject({ role: "owner" });
  });
});

describe("a reader, on every route", () => {
  it("[PAGE-9] reads everything but who may get in, and changes nothing", async () => {
    const reads = (route: string): boolean =>
      (/^(GET|HEAD) /.test(route) && !/\/(shares|access)$/.test(route)) ||
      route.startsWith("POST /api/artifacts/");
    const before = JSON.stringify(await rowsOf());
    const page = openPage(t);
    expect((await page.login({ token: READ })).json).toMatchObject({ role: "reader" });
    for (const route of routes) {
      const status = await statusOf(page, t, route);
      if (reads(route)) {
        expect([200, 204, 404, 422], `${route}: ${status}`).toContain(status);
      } else {
        expect(status, route).toBe(403);
      }
    }
    const changes = await page.call("GET", `/api/sessions/${shown}/changes`);
    expect(changes.status).toBe(200);
    expect(JSON.stringify(await rowsOf())).toBe(before);
  });

  it("[PAGE-9] is also who sends the read token with each call; it must differ from the token", async () => {
    const headers = { authorization: `Bearer ${READ}` };
    const read = await t.call<{ repo_path: string }>("GET", `/api/sessions/${shown}`, { headers });
    expect(read.json.repo_path).toBe("/secret-folder");
    const created = await t.call<{ code: string }>("POST", "/api/sessions", { headers, body: {} });
    expect(created.json.code).toBe("token_required");
    const both = startTestServer({ store: t.store, token: "same", readToken: "same" });
    await expect(both).rejects.toMatchObject({ code: "config_invalid" });
    const empty = startTestServer({ store: t.store, token: "one", readToken: "" });
    await expect(empty).rejects.toMatchObject({ code: "config_invalid" });
  });
});

function rowsOf() {
  return t.store.read(
    async ({ db }) => [
      await db.selectFrom("sessions").selectAll().orderBy("id").execute(),
      await db.selectFrom("messages").selectAll().orderBy("session_id").execute(),
      await db.selectFrom("session_shares").selectAll().orderBy("id").execute(),
    ],
    null,
  );
}
