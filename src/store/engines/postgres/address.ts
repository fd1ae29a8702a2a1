import { readFileSync } from "node:fs";
import type { ConnectionOptions } from "node:tls";

import { RepriseError } from "../../../core/errors.ts";

/** What a `postgres://` address says, parsed once. */
export interface PostgresAddress {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly tls: false | ConnectionOptions;
  /** `options`: given to the server as it is, such as `-c search_path=team`. */
  readonly options: string | undefined;
  /** Connections of one process for its operations. */
  readonly poolSize: number;
  /** How long a statement may run, and a transaction stand idle, in milliseconds. */
  readonly statementTimeoutMs: number;
  /** How long a connection may take to be made, in milliseconds. */
  readonly connectTimeoutMs: number;
  /** False where other nodes are to find news by their poll alone. */
  readonly hints: boolean;
  /** The address for people: without password and parameters. */
  readonly shown: string;
}

/** Two at least: a read may wait for what a write of the same process does. */
const POOL_SIZE = { least: 2, most: 500, usual: 10 };
const STATEMENT_TIMEOUT_MS = { least: 100, most: 3_600_000, usual: 30_000 };
const CONNECT_TIMEOUT_S = { least: 1, most: 300, usual: 5 };

const PARAMETERS: ReadonlySet<string> = new Set([
  "sslmode",
  "sslrootcert",
  "sslcert",
  "sslkey",
  "options",
  "pool_size",
  "statement_timeout",
  "connect_timeout",
  "hints",
]);

/**
 * Reads an address of the form
 * `postgres://user:password@host:5432/database?sslmode=verify-full&pool_size=10`. A parameter that
 * nobody reads is refused: an option with a typing error would silently do nothing.
 *
 * Error codes: `config_invalid`. No refusal holds any part of the address.
 */
export function parseAddress(text: string): PostgresAddress {
  const url = parseUrl(text);
  const parameters = url.searchParams;
  for (const name of parameters.keys()) {
    if (!PARAMETERS.has(name) || parameters.getAll(name).length > 1) {
      throw invalid(
        `The address of the database has a parameter that is unknown or there twice; it may have ${[...PARAMETERS].join(", ")}.`,
      );
    }
  }
  const host = decoded(url.hostname).replace(/^\[(.*)\]$/, "$1") || "localhost";
  const database = decoded(url.pathname.slice(1));
  const user = decoded(url.username) || undefined;
  if (database === "") {
    throw invalid(
      "The address of the database names none; write it as postgres://user@host:5432/name.",
    );
  }
  return {
    host,
    port: url.port === "" ? 5432 : Number(url.port),
    database,
    user,
    password: decoded(url.password) || undefined,
    tls: tlsOf(parameters),
    options: parameters.get("options") ?? undefined,
    poolSize: numberOf(parameters, "pool_size", POOL_SIZE),
    statementTimeoutMs: numberOf(parameters, "statement_timeout", STATEMENT_TIMEOUT_MS),
    connectTimeoutMs: numberOf(parameters, "connect_timeout", CONNECT_TIMEOUT_S) * 1000,
    hints: isOn(parameters.get("hints")),
    shown: `postgres://${url.username === "" ? "" : `${url.username}@`}${url.host}${url.pathname}`,
  };
}

function parseUrl(text: string): URL {
  // its own error would carry the whole address, and the password with it
  const url = URL.parse(text);
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol)) {
    throw invalid(
      "The address of the database cannot be read; write it as postgres://user:password@host:5432/name, and special characters of the password as %40 and the like.",
    );
  }
  return url;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw invalid(
      "The address of the database holds a % that stands for nothing; write % itself as %25.",
    );
  }
}

/**
 * TLS as `sslmode` says. Any mode that asks for TLS checks the certificate and the server's name,
 * as `verify-full` does; only `no-verify` does not. `prefer` would fall back to plain text where
 * somebody in between wishes so, and is refused.
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
        "sslmode in the address of the database takes disable, require, verify-ca, verify-full or no-verify.",
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
      "A certificate or key that the address of the database names cannot be read; check sslrootcert, sslcert and sslkey.",
      { cause: error },
    );
  }
}

function numberOf(
  parameters: URLSearchParams,
  name: string,
  { least, most, usual }: { least: number; most: number; usual: number },
): number {
  const text = parameters.get(name);
  if (text === null) {
    return usual;
  }
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= least && value <= most)) {
    throw invalid(
      `${name} in the address of the database takes a whole number from ${least} to ${most}.`,
    );
  }
  return value;
}

function isOn(text: string | null): boolean {
  if (text !== null && text !== "on" && text !== "off") {
    throw invalid("hints in the address of the database takes on or off.");
  }
  return text !== "off";
}

function invalid(sentence: string): RepriseError {
  return new RepriseError("config_invalid", sentence);
}
