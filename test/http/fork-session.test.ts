import { expect, it } from "vitest";

import { createClient } from "../../src/client/client.ts";
import { startTestServer } from "../helpers/server.ts";

it("[HTTP-350] [HTTP-351] a session is forked, once for each key, and names its origin", async () => {
  await using t = await startTestServer();
  const client = createClient({ baseUrl: t.url });
  const origin = await client.createSession();
  await client.postMessage(origin.id, "first");
  await client.postMessage(origin.id, "second");
  expect(origin.forked_from).toBeNull();
  const path = `/api/sessions/${origin.id.slice(0, 8)}/fork`;
  const { status, json, headers } = await t.call<{ id: string }>("POST", path);
  expect(status).toBe(201);
  expect(headers.get("location")).toBe(`/api/sessions/${json.id}`);
  expect(json).toMatchObject({ forked_from: { session_id: origin.id, seq: 2 }, title: "first" });
  const options = { at_seq: 1, idempotencyKey: "k" };
  const fork = await client.forkSession(origin.id, options);
  expect(fork.forked_from?.seq).toBe(1);
  expect(await client.forkSession(origin.id, options)).toEqual(fork);
  expect((await client.getSession(fork.id)).messages).toHaveLength(1);
  const other = client.forkSession(origin.id, { ...options, at_seq: 2 });
  await expect(other).rejects.toMatchObject({ status: 422, code: "idempotency_key_reused" });
  const missing = client.forkSession(origin.id, { at_seq: 3 });
  await expect(missing).rejects.toMatchObject({ code: "invalid_request" });
});
