import { Socket } from "node:net";

import { Client, type ClientBase, type ClientConfig, Pool, type PoolClient, types } from "pg";

import { RepriseError } from "../../../core/errors.ts";
import type { StoreLoad } from "../../store.ts";
import type { PostgresAddress } from "./address.ts";
import { type PostgresConnection, wrapClient } from "./connection.ts";
import { requireDurable, SYNCHRONOUS_COMMIT } from "./durability.ts";
import { SERVER_LIFE } from "./server-life.ts";

/** A connection for one piece of work; `release` returns it, or closes it if it was lost. */
export interface CheckedOutClient {
  readonly connection: PostgresConnection;
  release(): void;
}

export interface PostgresPool {
  /**
   * Checks out a connection once one is free: it waits for that without a limit, and for the server
   * for `connect_timeout`. Rejects with the client library's own errors too.
   *
   * Error codes: `config_invalid`, `database_unsupported` for a server that would not keep what it
   * is given.
   */
  checkOut(): Promise<CheckedOutClient>;
  /** How many connections there are, and how many callers wait for one. */
  load(): StoreLoad;
  /** Waits for connections that are in use. Idempotent. */
  close(): Promise<void>;
}

/** A connection that nobody needs is closed after this long. */
const IDLE_MS = 30_000;
/** A statement waits so long for a row that another transaction holds. */
const LOCK_TIMEOUT_MS = 5000;
/** So much longer than the server's own limit the client waits for an answer that got lost. */
const ANSWER_GRACE_MS = 5000;

export function createPool(address: PostgresAddress): PostgresPool {
  const sockets = new WeakMap<ClientBase, Socket>();
  const config: ClientConfig = {
    ...clientConfig(address),
    statement_timeout: address.statementTimeoutMs,
    query_timeout: address.statementTimeoutMs + ANSWER_GRACE_MS,
    lock_timeout: LOCK_TIMEOUT_MS,
    // who is stopped inside a transaction holds its rows no longer than this
    idle_in_transaction_session_timeout: address.statementTimeoutMs,
  };
  const pool = new Pool({
    max: address.poolSize,
    idleTimeoutMillis: IDLE_MS,
    Client: clientOf(config, sockets),
  });
  // a connection that is lost while nobody uses it leaves the pool, and that is all
  pool.on("error", () => undefined);
  const connections = new WeakMap<ClientBase, PostgresConnection>();
  let closing: Promise<void> | null = null;
  return {
    checkOut: async () => {
      const client = await pool.connect();
      const connection = connections.get(client) ?? (await begin(client));
      connections.set(client, connection);
      return {
        connection,
        release: () => {
          if (connection.loss !== null) {
            // without an answer from the network, the closing message may get lost too
            sockets.get(client)?.destroy();
          }
          client.release(connection.loss !== null);
        },
      };
    },
    load: () => ({
      connections: pool.totalCount,
      idle: pool.idleCount,
      max: address.poolSize,
      waiting: pool.waitingCount,
    }),
    close: () => (closing ??= pool.end()),
  };
}

/**
 * What every connection to the server is made with. BIGINT is read as a number: none of the stored
 * values exceeds 2^53.
 */
export function clientConfig(address: PostgresAddress): ClientConfig {
  return {
    host: address.host,
    port: address.port,
    database: address.database,
    user: address.user,
    password: address.password,
    ssl: address.tls,
    options: address.options,
    application_name: "reprise",
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    connectionTimeoutMillis: address.connectTimeoutMs,
    types: {
      getTypeParser: (oid, format) =>
        oid === types.builtins.INT8 ? Number : types.getTypeParser(oid, format),
    },
  };
}

/** The pool's own time-out would also count the time that an operation waits for its turn. */
function clientOf(config: ClientConfig, sockets: WeakMap<ClientBase, Socket>): new () => Client {
  return class extends Client {
    constructor() {
      const socket = new Socket();
      super({ ...config, stream: () => socket });
      sockets.set(this, socket);
      // one that is lost between the pool's hands and ours would end the process
      this.on("error", () => undefined);
    }
  };
}

async function begin(client: PoolClient): Promise<PostgresConnection> {
  try {
    const { rows } = await client.query<Settings>(SETTINGS);
    const [settings] = rows;
    if (settings === undefined) {
      throw new Error("the server did not report its settings");
    }
    check(settings);
    return wrapClient(client, isPooled(client, settings) ? null : settings.server);
  } catch (error) {
    client.release(true);
    throw error;
  }
}

interface Settings {
  readonly version: number;
  /** What the server calls itself. */
  readonly product: string;
  readonly encoding: string;
  readonly synchronous_commit: string;
  readonly server: string;
  readonly pid: number;
}

const SETTINGS = `SELECT current_setting('server_version_num')::int AS version,
  version() AS product,
  current_setting('server_encoding') AS encoding,
  ${SYNCHRONOUS_COMMIT} AS synchronous_commit,
  ${SERVER_LIFE} AS server,
  pg_backend_pid() AS pid`;

const MIN_VERSION = 150_000;

/** A pooler assigns its own numbers to the processes of the server. */
function isPooled(client: PoolClient, { pid }: Settings): boolean {
  return !("processID" in client) || client.processID !== pid;
}

/** Servers that speak the protocol and give out row numbers in another order than they commit. */
const OTHER_SERVERS = [
  ["YugabyteDB", /-YB-/],
  ["CockroachDB", /CockroachDB/],
] as const;

function check({ version, product, encoding, synchronous_commit }: Settings): void {
  const other = OTHER_SERVERS.find(([, mark]) => mark.test(product));
  if (other !== undefined) {
    throw new RepriseError(
      "database_unsupported",
      `The database server is ${other[0]}, whose row numbers do not grow in the order of commits. Use PostgreSQL 15 to 18.`,
    );
  }
  if (version < MIN_VERSION) {
    throw new RepriseError(
      "database_unsupported",
      "The database server is older than PostgreSQL 15; use PostgreSQL 15 to 18.",
    );
  }
  if (encoding !== "UTF8") {
    throw new RepriseError(
      "database_unsupported",
      "The database does not keep text as UTF-8; make one with createdb --encoding=UTF8 --template=template0.",
    );
  }
  requireDurable(synchronous_commit);
}
