import { once } from "node:events";
import http from "node:http";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { DAY_MS, FAILED_LOGINS_MS } from "../../../src/core/access.ts";
import { createFailedLogins } from "../../../src/http/guards/failed-logins.ts";
import { listAccess, revokeAccess } from "../../../src/store/records/access/list.ts";
import { addLoginCode } from "../../../src/store/records/access/logins.ts";
import { hashOf, newSecret } from "../../../src/store/records/access/secrets.ts";
import { openStoreAt } from "../../helpers/open-store.ts";
import { openPage, PAGE_HEADERS, type PageClient } from "../../helpers/page-client.ts";
import { startTestServer, type TestServer } from "../../helpers/server.ts";
import type { ServerOptions } from "../../../src/http/serve.ts";

const TOKEN = "the-token-of-the-service";
const READ = "the-read-token";

let t: TestServer;
beforeAll(async () => {
  t = await startTestServer({ token: TOKEN, readToken: READ, loginCheckMs: 20 });
});
afterAll(() => t[Symbol.asyncDispose]());

async function loggedIn(token = TOKEN): Promise<PageClient> {
  const page = openPage(t);
  expect((await page.login({ token })).status).toBe(200);
  return page;
}

/** Moves a time of all logins into the past. */
function age(column: "created_at" | "last_used_at", ms: number): Promise<void> {
  return t.store.write(async ({ db, dialect }) => {
    await db
      .updateTable("page_logins")
      .set({ [column]: dialect.now(-ms) })
      .execute();
  }, null);
}

/** Another service on the same database, that answers for the address of the first one. */
function otherNode(
  tokens: Pick<ServerOptions, "token" | "readToken" | "madeToken" | "trustProxy">,
) {
  return startTestServer({ store: t.store, ...tokens });
}

/** With the cookies of a page, whatever port they were set for. */
function sameBrowser(page: PageClient, service: TestServer): PageClient {
  const other = openPage(service);
  const { port } = new URL(service.url);
  for (const set of page.cookies.values()) {
    other.cookies.set(`reprise-${port}`, set.replace(/^[^=]*/, `reprise-${port}`));
  }
  return other;
}

const roleOf = async (page: PageClient): Promise<string> => (await page.me()).role;

describe("a login", () => {
  it("[PAGE-18] is known on every node of the database, and after a restart", async () => {
    const page = await loggedIn();
    const reader = await loggedIn(READ);
    await using node = await startTestServer({
      store: await openStoreAt(t.path),
      token: TOKEN,
      readToken: READ,
    });
    expect(await roleOf(sameBrowser(page, node))).toBe("owner");
    expect(await roleOf(sameBrowser(reader, node))).toBe("reader");
    expect((await sameBrowser(page, node).call("POST", "/page/logout")).status).toBe(204);
    expect(await roleOf(page)).toBe("guest");
    await node.store.close();
  });

  it("[PAGE-5] ends with another token of the service, and one by the read token with another read token", async () => {
    const page = await loggedIn();
    const reader = await loggedIn(READ);
    for (const [tokens, owner, read] of [
      [{ token: TOKEN, readToken: READ }, "owner", "reader"],
      [{ token: TOKEN, readToken: "another" }, "owner", "guest"],
      [{ token: TOKEN }, "owner", "guest"],
      [{ token: "another", readToken: READ }, "guest", "guest"],
      [{ madeToken: "made" }, "guest", "guest"],
      [{}, "guest", "guest"],
    ] as const) {
      await using node = await otherNode(tokens);
      expect(await roleOf(sameBrowser(page, node)), JSON.stringify(tokens)).toBe(owner);
      expect(await roleOf(sameBrowser(reader, node)), JSON.stringify(tokens)).toBe(read);
    }
  });

  it("[PAGE-5] ends when it was not used for 12 hours, after 7 days, when it is revoked, and with a logout", async () => {
    const page = await loggedIn();
    await age("last_used_at", DAY_MS / 2);
    expect(await roleOf(page)).toBe("guest");
    await age("last_used_at", 0);
    expect(await roleOf(page)).toBe("owner");
    await age("created_at", 7 * DAY_MS);
    expect(await roleOf(page)).toBe("guest");

    const revoked = await loggedIn();
    const [entry] = await t.store.read(listAccess, null);
    await t.store.write(revokeAccess, { id: entry?.id ?? "" });
    expect(await roleOf(revoked)).toBe("guest");
    expect((await revoked.call("GET", "/api/sessions")).status).toBe(401);

    const left = await loggedIn();
    const copy = openPage(t, left);
    const { status, headers } = await left.call("POST", "/page/logout");
    expect(status).toBe(204);
    expect(headers.get("set-cookie")).toMatch(/^reprise-\d+=; Max-Age=0; Path=\/; HttpOnly/);
    expect(left.cookies.size).toBe(0);
    expect(await roleOf(copy)).toBe("guest");
    expect((await left.call("POST", "/page/logout")).status).toBe(204);
  });

  it("[PAGE-5] ends when the same browser logs in again", async () => {
    const page = await loggedIn();
    const copy = openPage(t, page);
    await page.login({ token: TOKEN });
    expect([await roleOf(page), await roleOf(copy)]).toEqual(["owner", "guest"]);
    await page.login({ token: "wrong" });
    expect(await roleOf(page)).toBe("owner");
  });

  it("[PAGE-19] keeps when it was last used, written again after 5 minutes", async () => {
    const page = await loggedIn();
    const lastUsed = async (): Promise<string> =>
      (await t.store.read(listAccess, null)).at(-1)?.last_used_at ?? "";
    await age("last_used_at", 4 * 60_000);
    const before = await lastUsed();
    await roleOf(page);
    expect(await lastUsed()).toBe(before);
    await age("last_used_at", 6 * 60_000);
    const old = await lastUsed();
    await Promise.all([roleOf(page), roleOf(page), roleOf(page)]);
    expect((await lastUsed()) > old).toBe(true);
  });

  it("[PAGE-5] takes the streams with it that it opened", async () => {
    const page = await loggedIn();
    const id = await t.newSession();
    const [name = "", set = ""] = [...page.cookies].flat();
    const cookie = `${name}=${set.slice(set.indexOf("=") + 1, set.indexOf(";"))}`;
    const paths = [`/api/sessions/${id}/stream`, `/api/sessions/${id}/live`, "/api/events"];
    const broken = await Promise.all(
      paths.map(async (path) => {
        const outgoing = http.get(`${t.url}${path}`, { headers: { ...PAGE_HEADERS, cookie } });
        const [stream] = (await once(outgoing, "response")) as [http.IncomingMessage];
        expect(stream.statusCode).toBe(200);
        stream.resume();
        return { until: once(stream, "error") };
      }),
    );
    await page.call("POST", "/page/logout");
    for (const { until } of broken) {
      await until;
    }
  });
});

