import { Socket } from "node:net";

import { Client, type ClientConfig } from "pg";

import type { PostgresAddress } from "./address.ts";
import { clientConfig } from "./client-config.ts";
import { isFull, isPassing, isReadOnly, UnsuitableServer } from "./failure.ts";
import { ruleOf, SERVER_ROLE, type ServerRole } from "./target.ts";

/** The server of the address to which new connections go. */
export interface ChosenServer {
  readonly index: number;
  readonly config: ClientConfig;
  /** Aborted once another one is chosen, or this one no longer does what is asked of it. */
  readonly left: AbortSignal;
}

/**
 * Chooses one server of the address for all connections of this process:
 *
 *     the first one ──> a connection fails, or it is not as `target_session_attrs` asks
 *          ^              │
 *          │              v
 *       chosen <── search: the others in order, then this one again
 *
 * While no connection fails, nothing is asked of the others.
 */
export class Servers {
  readonly #address: PostgresAddress;
  #chosen: { readonly server: ChosenServer; readonly leave: () => void };
  #isDoubtful = false;
  #searches = 0;
  #searching: Promise<ChosenServer> | null = null;

  constructor(address: PostgresAddress) {
    this.#address = address;
    this.#chosen = this.#choice(0);
  }

  /** The server of the next connection, unless a search chooses another one. */
  get current(): ChosenServer {
    return this.#chosen.server;
  }

  /** How many searches have begun. */
  get searches(): number {
    return this.#searches;
  }

  /** True if the next connection begins with a search. */
  get isDoubtful(): boolean {
    return this.#isDoubtful;
  }

  /**
   * The server of a new connection: after a failure it is searched for, once for all who wait.
   * Rejects if no server can be used, with the reason that may pass if there is one.
   */
  find(): Promise<ChosenServer> {
    if (!this.#isDoubtful) {
      return Promise.resolve(this.current);
    }
    return (this.#searching ??= this.#search().finally(() => (this.#searching = null)));
  }

  /** Throws for a server that is not as `target_session_attrs` asks; its connections are then not used. */
  require(server: ChosenServer, role: ServerRole): void {
    if (!ruleOf(this.#address.target).accepts(role)) {
      this.#leave(server);
      throw new UnsuitableServer(this.#address.target);
    }
  }

  /** Leaves a server that refused a write as one that must not be in use; true if it did. */
  leaveIfReadOnly(server: ChosenServer, error: unknown): boolean {
    const isMisplaced = ruleOf(this.#address.target).writes && isReadOnly(error);
    if (isMisplaced) {
      this.#leave(server);
    }
    return isMisplaced;
  }

  /** Called with why a connection to it could not be made. */
  failed(server: ChosenServer, error: unknown): void {
    // a server without a connection left still serves those that it has
    if (server === this.current && !isFull(error)) {
      this.#isDoubtful = this.#address.servers.length > 1;
    }
  }

  #leave(server: ChosenServer): void {
    if (server === this.current) {
      this.#choose(server.index);
      this.#isDoubtful = this.#address.servers.length > 1;
    }
  }

  async #search(): Promise<ChosenServer> {
    this.#searches += 1;
    const failures: unknown[] = [];
    const { index: last } = this.current;
    const order = [...this.#address.servers.keys()].filter((index) => index !== last);
    for (const index of [...order, last]) {
      try {
        await this.#probe(index);
        return this.#found(index);
      } catch (error) {
        failures.push(error);
      }
    }
    throw (
      failures.find((error) => error instanceof UnsuitableServer) ??
      failures.find(isPassing) ??
      failures[0]
    );
  }

  async #probe(index: number): Promise<void> {
    const { target, connectTimeoutMs } = this.#address;
    const config = clientConfig(this.#address, index);
    const socket = new Socket();
    const client = new Client({
      ...config,
      query_timeout: connectTimeoutMs,
      stream: () => socket,
    });
    client.on("error", () => undefined);
    try {
      await client.connect();
      const { rows } = await client.query<ServerRole>(`SELECT ${SERVER_ROLE}`);
      const [role] = rows;
      if (role === undefined || !ruleOf(target).accepts(role)) {
        throw new UnsuitableServer(target);
      }
      await client.end();
    } finally {
      socket.destroy();
    }
  }

  #found(index: number): ChosenServer {
    this.#isDoubtful = false;
    if (index !== this.current.index) {
      this.#choose(index);
    }
    return this.current;
  }

  #choose(index: number): void {
    this.#chosen.leave();
    this.#chosen = this.#choice(index);
  }

  #choice(index: number) {
    const leaving = new AbortController();
    const config = clientConfig(this.#address, index);
    return {
      server: { index, config, left: leaving.signal },
      leave: () => leaving.abort(),
    };
  }
}
