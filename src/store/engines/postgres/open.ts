import { closeOnce } from "../closing.ts";
import { createListeners } from "../listeners.ts";
import type { Store } from "../../store.ts";
import { parseAddress } from "./address.ts";
import { createNotifications, type Notifications } from "./notify.ts";
import { migratePostgres } from "./migrate.ts";
import { openPool } from "./open-pool.ts";
import { createTransactions } from "./transactions.ts";

export interface PostgresOptions {
  /**
   * `postgres://user:password@host:5432/database?parameters`, with several hosts if one may take the place of
   * another: `host:5432,other:5433`. docs/protocol/engine.md, "PostgreSQL", has the parameters.
   */
  readonly url: string;
  /** Called with what a person should know about the database, one sentence each. */
  readonly notice?: (sentence: string) => void;
}

/**
 * Opens a PostgreSQL database as the store, for any number of nodes at once. Tables that are not
 * there yet are made.
 *
 * Error codes: `database_*`, `config_invalid`.
 */
export async function openPostgresStore({
  url,
  notice = () => undefined,
}: PostgresOptions): Promise<Store> {
  const address = parseAddress(url);
  const pool = await openPool(address, (connection) => migratePostgres(connection, notice));
  const listeners = createListeners();
  const hints = address.hints ? createNotifications(pool.servers, listeners.notify) : NO_HINTS;
  const transactions = createTransactions(pool, (sessionIds) => {
    listeners.notify(sessionIds);
    hints.send(sessionIds);
  });
  return {
    location: address.shown,
    read: transactions.read,
    write: transactions.write,
    onCommit: (listener) => {
      hints.listen();
      return listeners.add(listener);
    },
    mayHaveChanged: transactions.mayHaveChanged,
    load: () => pool.load(),
    ...closeOnce(async () => {
      await transactions.close();
      await hints.close();
      await pool.close();
    }),
  };
}

const NO_HINTS: Notifications = {
  send: () => undefined,
  listen: () => undefined,
  close: () => Promise.resolve(),
};
