import { expect, it } from "vitest";

import { type CallOptions, startTestServer } from "../helpers/server.ts";

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly schema: object }[];
  readonly responses: Readonly<Record<string, object>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

it("[HTTP-245] OPTIONS other than a preflight gets 405 with the methods, also with allowed origins", async () => {
  const origin = "http://app.example:5173";
  await using t = await startTestServer({ allowOrigins: [origin] });
  await using plain = await startTestServer();
  for (const path of ["/api/sessions", "/api/sessions/x/messages", "/livez", "/openapi.json"]) {
    const answer = await t.call("OPTIONS", path);
    const other = await plain.call("OPTIONS", path);
    expect([answer.status, answer.headers.get("allow")]).toEqual([405, other.headers.get("allow")]);
  }
  expect((await t.call("OPTIONS", "/nowhere")).status).toBe(404);
});

it("[HTTP-246] every status of what clients send wrongly is in the document", async () => {
  await using t = await startTestServer();
  const { json: document } = await t.call<Document>("GET", "/openapi.json");
  const id = await t.newSession();
  const undescribed: string[] = [];
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const [method, { responses, parameters = [] }] of Object.entries(operations)) {
      if (/\/(stream|live|events)$/.test(path)) {
        continue;
      }
      const target = path.replace("{id}", id).replaceAll(/\{[^}]+\}/g, "1");
      const hasBody = ["post", "patch", "delete"].includes(method);
      const sent: CallOptions[] = [
        {},
        { headers: { "if-none-match": "*" } },
        { headers: { authorization: "Bearer wrong" } },
        { headers: { origin: "http://elsewhere.example" } },
        ...(hasBody
          ? [
              { body: "text", headers: { "content-type": "text/plain" } },
              { body: "{", headers: { "content-type": "application/json" } },
              { body: { unknown: 1 } },
              { body: "x".repeat(7_000_000), headers: { "content-type": "application/json" } },
            ]
          : []),
      ];
      for (const options of sent) {
        const answer = await t.call(method.toUpperCase(), target, options).catch(() => null);
        if (answer !== null && responses[answer.status] === undefined) {
          undescribed.push(`${method} ${path} ${answer.status}`);
        }
      }
      const n = parameters.find(({ name }) => name === "n");
      if (n !== undefined) {
        expect(n.schema).toMatchObject({ type: "integer", minimum: 1 });
      }
    }
  }
  expect(undescribed).toEqual([]);
  expect(document.paths["/openapi.json"]?.["get"]?.responses["304"]).toBeDefined();
  const other = await t.call<{ code: string }>("GET", `/api/sessions/${id}/exchanges/x`);
  expect([other.status, other.json.code]).toEqual([404, "exchange_not_found"]);
});
