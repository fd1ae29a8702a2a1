import { setTimeout as sleep } from "node:timers/promises";

import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";

import { openPostgresStore } from "../../../src/store/engines/postgres/open.ts";
import { appendUserMessage } from "../../../src/store/records/messages/append.ts";
import { readMessagesAfter } from "../../../src/store/records/messages/read.ts";
import { createSessionOnce } from "../../../src/store/records/sessions/create-once.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { databaseUrl, type EmbeddedServer, startEmbedded } from "../../helpers/postgres-server.ts";

const UNKNOWN = {
  code: "database_unavailable",
  message: expect.stringMatching(/The change may or may not be stored/),
};

describe("a commit that waits for a standby", () => {
  let server: EmbeddedServer;
  beforeAll(async () => {
    server = await startEmbedded();
  });
  afterAll(() => server.stop());

  it.each(["pg_terminate_backend", "pg_cancel_backend"] as const)(
    "[PG-32] is not acknowledged when its wait is ended by %s",
    async (end) => {
      const bench = await openBench(server);
      await bench.loseStandby();
      const refusal = refusalOf(append(bench, "alone"));

      await bench.endWait(end);
      // the proof that it is kept waits as well
      await bench.endWait(end);

      expect(await refusal).toMatchObject(UNKNOWN);
      await bench.findStandby();
      expect(await contents(bench)).toEqual(["alone"]);
    },
  );

  it.each(["pg_terminate_backend", "pg_cancel_backend"] as const)(
    "[PG-32] is acknowledged once a later one has its standby, after %s",
    async (end) => {
      const bench = await openBench(server);
      await bench.loseStandby();
      const appending = append(bench, "replicated");

      await bench.endWait(end);
      await bench.waits();
      await bench.findStandby();

      expect((await appending).message).toMatchObject({ seq: 1 });
      expect(await contents(bench)).toEqual(["replicated"]);
    },
  );

  it("[PG-33] is awaited by a repeat that finds what it stored", async () => {
    const bench = await openBench(server);
    await bench.loseStandby();
    const refusal = refusalOf(create(bench));
    await bench.endWait("pg_terminate_backend");
    await bench.endWait("pg_terminate_backend");
    expect(await refusal).toMatchObject(UNKNOWN);

    let isAnswered = false;
    const repeated = create(bench).finally(() => (isAnswered = true));
    await bench.waits();

    expect(isAnswered).toBe(false);
    await bench.findStandby();
    expect(await create(bench)).toEqual(await repeated);
  });

  it("[PG-32] [PG-33] needs no right that an ordinary user lacks, and is seen whatever warnings it suppresses", async () => {
    const bench = await openBench(server, { client_min_messages: "error" });
    expect(await create(bench)).toEqual(await create(bench));
    await bench.loseStandby();
    const refusal = refusalOf(append(bench, "alone"));

    await bench.endWait("pg_cancel_backend");
    await bench.endWait("pg_cancel_backend");

    expect(await refusal).toMatchObject(UNKNOWN);
    await bench.findStandby();
  });
});

type Bench = Awaited<ReturnType<typeof openBench>>;
let databases = 0;

/** A store of a user who may do nothing but use a separate database. */
async function openBench({ url }: EmbeddedServer, settings: Readonly<Record<string, string>> = {}) {
  const name = `standby_${(databases += 1)}`;
  const admin = new Client({ connectionString: url });
  await admin.connect();
  const run = async (statement: string) => (await admin.query<{ pid: number }>(statement)).rows;
  await run(`CREATE ROLE ${name} LOGIN PASSWORD 'secret'`);
  for (const [setting, value] of Object.entries(settings)) {
    await run(`ALTER ROLE ${name} SET ${setting} = ${value}`);
  }
  await run(`CREATE DATABASE ${name} OWNER ${name} ENCODING 'UTF8' TEMPLATE template0`);
  const address = new URL(databaseUrl(url, name));
  Object.assign(address, { username: name, password: "secret" });
  const store = await openPostgresStore({ url: `${address.href}?hints=off` });
  const { id } = await store.write(createSession, {});
  const setStandby = async (standby: string): Promise<void> => {
    await run(`ALTER SYSTEM SET synchronous_standby_names = '${standby}'`);
    await run("SELECT pg_reload_conf()");
  };
  onTestFinished(async () => {
    await setStandby("");
    await store.close();
    await admin.end();
  });
  const ended = new Set<string>();
  /** The one commit of the store that waits, other than those whose wait was ended. */
  const waits = async () => {
    const waiting = async () => {
      const rows = await admin.query<{ pid: number; since: string }>(
        `SELECT pid, query_start::text AS since FROM pg_stat_activity
         WHERE usename = '${name}' AND wait_event = 'SyncRep'`,
      );
      return rows.rows.filter(({ pid, since }) => !ended.has(`${pid} ${since}`));
    };
    for (;;) {
      const [first] = await waiting();
      if (first !== undefined) {
        return first;
      }
      await sleep(5);
    }
  };
  return {
    store,
    id,
    waits,
    /** From now on every commit waits. */
    loseStandby: async () => {
      await setStandby("nobody");
      while (!(await doesWait(url, run))) {
        // the server has not read its settings yet
      }
    },
    findStandby: () => setStandby(""),
    endWait: async (end: string): Promise<void> => {
      const { pid, since } = await waits();
      ended.add(`${pid} ${since}`);
      await run(`SELECT ${end}(${pid})`);
    },
  };
}

/** True if a commit of somebody else waits for a standby now; it is then ended. */
async function doesWait(
  url: string,
  run: (statement: string) => Promise<readonly { readonly pid: number }[]>,
): Promise<boolean> {
  const client = new Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
  const pid = rows[0]?.pid ?? 0;
  const committed = client.query("SELECT pg_logical_emit_message(true, 'probe', '')").then(
    () => "committed" as const,
    () => "ended" as const,
  );
  const end = `SELECT pg_terminate_backend(pid), pid FROM pg_stat_activity WHERE pid = ${pid} AND wait_event = 'SyncRep'`;
  for (;;) {
    const isWaiting = (await run(end)).length > 0;
    const how = await Promise.race(isWaiting ? [committed] : [committed, sleep(5)]);
    if (how !== undefined) {
      await client.end();
      return isWaiting;
    }
  }
}

/** Handled at once: nobody awaits it until its waits have been ended. */
function refusalOf(writing: Promise<unknown>): Promise<unknown> {
  return writing.then(
    () => null,
    (error: unknown) => error,
  );
}

function append({ store, id }: Bench, content: string) {
  return store.write(appendUserMessage, { reference: id, content });
}

function create({ store }: Bench) {
  return store.write(createSessionOnce, { create_key: "one key" });
}

async function contents({ store, id }: Bench): Promise<string[]> {
  const rows = await store.read(readMessagesAfter, {
    session_id: id,
    after_seq: 0,
    all: true,
    limit: 10,
  });
  return rows.map(({ content }) => content);
}
