import type { PoolClient } from "pg";

import { RepriseError } from "../../../core/errors.ts";
import { type PostgresConnection, wrapClient } from "./connection.ts";
import { requireDurable, SYNCHRONOUS_COMMIT } from "./durability.ts";
import { SERVER_LIFE } from "./server-life.ts";
import type { ChosenServer, Servers } from "./servers.ts";
import { SERVER_ROLE, type ServerRole } from "./target.ts";

/**
 * Asks the server of a new connection what it is; a connection to one that is of no use is closed.
 *
 * Error codes: `config_invalid`, `database_unsupported`.
 */
export async function begin(
  client: PoolClient,
  { servers, server }: { readonly servers: Servers; readonly server: ChosenServer },
): Promise<PostgresConnection> {
  try {
    const { rows } = await client.query<Settings>(SETTINGS);
    const [settings] = rows;
    if (settings === undefined) {
      throw new Error("the server did not report its settings");
    }
    servers.require(server, settings);
    check(settings);
    return wrapClient(client, {
      server: isPooled(client, settings) ? null : settings.server,
      isMisplaced: (error) => servers.leaveIfReadOnly(server, error),
    });
  } catch (error) {
    client.release(true);
    throw error;
  }
}

interface Settings extends ServerRole {
  readonly version: number;
  /** Name of the server's product. */
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
  pg_backend_pid() AS pid,
  ${SERVER_ROLE}`;

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
