import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { expect, it, onTestFinished } from "vitest";

import { createExchanger } from "../../src/agent/exchange.ts";
import { RepriseError } from "../../src/core/errors.ts";
import { startNode } from "../../src/exchange/nodes/node.ts";
import { createReadyScan } from "../../src/exchange/nodes/ready-scan.ts";
import { whetherRuns } from "../../src/exchange/runnable.ts";
import { isServed, namedFolders, trustedFolders } from "../../src/exchange/served-folders.ts";
import {
  announceNode,
  listNodes,
  type NodeChoice,
  type NodeFolders,
  readSessionNodes,
  withdrawNode,
} from "../../src/store/records/exchanges/nodes.ts";
import { queueExchange } from "../../src/store/records/exchanges/queue.ts";
import { readExchange } from "../../src/store/records/exchanges/read.ts";
import { readReady } from "../../src/store/records/exchanges/ready.ts";
import type { Store } from "../../src/store/store.ts";
import { statementsOf } from "../helpers/count-statements.ts";
import { describeEngine, execute, newSession, openFresh } from "../helpers/engines.ts";
import { openBench } from "../helpers/exchanger.ts";
import { temporaryFolder } from "../helpers/temp.ts";
import { trustFile, trustFolder, UNTRUSTED } from "../helpers/trust.ts";
import { tokenHolder } from "../../src/core/principal.ts";

const CALLER = tokenHolder("owner");

async function queueIn(store: Store, repo_path: string | null): Promise<string> {
  const { id } = await newSession(store, { repo_path });
  const queued = { content: "a question", asked_by: "http", principal: CALLER } as const;
  await store.write(queueExchange, { reference: id, ...queued });
  return id;
}

/** Queues an exchange in so many sessions of a folder, which were ready a minute ago. */
async function queueMany(store: Store, count: number, repo_path: string): Promise<void> {
  const id = await queueIn(store, repo_path);
  const numbers = `WITH RECURSIVE numbers (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < ${count - 1})`;
  const old = "2026-01-01T00:00:00.000Z";
  await execute(
    store,
    `INSERT INTO sessions (id, repo_path, exchange_count, ready_at) ${numbers}
     SELECT 'other-' || i, repo_path, 1, '${old}' FROM sessions, numbers WHERE id = ?`,
    id,
  );
  await execute(
    store,
    `INSERT INTO exchanges (session_id, n, id, state, asked_by, content, queued_at) ${numbers}
     SELECT 'other-' || i, 1, 'exchange-' || i, 'queued', 'http', 'a question', queued_at
     FROM exchanges, numbers WHERE session_id = ?`,
    id,
  );
  await execute(store, "UPDATE sessions SET ready_at = ? WHERE id = ?", old, id);
}

async function found(scan: ReturnType<typeof createReadyScan>): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of scan.sessions()) {
    ids.push(id);
  }
  return ids;
}

const WHERE = { besides: false };

