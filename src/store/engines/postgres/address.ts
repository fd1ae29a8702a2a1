import { readFileSync } from "node:fs";
import type { ConnectionOptions } from "node:tls";

import { parse } from "pg-connection-string";

import { RepriseError } from "../../../core/errors.ts";
import { isPercentEncoded } from "../../../core/text/text.ts";
import { POSTGRES_PARAMETERS, type PostgresUrl, readPostgresUrl } from "../../postgres-url.ts";
import { isTarget, type Target, TARGETS } from "./target.ts";

/** Parts of a `postgres://` URL, parsed once. */
export interface PostgresAddress {
  /** In the order in which they are tried. */
  readonly servers: readonly [ServerAddress, ...ServerAddress[]];
  /** Which of them may be used. */
  readonly target: Target;
  readonly database: string;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly tls: false | ConnectionOptions;
  /** `options`: passed to the server unchanged, such as `-c search_path=team`. */
  readonly options: string | undefined;
  /** Connections of one process for its operations. */
  readonly poolSize: number;
  /** How long a statement may run, and a transaction be idle, in milliseconds. */
  readonly statementTimeoutMs: number;
  /** How long a connection may take to be made, in milliseconds. */
  readonly connectTimeoutMs: number;
  /** False if other nodes find new messages by polling alone. */
  readonly hints: boolean;
  /** The address for people: without password and parameters. */
  readonly shown: string;
}

export interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

/** At least two: a read may wait for a write of the same process. */
const POOL_SIZE = { min: 2, max: 500, default: 10 };
const STATEMENT_TIMEOUT_MS = { min: 100, max: 3_600_000, default: 30_000 };
const CONNECT_TIMEOUT_S = { min: 1, max: 300, default: 5 };

/**
 * Reads an address of the form
 * `postgres://user:password@host:5432/database?sslmode=verify-full&pool_size=10`, or with several
 * hosts, `host:5432,other:5433`. An unknown parameter is refused.
 *
 * Error codes: `config_invalid`. No refusal holds any part of the address.
 */
export function parseAddress(text: string): PostgresAddress {
  const url = parseUrl(text);
  const [{ searchParams: parameters, pathname }] = url.servers;
  for (const name of parameters.keys()) {
    if (!POSTGRES_PARAMETERS.has(name) || parameters.getAll(name).length > 1) {
      throw invalid(
        `The database URL has an unknown or repeated parameter. Allowed: ${[...POSTGRES_PARAMETERS].join(", ")}.`,
      );
    }
  }
  const [first, ...others] = url.servers;
  const { user, password, database } = partsOf(first);
  if (database === "") {
    throw invalid(
      "The database URL has no database name. Write it as postgres://user@host:5432/name.",
    );
  }
  return {
    servers: [serverOf(first), ...others.map(serverOf)],
    target: targetOf(parameters, others.length === 0 ? "any" : "read-write"),
    database,
    user,
    password,
    tls: tlsOf(parameters),
    options: parameters.get("options") ?? undefined,
    poolSize: numberOf(parameters, "pool_size", POOL_SIZE),
    statementTimeoutMs: numberOf(parameters, "statement_timeout", STATEMENT_TIMEOUT_MS),
    connectTimeoutMs: numberOf(parameters, "connect_timeout", CONNECT_TIMEOUT_S) * 1000,
    hints: isOn(parameters.get("hints")),
    shown: `postgres://${url.user}${url.hosts}${pathname}`,
  };
}

function parseUrl(text: string): PostgresUrl {
  const url = readPostgresUrl(text);
  if (url === null) {
    throw invalid(
      "The database URL is invalid. Write it as postgres://user:password@host:5432/name, with special characters of the password escaped, such as %40 for @. Several hosts have commas between them.",
    );
  }
  return url;
}

/** Host, port, user, password and database, as PostgreSQL's own clients read them. */
function partsOf(url: URL) {
  const address = new URL(url);
  // parameters are ours: the library would read files that they name, and overwrite the host
  address.search = "";
  // the driver would take a % without two digits for the character itself
  if (!isPercentEncoded(address.href)) {
    throw invalid("The database URL has an invalid % escape. Write a literal % as %25.");
  }
  const { host, port, user, password } = parse(address.href);
  return {
    host: host || "localhost",
    port: Number(port || 5432),
    user: user || undefined,
    password: password || undefined,
    // the library leaves some escapes in it unchanged
    database: decodeURIComponent(url.pathname.slice(1)),
  };
}

function serverOf(url: URL): ServerAddress {
  const { host, port } = partsOf(url);
  return { host, port };
}

function targetOf(parameters: URLSearchParams, otherwise: Target): Target {
  const text = parameters.get("target_session_attrs") ?? otherwise;
  if (!isTarget(text)) {
    throw invalid(`target_session_attrs in the database URL must be one of ${TARGETS.join(", ")}.`);
  }
  return text;
}

/**
 * TLS as `sslmode` says. Every mode with TLS checks the certificate and the server's name, as
 * `verify-full` does; only `no-verify` does not. `prefer` is refused: anybody in between could make
 * it fall back to plain text.
 */
function tlsOf(parameters: URLSearchParams): false | ConnectionOptions {
  const mode = parameters.get("sslmode");
  const files = ["sslrootcert", "sslcert", "sslkey"].some((name) => parameters.has(name));
  switch (mode) {
    case null:
      return files ? certificates(parameters) : false;
    case "disable":
      return false;
    case "require":
    case "verify-ca":
    case "verify-full":
      return certificates(parameters);
    case "no-verify":
      return { ...certificates(parameters), rejectUnauthorized: false };
    default:
      throw invalid(
        "sslmode in the database URL must be disable, require, verify-ca, verify-full or no-verify.",
      );
  }
}

function certificates(parameters: URLSearchParams): ConnectionOptions {
  const [ca, cert, key] = ["sslrootcert", "sslcert", "sslkey"].map((name) =>
    readCertificate(parameters.get(name)),
  );
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  };
}

function readCertificate(path: string | null): string | undefined {
  try {
    return path === null ? undefined : readFileSync(path, "utf8");
  } catch (error) {
    throw new RepriseError(
      "config_invalid",
      "A certificate or key file of the database URL cannot be read. Check sslrootcert, sslcert and sslkey.",
      { cause: error },
    );
  }
}

function numberOf(
  parameters: URLSearchParams,
  name: string,
  range: { readonly min: number; readonly max: number; readonly default: number },
): number {
  const text = parameters.get(name);
  if (text === null) {
    return range.default;
  }
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= range.min && value <= range.max)) {
    throw invalid(
      `${name} in the database URL must be a whole number from ${range.min} to ${range.max}.`,
    );
  }
  return value;
}

function isOn(text: string | null): boolean {
  if (text !== null && text !== "on" && text !== "off") {
    throw invalid("hints in the database URL must be on or off.");
  }
  return text !== "off";
}

function invalid(sentence: string): RepriseError {
  return new RepriseError("config_invalid", sentence);
}
