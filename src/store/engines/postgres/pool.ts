import { type ClientBase, type ClientConfig, Pool } from "pg";

import type { StoreLoad } from "../../store.ts";
import type { PostgresAddress } from "./address.ts";
import { begin } from "./begin.ts";
import type { PostgresConnection } from "./connection.ts";
import { type Made, MovedError, pooledClient } from "./pooled-client.ts";
import { Servers } from "./servers.ts";

/** A connection for one piece of work; `release` returns it, or closes it if it was lost. */
export interface CheckedOutClient {
  readonly connection: PostgresConnection;
  release(): void;
}

export interface PostgresPool {
  /** Which server its connections go to. */
  readonly servers: Servers;
  /**
   * Checks out a connection once one is free: it waits for that without a limit, and for each server
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
  return new ServerPool(address);
}

class ServerPool implements PostgresPool {
  readonly servers: Servers;
  readonly #max: number;
  readonly #pool: Pool;
  readonly #made = new WeakMap<ClientBase, Made>();
  readonly #connections = new WeakMap<ClientBase, PostgresConnection>();
  #closing: Promise<void> | null = null;

  constructor(address: PostgresAddress) {
    this.servers = new Servers(address);
    this.#max = address.poolSize;
    const Client = pooledClient(this.servers, { limits: limitsOf(address), made: this.#made });
    this.#pool = new Pool({ max: this.#max, idleTimeoutMillis: IDLE_MS, Client });
    // a connection that is lost while nobody uses it leaves the pool, and that is all
    this.#pool.on("error", () => undefined);
  }

  async checkOut(): Promise<CheckedOutClient> {
    const { searches } = this.servers;
    for (;;) {
      try {
        const taken = await this.#take();
        if (taken !== null) {
          return taken;
        }
      } catch (error) {
        // a single search tries every server
        if (!this.servers.isDoubtful || this.servers.searches > searches) {
          throw error;
        }
      }
    }
  }

  /** Null if another server was chosen meanwhile. */
  async #take(): Promise<CheckedOutClient | null> {
    const client = await this.#pool.connect().catch(nullIfMoved);
    const made = client === null ? undefined : this.#made.get(client);
    if (client === null || made === undefined) {
      return null;
    }
    const { server, socket } = made;
    if (server.left.aborted) {
      client.release(true);
      return null;
    }
    const connection =
      this.#connections.get(client) ?? (await begin(client, { servers: this.servers, server }));
    this.#connections.set(client, connection);
    return {
      connection,
      release: () => {
        if (connection.loss !== null) {
          // without an answer from the network, the closing message may get lost too
          socket.destroy();
        }
        client.release(connection.loss !== null);
      },
    };
  }

  load(): StoreLoad {
    const { totalCount: connections, idleCount: idle, waitingCount: waiting } = this.#pool;
    return { connections, idle, max: this.#max, waiting };
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#pool.end());
  }
}

/** Limits that the server keeps by itself, however long a process is stopped. */
function limitsOf({ statementTimeoutMs }: PostgresAddress): ClientConfig {
  return {
    statement_timeout: statementTimeoutMs,
    query_timeout: statementTimeoutMs + ANSWER_GRACE_MS,
    lock_timeout: LOCK_TIMEOUT_MS,
    // who is stopped inside a transaction holds its rows no longer than this
    idle_in_transaction_session_timeout: statementTimeoutMs,
  };
}

function nullIfMoved(error: unknown): null {
  if (error instanceof MovedError) {
    return null;
  }
  throw error;
}
