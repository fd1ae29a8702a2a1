import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { createClient } from "../../src/client/client.ts";
import { announceNode } from "../../src/store/records/exchanges/nodes.ts";
import { openPage } from "../helpers/page-client.ts";
import { queue } from "../helpers/queue.ts";
import { startTestServer, type TestServer } from "../helpers/server.ts";

const TOKEN = "the-token";
const READ = "the-read-token";

let t: TestServer;
beforeAll(async () => {
  t = await startTestServer({ token: TOKEN, readToken: READ });
});
afterAll(() => t[Symbol.asyncDispose]());

const client = (token: string) => createClient({ baseUrl: t.url, token });

describe("the queue", () => {
  it("[PAGE-111] lists the sessions that wait, with what starts a node if nobody runs them", async () => {
    const { listWaiting, createSession, patchSession } = client(TOKEN);
    expect(await listWaiting()).toEqual([]);
    const first = await createSession({ repo_path: "/srv/it's" });
    await patchSession(first.id, { name: "Rent" });
    const second = await createSession();
    await queue(t.store, first.id, "Pay the rent");
    // the one that has waited longest is the first: both may not have the same millisecond
    const queuedBy = Date.now();
    await expect.poll(() => Date.now()).toBeGreaterThan(queuedBy);
    await queue(t.store, second.id, "Water the plants");
    const queued = {
      session_id: first.id,
      title: "Rent",
      repo_path: "/srv/it's",
      waits_since: expect.stringMatching(/Z$/),
      runnable: false,
      command: `reprise serve --port 0 --repos '/srv/it'\\''s'`,
    };
    await expect.poll(listWaiting).toEqual([
      queued,
      {
        ...queued,
        session_id: second.id,
        title: null,
        repo_path: null,
        command: "reprise serve --port 0",
      },
    ]);
    const node = "00000000-0000-4000-8000-000000000001";
    await t.store.write(announceNode, { id: node, agent: null, folders: { within: ["/srv"] } });
    await expect
      .poll(async () => (await listWaiting()).map(({ runnable }) => runnable))
      .toEqual([true, true]);
  });
});

describe("who has access", () => {
  it("[PAGE-112] is listed for the owner without secrets, and ended by an id", async () => {
    const { createSession, createShare, listAccess, revokeAccess } = client(TOKEN);
    const page = openPage(t);
    await page.login({ token: TOKEN });
    const { id } = await createSession();
    const { id: link, secret } = await createShare(id);
    const listed = await listAccess();
    expect(listed.map(({ kind, session_id }) => [kind, session_id])).toEqual([
      ["token", null],
      ["link", id],
    ]);
    expect(JSON.stringify(listed)).not.toContain(secret);
    for (const { id: entry } of listed) {
      await revokeAccess(entry);
    }
    expect(await listAccess()).toEqual([]);
    expect((await page.call("GET", "/api/sessions")).status).toBe(401);
    for (const unknown of [link, "x", "../access"]) {
      await expect(revokeAccess(unknown)).rejects.toMatchObject({ code: "access_not_found" });
    }
  });

  it("[PAGE-112] is not for a reader", async () => {
    const { listAccess, revokeAccess, listWaiting } = client(READ);
    const refused = { code: "token_required", status: 403 };
    await expect(listAccess()).rejects.toMatchObject(refused);
    await expect(revokeAccess("x")).rejects.toMatchObject(refused);
    expect(await listWaiting()).toBeInstanceOf(Array);
  });
});