describe("a one-time code", () => {
  it("[PAGE-6] is used once, however many send it at once, and only its hash is stored", async () => {
    const code = newSecret();
    expect(code).toMatch(/^[A-Za-z0-9_-]{22}$/);
    await t.store.write(addLoginCode, { hash: hashOf(code) });
    const rows = await t.store.read(
      ({ db }) => db.selectFrom("login_codes").selectAll().execute(),
      null,
    );
    expect(JSON.stringify(rows)).not.toContain(code);
    await using node = await otherNode({ token: TOKEN });
    const answers = await Promise.all(
      [t, node, t, node].map((service) => openPage(service).login({ code })),
    );
    expect(answers.map(({ status }) => String(status)).toSorted()).toEqual([
      "200",
      "401",
      "401",
      "401",
    ]);
    expect((await openPage(t).login({ code })).status).toBe(401);
  });

  it("[PAGE-1] makes nobody an owner on a service without a token", async () => {
    const code = newSecret();
    await t.store.write(addLoginCode, { hash: hashOf(code) });
    await using bare = await otherNode({});
    expect((await openPage(bare).login({ code })).status).toBe(401);
    await using made = await otherNode({ madeToken: "made" });
    expect((await openPage(made).login({ code })).json).toMatchObject({ role: "owner" });
  });
});

describe("failed logins", () => {
  it("[PAGE-8] are answered with 429 after 10 in a minute; the right token and code log in", async () => {
    await using service = await otherNode({ token: TOKEN });
    const page = openPage(service);
    for (let count = 0; count < 10; count += 1) {
      expect((await page.login(count % 2 === 0 ? { token: "no" } : { code: "no" })).status).toBe(
        401,
      );
    }
    for (const body of [{ token: "no" }, { code: "no" }, { share: "no" }]) {
      const answer = await page.login(body);
      expect(answer.status).toBe(429);
      expect(answer.json.code).toBe("too_many_logins");
      expect(answer.headers.get("retry-after")).toBe("60");
    }
    const code = newSecret();
    await t.store.write(addLoginCode, { hash: hashOf(code) });
    expect((await page.login({ code })).status).toBe(200);
    expect((await page.login({ token: TOKEN })).status).toBe(200);
  });

  it("[PAGE-128] count by address, which a trusted proxy names", async () => {
    await using service = await otherNode({ token: TOKEN, trustProxy: true });
    const page = openPage(service);
    const from = async (address: string): Promise<number> =>
      (await page.login({ token: "no" }, { "x-forwarded-for": address })).status;
    for (let count = 0; count < 10; count += 1) {
      expect(await from(`198.51.100.${count}, 203.0.113.1`)).toBe(401);
      expect(await from(`2001:db8:0:1::${count}`)).toBe(401);
    }
    expect(await from("203.0.113.1")).toBe(429);
    expect(await from("2001:db8:0:1:ffff::1")).toBe(429);
    expect(await from("2001:db8:0:2::1")).toBe(401);
    expect(await from("203.0.113.2")).toBe(401);
  });

  it("[PAGE-128] are counted for the latest 1,000 addresses", () => {
    const failed = createFailedLogins(() => 0);
    for (let count = 0; count < 10; count += 1) {
      failed.add("first");
    }
    expect(failed.add("first").code).toBe("too_many_logins");
    for (let count = 0; count < 1000; count += 1) {
      failed.add(`other ${count}`);
    }
    expect(failed.add("first").code).toBe("login_refused");
  });

  it("[PAGE-8] are forgotten after a minute", () => {
    let now = 0;
    const failed = createFailedLogins(() => now);
    const codes = Array.from({ length: 12 }, () => failed.add("here").code);
    expect(codes.slice(9)).toEqual(["login_refused", "too_many_logins", "too_many_logins"]);
    now += FAILED_LOGINS_MS;
    expect(failed.add("here").code).toBe("login_refused");
  });
});
