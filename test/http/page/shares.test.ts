import { afterAll, beforeAll, expect, it } from "vitest";

import { createClient } from "../../../src/client/client.ts";
import { DAY_MS } from "../../../src/core/access.ts";
import { exportsOf } from "../../helpers/sessions/stored.ts";
import { openPage } from "../../helpers/page-client.ts";
import { startTestServer, type TestServer } from "../../helpers/server.ts";

const TOKEN = "the-token-of-the-service";

let t: TestServer;
let client: ReturnType<typeof createClient>;
beforeAll(async () => {
  t = await startTestServer({ token: TOKEN, publicPath: "/tools" });
  client = createClient({ baseUrl: t.url, token: TOKEN });
});
afterAll(() => t[Symbol.asyncDispose]());

it("[PAGE-11] a link lasts 7 days or as long as it was made for, is listed, and ends when it is revoked", async () => {
  const id = await t.newSession();
  const made = await client.createShare(id.slice(0, 8));
  expect(made.secret).toMatch(/^[\w-]{22}$/);
  expect(made.path).toBe(`/tools/shared/${id}#share=${made.secret}`);
  const longer = await client.createShare(id, { expires_in_days: 365 });
  const days = (time: string): number => Math.round((Date.parse(time) - Date.now()) / DAY_MS);
  expect([days(made.expires_at), days(longer.expires_at)]).toEqual([7, 365]);
  const listed = await client.listShares(id);
  expect(listed.map((each) => each.id).toSorted()).toEqual([made.id, longer.id].toSorted());
  expect(JSON.stringify(listed)).not.toContain(made.secret);
  const page = openPage(t);
  expect((await page.login({ share: made.secret })).json).toMatchObject({ session: id });
  await client.revokeShare(id, made.id);
  expect(await page.me()).toMatchObject({ role: "guest" });
  expect((await page.call("GET", `/api/sessions/${id}`)).status).toBe(401);
  expect((await page.login({ share: made.secret })).status).toBe(401);
  expect((await client.listShares(id)).map((each) => each.id)).toEqual([longer.id]);
  const elsewhere = await t.newSession();
  for (const [session, share] of [
    [id, made.id],
    [elsewhere, longer.id],
    [id, "nonsense"],
    [id, "a\0b"],
  ] as const) {
    await expect(client.revokeShare(session, share)).rejects.toMatchObject({
      code: "access_not_found",
    });
  }
});

it("[PAGE-11] a link continues when its session ends, and ends when it is deleted", async () => {
  const id = await t.newSession();
  const { secret } = await client.createShare(id);
  const page = openPage(t);
  await page.login({ share: secret });
  await client.endSession(id);
  expect((await page.call("GET", `/api/sessions/${id}/messages`)).status).toBe(200);
  await client.deleteSession(id);
  expect(await page.me()).toMatchObject({ role: "guest" });
  expect((await page.login({ share: secret })).status).toBe(401);
});

it("[PAGE-11] only an owner makes, lists and ends links, of sessions that are there, for 1 to 365 days", async () => {
  const id = await t.newSession();
  for (const [body, status] of [
    [{ expires_in_days: 0 }, 422],
    [{ expires_in_days: 366 }, 422],
    [{ expires_in_days: 1.5 }, 422],
    [{ expires_in_days: "7" }, 422],
    [{ expires: 7 }, 422],
    [[], 422],
  ] as const) {
    const headers = { authorization: `Bearer ${TOKEN}` };
    const answer = await t.call("POST", `/api/sessions/${id}/shares`, { headers, body });
    expect(answer.status, JSON.stringify(body)).toBe(status);
  }
  const nowhere = "00000000-0000-4000-8000-000000000000";
  for (const call of [
    () => client.createShare(nowhere),
    () => client.listShares(nowhere),
    () => client.revokeShare(nowhere, nowhere),
  ]) {
    await expect(call()).rejects.toMatchObject({ code: "session_not_found" });
  }
  expect(await client.listShares(id)).toEqual([]);
});

it("[PAGE-14] no secret is logged, stored or exported", async () => {
  const id = await t.newSession();
  const { secret } = await client.createShare(id);
  const page = openPage(t);
  await page.login({ share: secret });
  await page.call("GET", `/shared/${id}?share=${secret}`);
  const [set = ""] = page.cookies.values();
  const stored = await t.store.read(
    async ({ db }) => [
      await db.selectFrom("session_shares").selectAll().execute(),
      await db.selectFrom("page_logins").selectAll().execute(),
    ],
    null,
  );
  const signature = set.slice(set.indexOf(".") + 1, set.indexOf(";"));
  const texts = [JSON.stringify(t.log), JSON.stringify(stored)];
  const exported = [...(await exportsOf(t.store)).values()].join("\n");
  const rows = stored.flat().map((row) => row.id);
  for (const text of [...texts, exported]) {
    expect(text).not.toContain(secret);
    expect(text).not.toContain(signature);
  }
  for (const row of rows) {
    expect(exported).not.toContain(row);
  }
});
