import { expect, it } from "vitest";

import type { Finding } from "../../src/artifacts/finding.ts";
import { project, SLOW_SCHEMA, SLOW_TEXT } from "../helpers/artifacts/projects.ts";
import { startTestServer, type TestServer } from "../helpers/server.ts";

const slow = { text: SLOW_TEXT, schema: SLOW_SCHEMA.$id };

function validate(server: TestServer) {
  return server.call<{ code?: string; findings?: readonly Finding[] }>(
    "POST",
    "/api/artifacts/validate",
    { body: slow },
  );
}

it("[HTTP-70] [HTTP-71] checks that do not end block no other request, and the third check gets 503", async () => {
  const server = await startTestServer({
    project: project({ "slow.json": SLOW_SCHEMA }),
    // none of them is stopped while another one has not come yet
    schemaCheckMs: 600_000,
  });
  const checks = [validate(server), validate(server), validate(server)];
  const ended = Promise.allSettled(checks);
  expect((await server.call("GET", "/livez")).status).toBe(200);
  const { status, json, headers } = await Promise.race(checks);
  expect([status, json.code]).toEqual([503, "schema_checks_busy"]);
  expect(headers.get("retry-after")).toBe("5");
  await server[Symbol.asyncDispose]();
  await ended;
});

it("[HTTP-70] a check that does not end is stopped after its time", async () => {
  await using server = await startTestServer({
    project: project({ "slow.json": SLOW_SCHEMA }),
    schemaCheckMs: 2000,
  });
  const { status, json } = await validate(server);
  expect([status, json.findings?.[0]?.code]).toEqual([200, "check_stopped"]);
});

it("[HTTP-72] a service that is asked to stop does not wait for a check that does not end", async () => {
  const server = await startTestServer({ project: project({ "slow.json": SLOW_SCHEMA }) });
  const check = validate(server).catch(() => null);
  // the check runs once its thread does; both stop with the service
  expect((await server.call("GET", "/livez")).status).toBe(200);
  await server[Symbol.asyncDispose]();
  await check;
});
