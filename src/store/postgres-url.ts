/** The parameters that an address may have: a misspelled one would silently do nothing. */
export const POSTGRES_PARAMETERS: ReadonlySet<string> = new Set([
  "sslmode",
  "sslrootcert",
  "sslcert",
  "sslkey",
  "options",
  "pool_size",
  "statement_timeout",
  "connect_timeout",
  "hints",
  "target_session_attrs",
]);

/** A `postgres://` address, which may name several hosts with commas between them, as libpq's do. */
export interface PostgresUrl {
  /** Address once for each host, in order. */
  readonly servers: readonly [URL, ...URL[]];
  /** The part of the address with all hosts, each with its port. */
  readonly hosts: string;
  /** The user and an @; empty if the address names none. */
  readonly user: string;
}

/** Begin with user and password; hosts; database and parameters. */
const FORM = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#@]*)((?:\/[^?#@]*)?(?:\?[^#]*)?)$/i;

/**
 * Separates the hosts of an address. Null if it is invalid: a character of a password that is not
 * escaped would end its host early, so the rest would count as a database, and be shown.
 */
export function readPostgresUrl(text: string): PostgresUrl | null {
  const [, start, hosts = "", rest = ""] = FORM.exec(text.trim()) ?? [];
  if (start === undefined) {
    return null;
  }
  const names = hosts.split(",");
  const servers = names.flatMap((host) => URL.parse(`${start}${host}${rest}`) ?? []);
  const [first, ...others] = servers;
  const isNameless = others.length > 0 && servers.some(({ hostname }) => hostname === "");
  if (first === undefined || servers.length < names.length || isNameless) {
    return null;
  }
  return {
    servers: [first, ...others],
    hosts: servers.map(({ host }) => host).join(","),
    user: first.username === "" ? "" : `${first.username}@`,
  };
}

/** Returns the address without its password; a placeholder for one that cannot be read. */
export function withoutPassword(address: string): string {
  const url = readPostgresUrl(address);
  if (url === null) {
    return PLACEHOLDER;
  }
  const [{ protocol, pathname, search, searchParams }] = url.servers;
  // a ? in a password begins the parameters early
  const isKnown = [...searchParams.keys()].every((name) => POSTGRES_PARAMETERS.has(name));
  return isKnown ? `${protocol}//${url.user}${url.hosts}${pathname}${search}` : PLACEHOLDER;
}

const PLACEHOLDER = "postgres://HOST/DATABASE";
