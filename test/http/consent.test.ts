import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startServer } from "../../src/http/serve.ts";
import { routesOfService } from "../helpers/routes-of-service.ts";
import { startTestServer, type TestServer } from "../helpers/server.ts";

const MADE = "a".repeat(64);
const CONFIGURED = "configured-token";

interface Entry {
  /** `public`: never needs a token; `open`: needs only a configured one; `closed`: needs every one. */
  readonly access: "public" | "open" | "closed";
  /** The status of a call that may enter. */
  readonly status: number;
  readonly body?: unknown;
}

const open = (status: number, body?: unknown): Entry => ({ access: "open", status, body });
const closed = (status: number, body?: unknown): Entry => ({ access: "closed", status, body });
const PUBLIC: Entry = { access: "public", status: 200 };

const ASKED = { choice: "1" };
const CHAT = { messages: [{ role: "user", id: "m", parts: [] }] };
const RUN = { threadId: "t", runId: "r", messages: [], state: {}, tools: [], context: [] };
const RUN_OF_PLAN = { plan: { text: "{}" }, repo_path: "/" };
const PLAN = JSON.stringify({ phases: [] });

/** Each call is for a fresh session, its exchange 9 and a question, which are not there. */
const ENTRIES: Readonly<Record<string, Entry>> = {
  "GET /livez": PUBLIC,
  "GET /readyz": PUBLIC,
  "GET /api/artifacts/schemas": open(200),
  "GET /api/artifacts/schemas/{group}/{name}": open(200),
  "GET /api/artifacts/schemas/{id}": open(200),
  "GET /api/doctor": open(200),
  "GET /api/events": open(200),
  "GET /api/models": open(200),
  "GET /api/nodes": open(200),
  "GET /api/queue": open(200),
  "GET /api/search": open(422),
  "GET /api/stats": open(422),
  "GET /api/personas": open(200),
  "GET /api/sessions": open(200),
  "GET /api/sessions/{id}": open(200),
  "GET /api/sessions/{id}/exchanges": open(200),
  "GET /api/sessions/{id}/exchanges/{n}": open(404),
  "GET /api/sessions/{id}/export": open(200),
  "GET /api/sessions/{id}/live": open(200),
  "GET /api/sessions/{id}/messages": open(200),
  "GET /api/sessions/{id}/questions": open(200),
  "GET /api/sessions/{id}/reasoning": open(200),
  "GET /api/sessions/{id}/stream": open(200),
  "GET /api/sessions/{id}/verify": open(200),
  "GET /metrics": open(200),
  "GET /openapi.json": open(200),
  "POST /api/artifacts/plan": open(200, { text: PLAN }),
  "GET /page/me": PUBLIC,
  "POST /page/login": { access: "public", status: 403, body: { code: "x" } },
  "POST /page/logout": { access: "public", status: 403 },
  "POST /api/artifacts/validate": open(200, { text: PLAN }),
  "POST /api/sessions": open(201, {}),
  "POST /api/sessions/{id}/end": open(200, {}),
  "POST /api/sessions/{id}/fork": open(201, {}),
  "POST /api/sessions/{id}/messages": open(201, { content: "hello" }),
  "DELETE /api/access/{id}": closed(404),
  "GET /api/access": closed(200),
  "GET /api/plan-runs": closed(200),
  "GET /api/plan-runs/{id}": closed(404),
  "GET /api/plan-runs/{id}/report": closed(404),
  "POST /api/plan-runs": closed(422, RUN_OF_PLAN),
  "POST /api/plan-runs/{id}/resume": closed(404, {}),
  "POST /api/models/refresh": closed(200),
  "DELETE /api/sessions/{id}": closed(200),
  "DELETE /api/sessions/{id}/exchanges/{n}": closed(404),
  "DELETE /api/sessions/{id}/shares/{share}": closed(404),
  "GET /api/sessions/{id}/shares": closed(200),
  "GET /api/sessions/{id}/ui/ai-sdk": closed(204),
  "GET /api/sessions/{id}/changes": closed(200),
  "GET /api/sessions/{id}/exchanges/{n}/changes": closed(404),
  "POST /api/sessions/{id}/exchanges/{n}/redo": closed(404, {}),
  "POST /api/sessions/{id}/exchanges/{n}/undo": closed(404, {}),
  "PATCH /api/sessions/{id}": closed(200, { name: "named", permission: "plan" }),
  "PATCH /api/sessions/{id}/exchanges/{n}": closed(404, { content: "other" }),
  "POST /api/sessions/{id}/exchanges": closed(202, { content: "hello" }),
  "POST /api/sessions/{id}/exchanges/{n}/stop": closed(404, {}),
  "POST /api/sessions/{id}/questions/{q}/answer": closed(404, ASKED),
  "POST /api/sessions/{id}/shares": closed(201, {}),
  "POST /api/sessions/{id}/ui/ag-ui": closed(422, RUN),
  "POST /api/sessions/{id}/ui/ai-sdk": closed(422, CHAT),
};

