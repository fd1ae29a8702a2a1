import { randomUUID } from "node:crypto";

import { Pool } from "pg";

import { ask } from "./on-first-ask.ts";
import { databaseUrl, type PostgresServer, STARTER_VARIABLE } from "./postgres-server.ts";

export interface TestPostgres extends AsyncDisposable {
  readonly url: string;
  readonly name: string;
  readonly server: PostgresServer;
}

interface Administrator {
  readonly server: PostgresServer;
  readonly pool: Pool;
}

/** One for all tests of a process: a connection costs the server more than a database. */
let administrator: Promise<Administrator> | null = null;

/** A separate database with empty tables, or without tables if `tables` is false. */
export async function createPostgres({ tables = true } = {}): Promise<TestPostgres> {
  administrator ??= connect();
  const { server, pool } = await administrator;
  const name = `reprise_test_${randomUUID().replaceAll("-", "")}`;
  const template = tables ? server.template : "template0";
  // by default every page is also written to the log, at ten times the cost
  await pool.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`);
  return {
    url: databaseUrl(server.url, name),
    name,
    server,
    [Symbol.asyncDispose]: async () => {
      await pool.query(`DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
}

async function connect(): Promise<Administrator> {
  const server = await ask<PostgresServer>(STARTER_VARIABLE);
  const pool = new Pool({ connectionString: server.url, max: 2, allowExitOnIdle: true });
  // the server may end before this process does
  pool.on("error", () => undefined);
  return { server, pool };
}
