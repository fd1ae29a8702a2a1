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

it("[HTTP-70] [HTTP-71] a check that does not end blocks no other request, and the third check gets 503", async () => {
  await using server = await startTestServer({
    project: project({ "slow.json": SLOW_SCHEMA }),
    schemaCheckMs: 2000,
  });
  const checks = [validate(server), validate(server), validate(server)];
  expect((await server.call("GET", "/livez")).status).toBe(200);
  const answers = await Promise.all(checks);
  const codes = answers.map(
    ({ status, json }) => `${status} ${json.code ?? json.findings?.[0]?.code}`,
  );
  expect(codes.sort()).toEqual([
    "200 check_stopped",
    "200 check_stopped",
    "503 schema_checks_busy",
  ]);
  const refused = answers.find(({ status }) => status === 503);
  expect(refused?.headers.get("retry-after")).toBe("5");
});

it("[HTTP-72] a service that is asked to stop does not wait for a check that does not end", async () => {
  const server = await startTestServer({ project: project({ "slow.json": SLOW_SCHEMA }) });
  const check = validate(server).catch(() => null);
  // the check runs once its thread does; both stop with the service
  expect((await server.call("GET", "/livez")).status).toBe(200);
  await server[Symbol.asyncDispose]();
  await check;
});
