import { Socket } from "node:net";

import { Client, type ClientBase, type ClientConfig } from "pg";

import type { ChosenServer, Servers } from "./servers.ts";

/** How a connection of the pool was made. */
export interface Made {
  readonly server: ChosenServer;
  readonly socket: Socket;
}

/** For a connection that was about to go to a server that is no longer the chosen one. */
export class MovedError extends Error {}

/**
 * The connections of a pool, each to the server that is chosen when the pool makes it. The pool's own
 * time-out would also count the time that an operation waits for its turn.
 */
export function pooledClient(
  servers: Servers,
  { limits, made }: { readonly limits: ClientConfig; readonly made: WeakMap<ClientBase, Made> },
): new () => Client {
  return class extends Client {
    readonly #server: ChosenServer;

    constructor() {
      const server = servers.current;
      const socket = new Socket();
      super({ ...server.config, ...limits, stream: () => socket });
      this.#server = server;
      made.set(this, { server, socket });
      // an error between the pool's hands and ours would end the process
      this.on("error", () => undefined);
    }

    override connect(): Promise<Client>;
    override connect(callback: (error: unknown) => void): void;
    override connect(callback?: (error: unknown) => void): Promise<Client> | undefined {
      if (callback === undefined) {
        return this.#connect();
      }
      void this.#connectFor(callback);
      return undefined;
    }

    /** The pool takes no promise. */
    async #connectFor(callback: (error: unknown) => void): Promise<void> {
      let failure: unknown = null;
      try {
        await this.#connect();
      } catch (error) {
        failure = error;
      }
      callback(failure);
    }

    async #connect(): Promise<Client> {
      const server = await servers.find();
      if (server !== this.#server) {
        throw new MovedError();
      }
      try {
        return await super.connect();
      } catch (error) {
        // before the pool makes the next one
        servers.failed(server, error);
        throw error;
      }
    }
  };
}
