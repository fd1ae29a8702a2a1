import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

import { sql } from "kysely";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";

import { isRepriseError } from "../../../src/core/errors.ts";
import { openPostgresStore } from "../../../src/store/engines/postgres/open.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { listSessions } from "../../../src/store/records/sessions/list.ts";
import type { Store } from "../../../src/store/store.ts";
import { freePort } from "../../helpers/free-port.ts";
import {
  admin,
  databaseUrl,
  type EmbeddedServer,
  startEmbedded,
} from "../../helpers/postgres-server.ts";
import { startCuttingProxy } from "../../helpers/postgres/cutting-proxy.ts";
import { severalHosts } from "../../helpers/postgres/several-hosts.ts";
import { startStandbyPair } from "../../helpers/postgres/standby-pair.ts";
import { createPostgres } from "../../helpers/postgres.ts";
import { startTcpServer } from "../../helpers/tcp-server.ts";

const DATABASE = "hosts";
const NO_PRIMARY = {
  code: "database_unavailable",
  message:
    "No server in the address of the database is reachable and accepts writes. Check the servers, and target_session_attrs in the address.",
};

describe("a primary server and its standby in one address", () => {
  let source: EmbeddedServer;
  beforeAll(async () => {
    source = await startEmbedded();
    await admin(source.url, `CREATE DATABASE ${DATABASE} ENCODING 'UTF8' TEMPLATE template0`);
    await (await openPostgresStore({ url: databaseUrl(source.url, DATABASE) })).close();
    // its folder is copied, and nothing may change meanwhile
    await source.crash();
  });
  afterAll(() => source.stop());

  it("[PG-34] [PG-35] [PG-37] one is chosen by what it is, and the other one once it is promoted", async () => {
    const pair = await startStandbyPair(source, DATABASE);
    const [primary, standby] = [portOf(pair.url), portOf(pair.standbyUrl)];
    const both = [pair.standbyUrl, pair.url];
    const chosen: (readonly [parameters: string, port: number])[] = [
      ["", primary],
      ["target_session_attrs=read-write", primary],
      ["target_session_attrs=primary", primary],
      ["target_session_attrs=any", standby],
      ["target_session_attrs=standby", standby],
      ["target_session_attrs=read-only", standby],
    ];
    for (const [parameters, port] of chosen) {
      const store = await open(severalHosts(both, parameters));
      expect([parameters, await portOfServer(store)]).toEqual([parameters, port]);
    }
    const onlyStandby = `${pair.standbyUrl}?target_session_attrs=read-write`;
    await expect(openPostgresStore({ url: onlyStandby })).rejects.toMatchObject(NO_PRIMARY);

    const [writer, listener] = [await open(severalHosts(both)), await open(severalHosts(both))];
    const heard = new Set<string>();
    listener.onCommit((ids) => ids.forEach((id) => heard.add(id)));
    await untilHeard(writer, heard);

    await pair.kill();
    await expect(writer.write(createSession, {})).rejects.toMatchObject(NO_PRIMARY);
    await pair.promote();

    await untilWritten(writer);
    expect(await portOfServer(writer)).toBe(standby);
    heard.clear();
    await untilHeard(writer, heard);
    expect(await portOfServer(listener)).toBe(standby);
  });

  it("[PG-36] a server that becomes read-only is left by every connection, once it refuses a write", async () => {
    const pair = await startStandbyPair(source, DATABASE);
    const store = await open(severalHosts([pair.url, pair.standbyUrl]));
    const heard = new Set<string>();
    store.onCommit((ids) => ids.forEach((id) => heard.add(id)));
    // several connections, of which one learns of it
    await Promise.all(Array.from({ length: 5 }, () => store.write(createSession, {})));
    const before = (await store.read(listSessions, { limit: 100 })).sessions.length;

    await pair.promote();
    await admin(pair.url, "ALTER SYSTEM SET default_transaction_read_only = on");
    await admin(pair.url, "SELECT pg_reload_conf()");
    await untilReadOnly(pair.url);

    await store.write(createSession, {});
    const ports = await Promise.all(Array.from({ length: 8 }, () => portOfServer(store)));
    expect(new Set(ports)).toEqual(new Set([portOf(pair.standbyUrl)]));
    const { sessions } = await store.read(listSessions, { limit: 100 });
    expect(sessions).toHaveLength(before + 1);
    await untilHeard(await open(pair.standbyUrl), heard);
  });
});

