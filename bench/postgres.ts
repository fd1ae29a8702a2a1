import { Client } from "pg";

import { openPostgresStore } from "../src/store/engines/postgres/open.ts";
import { admin, databaseUrl, startEmbedded } from "../test/helpers/postgres-server.ts";

export interface BenchPostgres extends AsyncDisposable {
  /** Makes a database with the tables that the service uses, and gives its address. */
  makeDatabase(name: string): Promise<string>;
  /** Makes a database without tables, and gives its address. */
  makeEmptyDatabase(name: string): Promise<string>;
  /** What a database takes, with its indexes. */
  bytes(name: string): Promise<number>;
  /** Does at once, in every database, what autovacuum does some time after many rows came. */
  settle(): Promise<void>;
}

/** A separate PostgreSQL that syncs every commit, as one that people use does. */
export async function startPostgres(): Promise<BenchPostgres> {
  const server = await startEmbedded({ settings: { fsync: "on", full_page_writes: "on" } });
  const databases: string[] = [];
  const makeEmptyDatabase = async (name: string) => {
    await admin(server.url, `CREATE DATABASE ${name} ENCODING 'UTF8' TEMPLATE template0`);
    return databaseUrl(server.url, name);
  };
  return {
    makeEmptyDatabase,
    bytes: (name) => databaseBytes(databaseUrl(server.url, name)),
    settle: async () => {
      for (const url of databases) {
        await admin(url, "VACUUM ANALYZE");
      }
    },
    makeDatabase: async (name) => {
      const url = await makeEmptyDatabase(name);
      const store = await openPostgresStore({ url });
      await store.close();
      databases.push(url);
      return url;
    },
    [Symbol.asyncDispose]: () => server.stop(),
  };
}

/** What a database takes, with its indexes. */
export async function databaseBytes(url: string): Promise<number> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ bytes: string }>(
      "SELECT pg_database_size(current_database()) AS bytes",
    );
    return Number(rows[0]?.bytes);
  } finally {
    await client.end();
  }
}
