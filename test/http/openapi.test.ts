import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { plan } from "../helpers/artifacts/plans.ts";
import { startTestServer, type TestServer } from "../helpers/server.ts";
import { openStream } from "../helpers/stream.ts";

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { name: string; in: string; required: boolean; schema: object }[];
  readonly requestBody?: { required: boolean; content: Record<string, { schema: object }> };
  readonly responses: Record<string, Response>;
}
interface Response {
  readonly description: string;
  readonly headers?: Record<string, { schema: object }>;
  readonly content?: Record<string, { schema: object }>;
}
interface Document {
  readonly openapi: string;
  readonly info: { title: string; version: string };
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { schemas: Record<string, object>; securitySchemes: object };
  readonly security: readonly object[];
}

let t: TestServer;
let document: Document;
let ajv: Ajv2020;
beforeAll(async () => {
  t = await startTestServer();
  document = (await t.call<Document>("GET", "/openapi.json")).json;
  ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addFormat("storable-text", true);
  ajv.addSchema({ $id: "https://reprise.invalid/openapi", ...document });
});
afterAll(() => t[Symbol.asyncDispose]());

function operations(): [string, string, Operation][] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, string, Operation] => [
      path,
      method,
      operation,
    ]),
  );
}

/** Checks an answer against what the document says of its call, status, type and headers. */
async function fits(
  method: string,
  of: string | { readonly server: TestServer; readonly template: string },
  path: string,
  body?: unknown,
  headers = {},
) {
  const { server, template } = typeof of === "string" ? { server: t, template: of } : of;
  const answer = await server.call(method, path, { body, headers });
  const described = document.paths[template]?.[method.toLowerCase()]?.responses[answer.status];
  expect(described, `${method} ${template} ${answer.status}`).toBeDefined();
  const type = (answer.headers.get("content-type") ?? "").replace(/;.*$/, "");
  if (answer.text === "") {
    expect(described?.content).toBeUndefined();
  } else {
    const content = described?.content?.[type];
    expect(content, `${type} of ${method} ${template} ${answer.status}`).toBeDefined();
    const pointer = [
      "paths",
      template,
      method.toLowerCase(),
      "responses",
      String(answer.status),
      "content",
      type,
      "schema",
    ]
      .map((part) => encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1")))
      .join("/");
    const validate = ajv.getSchema(`https://reprise.invalid/openapi#/${pointer}`);
    expect(validate?.(answer.json), JSON.stringify(validate?.errors)).toBe(true);
  }
  for (const name of ["link", "location", "retry-after", "www-authenticate", "x-request-id"]) {
    const known = Object.keys(described?.headers ?? {}).map((header) => header.toLowerCase());
    if (answer.headers.has(name)) {
      expect(known, `${method} ${template} ${answer.status}`).toContain(name);
    }
  }
  return answer;
}

describe("the OpenAPI document", () => {
  it("[HTTP-85] names its server, and for each operation a tag and whether a token is needed", async () => {
    await using guarded = await startTestServer({ token: "x" });
    const { json } = await guarded.call<
      Document & {
        servers: { url: string }[];
        tags: { name: string; description: string }[];
        info: { license: object; contact: object };
      }
    >("GET", "/openapi.json", { headers: { authorization: "Bearer x" } });
    expect(json.servers).toEqual([{ url: "/", description: expect.any(String) }]);
    expect(json.info).toMatchObject({ license: { identifier: "MIT" }, contact: expect.anything() });
    const tags = json.tags.map(({ name }) => name);
    expect(tags).toEqual(["sessions", "plan-runs", "page", "artifacts", "service"]);
    expect(json.security).toEqual([{ token: [] }]);
    for (const [path, methods] of Object.entries(json.paths)) {
      for (const operation of Object.values(methods)) {
        const { tags: own, security } = operation as Operation & {
          tags: string[];
          security?: object[];
        };
        expect(own, path).toHaveLength(1);
        expect(tags, path).toContain(own[0]);
        const isOpen = ["/livez", "/readyz"].includes(path) || path.startsWith("/page/");
        expect(security, path).toEqual(isOpen ? [] : undefined);
        if (path === "/page/login" || path === "/page/logout") {
          continue;
        }
        const answer = await guarded.call("GET", path);
        expect(answer.status === 401, path).toBe(!isOpen);
      }
    }
  });

  it("[HTTP-46] is OpenAPI 3.1 and describes every call", () => {
    expect(document.openapi).toBe("3.1.1");
    expect(document.info).toMatchObject({ title: "Reprise", version: "1.2.3" });
    expect(
      operations()
        .map(([path, method]) => `${method} ${path}`)
        .sort(),
    ).toEqual(
      [
        "get /api/search",
        "get /api/sessions",
        "post /api/plan-runs",
        "post /api/plan-runs/{id}/resume",
        "post /api/sessions",
        "get /api/sessions/{id}",
        "delete /api/sessions/{id}",
        "patch /api/sessions/{id}",
        "get /api/sessions/{id}/messages",
        "post /api/sessions/{id}/messages",
        "get /api/sessions/{id}/reasoning",
        "get /api/sessions/{id}/export",
        "get /api/sessions/{id}/verify",
        "get /api/sessions/{id}/live",
        "get /api/events",
        "get /api/sessions/{id}/ui/ai-sdk",
        "post /api/sessions/{id}/ui/ai-sdk",
        "post /api/sessions/{id}/ui/ag-ui",
        "get /api/sessions/{id}/stream",
        "post /api/sessions/{id}/end",
        "post /api/sessions/{id}/fork",
        "get /api/sessions/{id}/changes",
        "get /api/sessions/{id}/exchanges/{n}/changes",
        "post /api/sessions/{id}/exchanges/{n}/undo",
        "post /api/sessions/{id}/exchanges/{n}/redo",
        "get /api/sessions/{id}/exchanges",
        "post /api/sessions/{id}/exchanges",
        "get /api/sessions/{id}/exchanges/{n}",
        "patch /api/sessions/{id}/exchanges/{n}",
        "delete /api/sessions/{id}/exchanges/{n}",
        "post /api/sessions/{id}/exchanges/{n}/stop",
        "get /api/sessions/{id}/questions",
        "post /api/sessions/{id}/questions/{q}/answer",
        "get /api/artifacts/schemas",
        "get /api/artifacts/schemas/{id}",
        "get /api/artifacts/schemas/{group}/{name}",
        "post /api/artifacts/validate",
        "post /api/artifacts/plan",
        "get /api/nodes",
        "get /api/doctor",
        "get /api/personas",
        "get /api/models",
        "post /api/models/refresh",
        "get /api/plan-runs",
        "get /api/plan-runs/{id}",
        "get /api/plan-runs/{id}/report",
        "get /api/queue",
        "get /api/sessions/{id}/shares",
        "post /api/sessions/{id}/shares",
        "delete /api/sessions/{id}/shares/{share}",
        "get /api/access",
        "delete /api/access/{id}",
        "post /page/login",
        "post /page/logout",
        "get /page/me",
        "get /api/stats",
        "get /livez",
        "get /metrics",
        "get /readyz",
        "get /openapi.json",
      ].sort(),
    );
    const parameters = (path: string, method: string) =>
      document.paths[path]?.[method]?.parameters?.map((each) => `${each.in} ${each.name}`).sort();
    expect(parameters("/api/sessions", "get")).toEqual([
      "query activity",
      "query archived",
      "query cursor",
      "query forked_from",
      "query limit",
      "query metadata",
      "query order",
      "query parent",
      "query pinned",
      "query project_key",
      "query repo_path",
      "query roots",
      "query state",
      "query title",
    ]);
    expect(parameters("/api/sessions", "post")).toEqual(["header idempotency-key"]);
    expect(parameters("/api/sessions/{id}", "get")).toEqual([
      "path id",
      "query all",
      "query before_seq",
      "query messages",
    ]);
    expect(parameters("/api/sessions/{id}/exchanges", "post")).toEqual([
      "header idempotency-key",
      "path id",
    ]);
    for (const method of ["patch", "delete"]) {
      expect(parameters("/api/sessions/{id}/exchanges/{n}", method)).toEqual([
        "header if-match",
        "path id",
        "path n",
      ]);
    }
    expect(parameters("/api/sessions/{id}/stream", "get")).toEqual([
      "header Last-Event-ID",
      "path id",
      "query all",
      "query last_seq",
    ]);
    expect(parameters("/api/sessions/{id}/messages", "post")).toEqual([
      "header idempotency-key",
      "path id",
    ]);
  });

  it("[HTTP-46] is sound: unique ids, declared parameters, references that exist, schemas that compile", () => {
    const ids = operations().map(([, , { operationId }]) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    const compiled = new Map<string, () => unknown>();
    for (const [path, , operation] of operations()) {
      const declared = (operation.parameters ?? []).filter((each) => each.in === "path");
      expect(declared.map(({ name }) => `{${name}}`)).toEqual(path.match(/\{[^}]+\}/g) ?? []);
      expect(declared.every(({ required }) => required)).toBe(true);
      expect(Object.keys(operation.responses).every((status) => /^[1-5]\d\d$/.test(status))).toBe(
        true,
      );
      for (const { description, content, headers } of Object.values(operation.responses)) {
        expect(description).not.toBe("");
        for (const { schema } of [
          ...Object.values(content ?? {}),
          ...Object.values(headers ?? {}),
        ]) {
          compiled.set(JSON.stringify(schema), () => ajv.compile(absolute(schema)));
        }
      }
    }
    // most operations share the schemas of errors
    for (const compile of compiled.values()) {
      compile();
    }
    for (const reference of JSON.stringify(document).match(/"\$ref":"[^"]*"/g) ?? []) {
      const name = /"#\/components\/schemas\/([A-Za-z]+)"/.exec(reference)?.[1] ?? reference;
      expect(Object.keys(document.components.schemas)).toContain(name);
    }
    for (const schema of Object.values(document.components.schemas)) {
      expect(schema).toMatchObject({ type: "object", additionalProperties: false });
      ajv.compile(absolute(schema));
    }
  });

  it("[HTTP-202] makes no type worse: each operation is described, and no field of a body has a default", () => {
    for (const [path, method, operation] of operations()) {
      const { summary, description, operationId } = operation as Operation & {
        summary?: string;
        description?: string;
      };
      const texts = [operationId, summary, description];
      expect(
        texts.map((text) => typeof text === "string" && text !== ""),
        `${method} ${path}`,
      ).toEqual([true, true, true]);
      // generators make a field with a default one that a client has to send
      const bodies = Object.values(operation.requestBody?.content ?? {});
      expect(JSON.stringify(bodies), `${method} ${path}`).not.toContain('"default"');
    }
    const requests = Object.entries(document.components.schemas).filter(([name]) =>
      name.endsWith("Request"),
    );
    expect(requests.length).toBeGreaterThan(4);
    expect(JSON.stringify(requests)).not.toContain('"default"');
  });

  it("[HTTP-46] says which bodies may be left out, and if a token is needed", async () => {
    const required = (path: string, method = "post") =>
      document.paths[path]?.[method]?.requestBody?.required;
    const one = "/api/sessions/{id}/exchanges/{n}";
    expect(required("/api/sessions/{id}/exchanges")).toBe(false);
    expect(required(`${one}/stop`)).toBe(false);
    expect(required("/api/sessions/{id}/questions/{q}/answer")).toBe(true);
    expect(required(one, "patch")).toBe(true);
    expect(required("/api/sessions")).toBe(false);
    expect(required("/api/sessions/{id}/end")).toBe(false);
    expect(required("/api/sessions/{id}/messages")).toBe(true);
    expect(document.security).toEqual([]);
    await using guarded = await startTestServer({ token: "x" });
    const headers = { authorization: "Bearer x" };
    const { json } = await guarded.call<Document>("GET", "/openapi.json", { headers });
    expect(json.security).toEqual([{ token: [] }]);
  });

  it("[HTTP-46] describes every answer about exchanges", async () => {
    await using guarded = await startTestServer({ token: "x" });
    const id = await guarded.newSession();
    const all = "/api/sessions/{id}/exchanges";
    const path = `/api/sessions/${id}/exchanges`;
    const token = { authorization: "Bearer x" };
    const asks = async (
      status: number,
      method: string,
      rest: string,
      body?: unknown,
      more = {},
    ) => {
      const template = `${all}${rest.replace(/\?.*$/, "").replace(/^\/[^/]+/, "/{n}")}`;
      const headers = { ...token, ...more };
      const of = { server: guarded, template };
      const answer = await fits(method, of, `${path}${rest}`, body, headers);
      expect(answer.status, `${method} ${rest}`).toBe(status);
    };
    await asks(409, "POST", "");
    await asks(202, "POST", "", { content: "one" }, { "idempotency-key": "k" });
    await asks(422, "POST", "", { content: "two" }, { "idempotency-key": "k" });
    await asks(413, "POST", "", { content: "é".repeat(600_000) });
    await asks(415, "POST", "", "{}", { "content-type": "text/plain" });
    await asks(401, "POST", "", { content: "x" }, { authorization: "Bearer y" });
    await asks(200, "GET", "");
    await asks(200, "GET", "/1");
    await asks(422, "GET", "/1?include=queue");
    await asks(404, "GET", "/2");
    await asks(200, "PATCH", "/1", { content: "two" });
    await asks(412, "PATCH", "/1", { content: "two" }, { "if-match": "1" });
    await asks(422, "PATCH", "/1", {});
    await asks(412, "DELETE", "/1", undefined, { "if-match": "1" });
    await asks(200, "DELETE", "/1");
    await asks(409, "DELETE", "/1");
    await asks(409, "PATCH", "/1", { content: "two" });
    await asks(404, "POST", "/2/stop");
    await asks(409, "POST", "/1/stop");
    await asks(202, "POST", "", { content: "two" });
    await asks(200, "POST", "/2/stop");
    await fits("POST", all, "/api/sessions/ffffffff/exchanges", { content: "x" });
    const mine = await t.newSession();
    const refused = await fits("POST", all, `/api/sessions/${mine}/exchanges`, { content: "x" });
    expect(refused.status).toBe(403);
  });

  it("[HTTP-46] describes every answer, good and bad", async () => {
    const created = await fits("POST", "/api/sessions", "/api/sessions", {
      persona_name: "p",
      repo_path: "/",
    });
    const { id } = created.json as { id: string };
    await fits("POST", "/api/sessions", "/api/sessions");
    await fits("POST", "/api/sessions", "/api/sessions", { x: 1 });
    await fits("POST", "/api/sessions", "/api/sessions", "{");
    await fits("POST", "/api/sessions", "/api/sessions", "x".repeat(70_000));
    await fits("POST", "/api/sessions", "/api/sessions", "{}", { "content-type": "text/plain" });
    await fits("GET", "/api/sessions", "/api/sessions?limit=1");
    await fits("GET", "/api/sessions", "/api/sessions?limit=0");
    const one = "/api/sessions/{id}";
    await fits("POST", `${one}/messages`, `/api/sessions/${id}/messages`, { content: "hello" });
    await fits("POST", `${one}/messages`, `/api/sessions/${id}/messages`, {});
    await fits("POST", `${one}/messages`, "/api/sessions/ffffffff/messages", { content: "x" });
    await fits("POST", `${one}/messages`, `/api/sessions/${id}/messages`, {
      content: "é".repeat(600_000),
    });
    await fits("GET", one, `/api/sessions/${id}`);
    await fits("GET", one, "/api/sessions/ffffffff");
    await fits("GET", one, `/api/sessions/${id}?x=1`);
    const stream = await openStream(t.url, `/api/sessions/${id}/stream`);
    const [message] = await stream.received(1);
    const validate = ajv.getSchema(
      "https://reprise.invalid/openapi#/components/schemas/MessageInfo",
    );
    expect(validate?.(message), JSON.stringify(validate?.errors)).toBe(true);
    stream.cut();
    await fits("POST", `${one}/end`, `/api/sessions/${id}/end`);
    await fits("POST", `${one}/end`, `/api/sessions/${id}/end`, { x: 1 });
    await fits("POST", `${one}/messages`, `/api/sessions/${id}/messages`, { content: "late" });
    await fits("GET", `${one}/stream`, `/api/sessions/${id}/stream?last_seq=1`);
    await fits("GET", `${one}/stream`, `/api/sessions/${id}/stream?last_seq=x`);
    await fits("GET", `${one}/stream`, "/api/sessions/ffffffff/stream");
    const artifacts = "/api/artifacts";
    await fits("GET", `${artifacts}/schemas`, `${artifacts}/schemas`);
    await fits("GET", `${artifacts}/schemas/{id}`, `${artifacts}/schemas/dev%2Fphase-plan%401`);
    await fits("GET", `${artifacts}/schemas/{id}`, `${artifacts}/schemas/nothing`);
    const byPath = `${artifacts}/schemas/{group}/{name}`;
    await fits("GET", byPath, `${artifacts}/schemas/dev/phase-plan@1`);
    await fits("GET", byPath, `${artifacts}/schemas/dev/spec@1`);
    await fits("POST", `${artifacts}/validate`, `${artifacts}/validate`, { text: "{}" });
    await fits("POST", `${artifacts}/validate`, `${artifacts}/validate`, {});
    await fits("POST", `${artifacts}/plan`, `${artifacts}/plan`, { text: "{}" });
    await fits("POST", `${artifacts}/plan`, `${artifacts}/plan`, { text: JSON.stringify(plan()) });
    await fits("GET", "/livez", "/livez");
    await fits("GET", "/livez", "/livez", undefined, { origin: "http://evil.example" });
    await fits("GET", "/readyz", "/readyz");
    await fits("GET", "/openapi.json", "/openapi.json");
  });
});

function absolute(schema: object): object {
  return JSON.parse(
    JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"https://reprise.invalid/openapi#/'),
  ) as object;
}