let made: TestServer;
let configured: TestServer;
/** Without any token. */
let bare: TestServer;
beforeAll(async () => {
  made = await startTestServer({ madeToken: MADE });
  configured = await startTestServer({ token: CONFIGURED, madeToken: MADE, store: made.store });
  bare = await startTestServer({ store: made.store });
});
afterAll(async () => {
  await bare[Symbol.asyncDispose]();
  await configured[Symbol.asyncDispose]();
  await made[Symbol.asyncDispose]();
});

const NOWHERE = "00000000-0000-4000-8000-000000000000";

/** The status of a call, without the rest of a stream. */
async function statusOf(url: string, route: string, token: string | null, method?: string) {
  const [verb = "", pattern = ""] = route.split(" ");
  const id = pattern.includes("sessions/{id}") ? await made.newSession() : "dev%2Fphase-plan%401";
  const path = pattern
    .replace("{id}", id)
    .replace("{group}/{name}", "dev/phase-plan@1")
    .replace("{n}", "9")
    .replace("{q}", NOWHERE)
    .replace("{share}", NOWHERE);
  const body = ENTRIES[route]?.body;
  const answer = await fetch(`${url}${path}`, {
    method: method ?? verb,
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  await answer.body?.cancel();
  return answer.status;
}

describe("every route, for each kind of caller", () => {
  it("[HTTP-230] has an entry here", async () => {
    const isExtra = (route: string): boolean => /^(HEAD|OPTIONS) /.test(route);
    expect(Object.keys(ENTRIES).toSorted()).toEqual(
      [...new Set((await routesOfService()).filter((route) => !isExtra(route)))].toSorted(),
    );
  });

  it.each(Object.entries(ENTRIES))("[HTTP-230] [HTTP-231] %s", async (route, entry) => {
    const { access, status } = entry;
    const wrong = `${MADE.slice(1)}b`;
    const isPublic = access === "public";
    const refused = isPublic ? status : 401;
    const without = access === "closed" ? 403 : status;
    expect(await statusOf(made.url, route, null)).toBe(without);
    expect(await statusOf(made.url, route, wrong)).toBe(refused);
    expect(await statusOf(made.url, route, MADE)).toBe(status);
    expect(await statusOf(configured.url, route, null)).toBe(refused);
    expect(await statusOf(configured.url, route, MADE)).toBe(refused);
    expect(await statusOf(configured.url, route, CONFIGURED)).toBe(status);
    expect(await statusOf(bare.url, route, null)).toBe(without);
    expect(await statusOf(bare.url, route, MADE)).toBe(without);
    if (route.startsWith("GET ")) {
      expect(await statusOf(made.url, route, null, "HEAD")).toBe(without);
    }
  });
});

describe("a service that has made its token", () => {
  it("[HTTP-230] refuses what asks less of new sessions without it, and marks what needs it", async () => {
    const { json } = await made.call<{ code: string }>("POST", "/api/sessions", {
      body: { permission: "edits" },
    });
    expect(json.code).toBe("token_required");
    const { paths, security } = (await made.call<Document>("GET", "/openapi.json")).json;
    expect(security).toEqual([{}, { token: [] }]);
    for (const [route, { access }] of Object.entries(ENTRIES)) {
      const [method = "", path = ""] = route.split(" ");
      const own = paths[path]?.[method.toLowerCase()];
      expect(own?.security, route).toEqual(
        { public: [], open: undefined, closed: [{ token: [] }] }[access],
      );
    }
  });

  it("[HTTP-231] keeps which messages came with it", async () => {
    const id = await made.newSession();
    const authorization = `Bearer ${MADE}`;
    const path = `/api/sessions/${id}/messages`;
    await made.call("POST", path, { body: { content: "with" }, headers: { authorization } });
    await made.call("POST", path, { body: { content: "without" } });
    const rows = await made.store.read(
      ({ db }) =>
        db
          .selectFrom("messages")
          .select(["content", "authenticated"])
          .where("session_id", "=", id)
          .orderBy("seq")
          .execute(),
      null,
    );
    expect(rows).toEqual([
      { content: "with", authenticated: 1 },
      { content: "without", authenticated: 0 },
    ]);
  });

  it("[HTTP-231] refuses other forms of a token, and none in other places", async () => {
    for (const authorization of ["", "Bearer", MADE, `Basic ${btoa(`:${MADE}`)}`]) {
      const answer = await made.call("GET", "/api/sessions", { headers: { authorization } });
      expect(answer.status, authorization).toBe(401);
    }
    const id = await made.newSession();
    for (const target of [`?token=${MADE}`, `?access_token=${MADE}`]) {
      expect((await made.call("DELETE", `/api/sessions/${id}${target}`)).status).toBe(403);
    }
    expect(JSON.stringify(made.log)).not.toContain(MADE);
  });

  it("[HTTP-232] does not listen on other addresses with it", async () => {
    for (const host of ["0.0.0.0", "::"]) {
      const start = startServer({
        store: made.store,
        version: "1",
        host,
        port: 0,
        madeToken: MADE,
      });
      await expect(start).rejects.toMatchObject({ code: "config_invalid" });
    }
  });
});

interface Document {
  readonly security: unknown;
  readonly paths: Record<string, Record<string, { readonly security?: unknown }>>;
}