describeEngine("nodes", (engine) => {
  it("[CLI-180] what waits for other nodes is read once, and again after a restart of the scan", async () => {
    const store = await openFresh(engine);
    await queueMany(store, 1500, "/other");
    let asked = 0;
    let own = ["/mine"];
    const scan = createReadyScan({
      store,
      agent: null,
      serves: async (folder) => {
        asked += 1;
        return own.includes(folder ?? "");
      },
    });
    expect(await found(scan)).toEqual([]);
    expect(asked).toBe(1);
    const mine = await queueIn(store, "/mine");
    const { statements } = await statementsOf(async () => {
      expect(await found(scan)).toEqual([mine]);
    });
    expect(statements).toHaveLength(1);
    own = ["/other", "/mine"];
    expect(await found(scan)).toEqual([mine]);
    scan.restart();
    expect(await found(scan)).toHaveLength(1501);
  });

  it("[CLI-180] a session is found that another transaction made ready before the last one that was read", async () => {
    const store = await openFresh(engine);
    const scan = createReadyScan({
      store,
      agent: null,
      serves: (folder) => Promise.resolve(folder === "/mine"),
    });
    await queueIn(store, "/other");
    expect(await found(scan)).toEqual([]);
    const mine = await queueIn(store, "/mine");
    const late = `UPDATE sessions SET ready_at = (SELECT min(ready_at) FROM sessions) WHERE id = ?`;
    await execute(store, late, mine);
    expect(await found(scan)).toEqual([mine]);
  });

  it("[CLI-178] an exchange is runnable if a node that is alive serves its folder and its agent", async () => {
    const store = await openFresh(engine);
    const plain = await queueIn(store, null);
    const inFolder = await queueIn(store, "/repos/it's mine/deep");
    const ofAgent = await queueIn(store, null);
    await execute(store, "UPDATE sessions SET agent = 'watch' WHERE id = ?", ofAgent);
    const ask = (session_id: string, given = WHERE) =>
      whetherRuns(store, { session_id, state: "queued" }, given);
    const announce = (id: string, choice: NodeChoice) =>
      store.write(announceNode, { id, ...choice });
    const runnable = { runnable: true, command: null };

    expect(await ask(plain)).toEqual({ runnable: false, command: "reprise serve" });
    expect(await ask(ofAgent)).toEqual({
      runnable: false,
      command: "reprise serve --agent MODULE",
    });
    await announce("a", { agent: null, folders: { within: ["/other", "/repos/it"] } });
    expect(await ask(plain)).toEqual(runnable);
    expect(await ask(inFolder)).toEqual({
      runnable: false,
      command: "reprise serve --port 0 --repos '/repos/it'\\''s mine/deep'",
    });
    await announce("b", { agent: null, folders: { within: ["/repos/it's mine"] } });
    expect(await ask(inFolder)).toEqual(runnable);
    expect((await ask(ofAgent)).runnable).toBe(false);
    await announce("c", { agent: "watch", folders: { within: [] } });
    expect(await ask(ofAgent)).toEqual(runnable);
    expect(await whetherRuns(store, { session_id: inFolder, state: "done" }, WHERE)).toEqual(
      runnable,
    );

    await store.write(withdrawNode, { id: "b" });
    expect((await ask(inFolder)).runnable).toBe(false);
    // a node that is dead announces nothing more
    await execute(store, "UPDATE nodes SET seen_at = '2026-01-01T00:00:00.000Z' WHERE id = 'c'");
    expect((await ask(ofAgent)).runnable).toBe(false);
    await announce("a", { agent: null, folders: { within: [] } });
    const left = await store.read(({ db }) => db.selectFrom("nodes").select("id").execute(), null);
    expect(left).toEqual([{ id: "a" }]);
  });

  it("[CLI-181] a session that no agent has begun is runnable by a node of any agent", async () => {
    const store = await openFresh(engine);
    const session_id = await queueIn(store, null);
    await store.write(announceNode, { id: "c", agent: "watch", folders: { within: [] } });
    const ask = () => whetherRuns(store, { session_id, state: "queued" }, WHERE);
    expect((await ask()).runnable).toBe(true);
    await execute(store, "INSERT INTO threads (thread_id) VALUES (?)", `${session_id}:0`);
    expect(await ask()).toEqual({ runnable: false, command: "reprise serve --port 0" });
    const scan = (agent: string | null) =>
      createReadyScan({ store, agent, serves: () => Promise.resolve(true) });
    expect(await found(scan("watch"))).toEqual([]);
    expect(await found(scan(null))).toEqual([session_id]);
    expect(await store.read(readReady, { after: null, limit: 10 })).toHaveLength(1);
  });
});

it("[CLI-175] a folder is served by its real path, with those below it", async () => {
  const top = temporaryFolder();
  mkdirSync(join(top, "repo/below"), { recursive: true });
  mkdirSync(join(top, "repo-2"));
  symlinkSync(join(top, "repo/below"), join(top, "link"));
  symlinkSync(join(top, "repo-2"), join(top, "repo/out"));
  const { serves, announced } = namedFolders([join(top, "repo")]);
  for (const [folder, expected] of [
    ["repo", true],
    ["repo/below", true],
    ["repo/not-there", true],
    ["link", true],
    ["repo-2", false],
    ["repo/out", false],
    [".", false],
  ] as const) {
    const path = join(top, folder);
    expect(await serves(path), folder).toBe(expected);
    expect(await isServed(await announced(), path), folder).toBe(expected);
  }
});

