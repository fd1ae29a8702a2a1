import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll, expect, it } from "vitest";

import { type Client, createClient, type ListOptions } from "../../src/client/client.ts";
import { takeLease } from "../../src/store/records/leases/lease.ts";
import { thisProcess } from "../../src/store/records/leases/this-process.ts";
import { createSession } from "../../src/store/records/sessions/create.ts";
import { claimNext } from "../helpers/queue.ts";
import { startTestServer, type TestServer } from "../helpers/server.ts";
import { makeFolder } from "../helpers/temp.ts";

const TOKEN = "a-token";

let t: TestServer;
let client: Client;
/** By what the session is. */
const ids: Record<string, string> = {};
const made = makeFolder();
const folder = made.path;

beforeAll(async () => {
  t = await startTestServer({ token: TOKEN });
  client = createClient({ baseUrl: t.url, token: TOKEN });
  const make = async (name: string, request = {}) => {
    ids[name] = (await client.createSession(request)).id;
    return ids[name];
  };
  mkdirSync(join(folder, "here"));
  symlinkSync(join(folder, "here"), join(folder, "link"));
  const root = await make("root", { repo_path: join(folder, "here"), metadata: { team: "a:b" } });
  await client.patchSession(root, { name: "Release 2" });
  await make("archived", { metadata: { team: "a:b", kind: "x" } });
  await client.patchSession(ids["archived"] ?? "", { archived: true });
  await make("running");
  await client.queueExchange(ids["running"] ?? "", "release notes");
  await claimNext(t.store, ids["running"] ?? "");
  await make("held");
  const owner = thisProcess("test");
  await t.store.write(takeLease, { session_id: ids["held"] ?? "", owner, life_ms: 60_000 });
  await make("interrupted");
  await client.queueExchange(ids["interrupted"] ?? "", "x");
  await claimNext(t.store, ids["interrupted"] ?? "");
  await t.store.write(
    ({ db }) =>
      db
        .updateTable("sessions")
        .set({ lease_owner: null, lease_expires_at: null })
        .where("id", "=", ids["interrupted"] ?? "")
        .execute(),
    null,
  );
  ids["fork"] = (await client.forkSession(ids["archived"] ?? "")).id;
  ids["child"] = (await t.store.write(createSession, { parent_session_id: root })).id;
});
afterAll(async () => {
  made[Symbol.dispose]();
  await t[Symbol.asyncDispose]();
});

async function listed(options: ListOptions): Promise<string[]> {
  const found: string[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const at: ListOptions = cursor === "" ? {} : { cursor };
    const page = await client.listSessions({ ...options, limit: 2, ...at });
    found.push(...page.sessions.map(({ id }) => id));
    cursor = page.next;
  }
  return found.map((id) => Object.keys(ids).find((name) => ids[name] === id) ?? id).toSorted();
}

it("[HTTP-158] each filter leaves the sessions that pass it, on all pages, and they add up", async () => {
  const all = Object.keys(ids).toSorted();
  const without = (...names: string[]) => all.filter((name) => !names.includes(name));
  for (const [options, expected] of [
    [{}, all],
    [{ parent: ids["root"] ?? "" }, ["child"]],
    [{ parent: ids["child"] ?? "" }, []],
    [{ forked_from: ids["archived"] ?? "" }, ["fork"]],
    [{ forked_from: ids["fork"] ?? "" }, []],
    [{ roots: true }, without("child")],
    [{ roots: false }, all],
    [{ activity: "running" }, ["held", "running"]],
    [{ activity: "interrupted" }, ["interrupted"]],
    [{ activity: "idle" }, without("held", "running", "interrupted")],
    [{ repo_path: join(folder, "link", ".") }, ["root"]],
    [{ repo_path: folder }, []],
    [{ title: "rel" }, ["root", "running"]],
    [{ title: "RELEASE N" }, ["running"]],
    [{ title: "elease" }, []],
    [{ archived: true }, ["archived"]],
    [{ archived: false }, without("archived")],
    [{ metadata: "team:a:b" }, ["archived", "root"]],
    [{ metadata: "team:a" }, []],
    [{ metadata: "kind:x" }, ["archived"]],
    [{ metadata: "team:a:b", archived: false, title: "release", roots: true }, ["root"]],
    [{ activity: "idle", repo_path: join(folder, "here"), state: "active" }, ["root"]],
    [{ repo_path: join(folder, "here"), project_key: "0123456789abcdef" }, []],
  ] as const) {
    for (const order of ["activity", "created"] as const) {
      expect(await listed({ ...options, order }), JSON.stringify(options)).toEqual(expected);
    }
  }
});

it("[HTTP-159] the next page has the same filters", async () => {
  const headers = { authorization: `Bearer ${TOKEN}` };
  const query = "limit=1&archived=false&roots=true&title=rel";
  const answer = await t.call("GET", `/api/sessions?${query}`, { headers });
  const link = new URLSearchParams(/\?([^>]*)>/.exec(answer.headers.get("link") ?? "")?.[1]);
  link.delete("cursor");
  expect(Object.fromEntries(link)).toEqual(Object.fromEntries(new URLSearchParams(query)));
});

it("[HTTP-160] refuses filters that cannot be", async () => {
  const headers = { authorization: `Bearer ${TOKEN}` };
  for (const query of [
    "parent=12345678",
    "forked_from=12345678",
    "roots=1",
    "activity=busy",
    "repo_path=relative",
    "title=",
    `q=${"x".repeat(256)}`,
    "title=%00",
    "archived=yes",
    "metadata=team",
    "metadata=:x",
    "metadata=__proto__:x",
    "metadata=team:a&metadata=kind:x",
  ]) {
    expect(await t.call("GET", `/api/sessions?${query}`, { headers }), query).toMatchObject({
      status: 422,
      json: { code: "invalid_request" },
    });
  }
});

it("[HTTP-161] an archived session stays in the list, as every other one", async () => {
  expect(await listed({})).toContain("archived");
  expect(await client.getSession(ids["archived"] ?? "")).toMatchObject({ state: "active" });
  expect(await client.postMessage(ids["archived"] ?? "", "still")).toMatchObject({ seq: 1 });
  expect(await listed({ archived: true })).toEqual(["archived"]);
});
