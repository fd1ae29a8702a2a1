import { type ClientConfig, types } from "pg";

import type { PostgresAddress } from "./address.ts";

/**
 * The settings of every connection to one of the servers, by its place in the address. BIGINT is read as a number:
 * none of the stored values exceeds 2^53.
 */
export function clientConfig(address: PostgresAddress, index: number): ClientConfig {
  const { host, port } = address.servers[index] ?? address.servers[0];
  return {
    host,
    port,
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