it("[CLI-178] what a user trusts is one project, as far as its folder is known here", async () => {
  const top = temporaryFolder();
  mkdirSync(join(top, "repo/.git"), { recursive: true });
  mkdirSync(join(top, "repo/below/inner/.git"), { recursive: true });
  const folders: NodeFolders = { trusted: [join(top, "repo"), "/on/another/machine"] };
  for (const [folder, expected] of [
    [join(top, "repo/below"), true],
    [join(top, "repo/below/inner"), false],
    ["/on/another/machine/below", true],
    ["/on/another/machine-2", false],
  ] as const) {
    expect(await isServed(folders, folder), folder).toBe(expected);
  }
});

it("[CLI-177] a node runs what waits in a folder as soon as its user trusts it", async () => {
  const home = temporaryFolder();
  const repo = temporaryFolder();
  const bench = await openBench({ env: () => ({}) }, { REPRISE_MODEL: "demo" });
  const { store } = bench;
  const id = await queueIn(store, repo);
  const source = { ...UNTRUSTED, file: trustFile(home) };
  const node = await startNode({
    store,
    agent: null,
    jobs: 1,
    openExchanger: () => Promise.resolve(createExchanger(bench.parts)),
    folders: trustedFolders(source),
    pollMs: 20,
    seenMs: 20,
    onFailure: (error) => {
      throw error;
    },
  });
  onTestFinished(() => node.close());
  const runs = () => whetherRuns(store, { session_id: id, state: "queued" }, WHERE);
  expect((await runs()).runnable).toBe(false);
  await sleep(100);
  const state = async () => (await store.read(readExchange, { reference: id, n: 1 })).state;
  expect(await state()).toBe("queued");
  trustFolder(home, repo);
  while ((await state()) !== "done") {
    await sleep(10);
  }
  expect((await runs()).runnable).toBe(true);
  await node.retire();
  expect((await runs()).runnable).toBe(false);
});

it("[CLI-174] a node that cannot open its agent leaves all exchanges queued, and reports it once", async () => {
  const bench = await openBench({ env: () => ({}) }, { REPRISE_MODEL: "demo" });
  const { store } = bench;
  const ids = [await queueIn(store, null), await queueIn(store, null)];
  const failures: unknown[] = [];
  const opened = { times: 0 };
  const thrice = Promise.withResolvers<void>();
  const node = await startNode({
    store,
    agent: null,
    jobs: 1,
    openExchanger: () => {
      opened.times += 1;
      if (opened.times === 3) {
        thrice.resolve();
      }
      return Promise.reject(new RepriseError("config_invalid", "Correct it."));
    },
    folders: namedFolders([]),
    pollMs: 20,
    onFailure: (error) => failures.push(error),
  });
  onTestFinished(() => node.close());
  await thrice.promise;
  await node.close();
  expect(failures).toMatchObject([{ code: "config_invalid" }]);
  for (const reference of ids) {
    const record = await store.read(readExchange, { reference, n: 1 });
    expect(record).toMatchObject({ state: "queued", revision: 1 });
  }
});

describeEngine("a node that was killed while its clock was ahead", (engine) => {
  it("[OPS-30] counts as gone; one whose clock is a little ahead is alive", async () => {
    const store = await openFresh(engine);
    const announced = { agent: null, folders: { within: [] } } as const;
    await store.write(announceNode, { id: "node", ...announced });
    const session_id = await queueIn(store, null);
    const seen = async (aheadMs: number): Promise<readonly string[]> => {
      const at = new Date(Date.now() + aheadMs).toISOString();
      await execute(store, "UPDATE nodes SET seen_at = ? WHERE id = ?", at, "node");
      const known = await store.read(readSessionNodes, { session_id });
      expect(known?.nodes).toHaveLength((await store.read(listNodes, null)).length);
      return (await store.read(listNodes, null)).map(({ id }) => id);
    };
    expect(await seen(5000)).toEqual(["node"]);
    expect(await seen(86_400_000)).toEqual([]);
    await store.write(announceNode, { id: "other", ...announced });
    expect((await store.read(listNodes, null)).map(({ id }) => id)).toEqual(["other"]);
  });
});