describe("an address with hosts of which one is of no use", () => {
  it("[PG-34] leads to the next one if the first does not answer, for each connection and hint", async () => {
    const { url } = await database();
    let asked = 0;
    await using silent = await startTcpServer((socket) => {
      asked += 1;
      socket.pause();
    });
    const store = await open(severalHosts([silent.inPlaceOf(url), url], "connect_timeout=3"));
    const listener = await open(severalHosts([silent.inPlaceOf(url), url], "connect_timeout=3"));

    const heard = new Set<string>();
    listener.onCommit((ids) => ids.forEach((id) => heard.add(id)));
    await untilHeard(store, heard);

    expect(
      new Set(await Promise.all(Array.from({ length: 30 }, () => portOfServer(store)))),
    ).toEqual(new Set([portOf(url)]));
    // once by each store, which then knows better
    expect(asked).toBe(2);
  });

  it("[PG-34] leads to the next one if the first refuses, whatever the reason is", async () => {
    const { url, name } = await database();
    const other = await startEmbedded();
    onTestFinished(() => other.stop());
    const withoutIt = databaseUrl(other.url, name);
    const nobody = new URL(url);
    nobody.port = `${await freePort()}`;

    const store = await open(severalHosts([withoutIt, nobody.href, url]));

    expect(await portOfServer(store)).toBe(portOf(url));
    await expect(
      openPostgresStore({ url: severalHosts([withoutIt, withoutIt]) }),
    ).rejects.toMatchObject({
      code: "database_unavailable",
      message: expect.stringMatching(/no database of this name/),
    });
  });

  it("[PG-35] a server that is back is found again, also if it was the only one", async () => {
    const { url } = await database();
    const proxy = await startCuttingProxy(url);
    const nobody = new URL(url);
    nobody.port = `${await freePort()}`;
    const store = await open(severalHosts([proxy.url, nobody.href]));
    proxy.refuseAll();
    await expect(store.write(createSession, {})).rejects.toMatchObject({
      code: "database_unavailable",
    });

    proxy.open();

    await store.write(createSession, {});
    expect((await store.read(listSessions, { limit: 9 })).sessions).toHaveLength(1);
  });

  it("[PG-34] a server without a free connection keeps those that it has", async () => {
    const { url } = await database();
    const full = await startFullServer(url);
    const store = await open(severalHosts([full.url, url], "hints=off"));

    // the only connection is in use meanwhile
    await store.read(async () => {
      await expect(store.write(createSession, {})).rejects.toMatchObject({
        code: "database_unavailable",
        message: expect.stringMatching(/has no connection left/),
      });
    }, null);

    expect(await full.serves(store)).toBe(true);
  });
});

/** Lets one connection through, and answers to any other one that the server has no connection left. */
async function startFullServer(databaseUrl: string) {
  const { hostname, port } = new URL(databaseUrl);
  const passed = new Set<number>();
  const server = await startTcpServer((near, { keep }) => {
    if (passed.size > 0) {
      near.end(REFUSAL);
      return;
    }
    passed.add(0);
    const far = keep(connect(Number(port), hostname));
    far.once("connect", () => passed.add(far.localPort ?? 0));
    near.pipe(far).pipe(near);
  });
  onTestFinished(() => server[Symbol.asyncDispose]());
  return {
    url: server.inPlaceOf(databaseUrl),
    /** True if the store still uses the connection that was let through. */
    serves: async (store: Store): Promise<boolean> => {
      const { rows } = await store.read(
        (tx) => sql<{ port: number }>`SELECT inet_client_port() AS port`.execute(tx.db),
        null,
      );
      return passed.has(rows[0]?.port ?? -1);
    },
  };
}

const FIELDS = Buffer.from("SFATAL\0VFATAL\0C53300\0Msorry, too many clients already\0\0");
const REFUSAL = Buffer.concat([Buffer.from("E\0\0\0"), Buffer.from([FIELDS.length + 4]), FIELDS]);

async function database() {
  const made = await createPostgres();
  onTestFinished(() => made[Symbol.asyncDispose]());
  return made;
}

async function open(url: string): Promise<Store> {
  const store = await openPostgresStore({ url });
  onTestFinished(() => store.close());
  return store;
}

async function portOfServer(store: Store): Promise<number> {
  const { rows } = await store.read(
    (tx) => sql<{ port: number }>`SELECT inet_server_port() AS port`.execute(tx.db),
    null,
  );
  return rows[0]?.port ?? 0;
}

function portOf(url: string): number {
  return Number(new URL(url).port);
}

/** Writes until it is not refused as unavailable. */
async function untilWritten(store: Store): Promise<string> {
  for (;;) {
    try {
      return (await store.write(createSession, {})).id;
    } catch (error) {
      if (!isRepriseError(error, "database_unavailable")) {
        throw error;
      }
      await sleep(20);
    }
  }
}

/** Writes until another store has heard of one of them. */
async function untilHeard(store: Store, heard: ReadonlySet<string>): Promise<void> {
  const written = new Set<string>();
  while (written.isDisjointFrom(heard)) {
    written.add(await untilWritten(store));
    await sleep(20);
  }
}

/** Resolves once the server refuses writes. */
async function untilReadOnly(url: string): Promise<void> {
  for (let isReadOnly = false; !isReadOnly;) {
    const client = new Client({ connectionString: url });
    await client.connect();
    const { rows } = await client.query<{ value: string }>(
      "SELECT current_setting('transaction_read_only') AS value",
    );
    isReadOnly = rows[0]?.value === "on";
    await client.end();
  }
}
