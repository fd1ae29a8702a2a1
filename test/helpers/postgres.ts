import { randomUUID } from "node:crypto";

import { ask } from "./on-first-ask.ts";
import { admin, databaseUrl, type PostgresServer, STARTER_VARIABLE } from "./postgres-server.ts";

export interface TestPostgres extends AsyncDisposable {
  readonly url: string;
  readonly name: string;
  readonly server: PostgresServer;
}

/** A database of its own with empty tables; without any where `tables` is false. */
export async function createPostgres({ tables = true } = {}): Promise<TestPostgres> {
  const server = await ask<PostgresServer>(STARTER_VARIABLE);
  const name = `reprise_test_${randomUUID().replaceAll("-", "")}`;
  const template = tables ? server.template : "template0";
  await admin(server.url, `CREATE DATABASE ${name} TEMPLATE ${template}`);
  return {
    url: databaseUrl(server.url, name),
    name,
    server,
    [Symbol.asyncDispose]: () => admin(server.url, `DROP DATABASE ${name} WITH (FORCE)`),
  };
}
