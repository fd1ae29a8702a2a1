/** Addresses of git remotes in a configuration, and which of them mean one repository. */

const HEADER = /^\s*\[\s*([\w.-]+)\s*(?:"((?:[^"\\]|\\.)*)"\s*)?\](.*)$/;
const URL_LINE = /^\s*url\s*=(.*)$/i;

/**
 * The name of the repository that a git configuration names as its remote, such as `github.com/ada/tool`: the remote
 * `origin`, else the first one by name. Null if no remote is on another machine.
 */
export function remoteRepository(config: string): string | null {
  const names = new Map<string, string>();
  for (const [remote, url] of remoteUrls(config)) {
    const name = repositoryName(url);
    if (name !== null && !names.has(remote)) {
      names.set(remote, name);
    }
  }
  const [first] = [...names.keys()].toSorted();
  return names.get("origin") ?? names.get(first ?? "") ?? null;
}

function* remoteUrls(config: string): Generator<readonly [remote: string, url: string]> {
  let remote: string | null = null;
  for (const line of config.split("\n")) {
    const header = HEADER.exec(line);
    if (header !== null) {
      const isRemote = header[1]?.toLowerCase() === "remote";
      remote = isRemote ? (header[2] ?? null) : null;
    }
    const value = URL_LINE.exec(header?.[3] ?? line)?.[1];
    if (remote !== null && value !== undefined) {
      yield [remote, unquoted(value)];
    }
  }
}

/** Comments begin outside of quotes; an address has neither a quote nor a space. */
function unquoted(value: string): string {
  return (value.split(/[#;]/, 1)[0] ?? "").replaceAll('"', "").trim();
}

/** The port does not matter for SSH: a server has one for SSH and another one for the web. */
const PORTS: Readonly<Record<string, RegExp>> = {
  "ssh:": /.*/,
  "git+ssh:": /.*/,
  "git:": /^9418$/,
  "http:": /^80$/,
  "https:": /^443$/,
};

/**
 * Host and path of an address, the same for each way to reach the repository: without protocol, user, password, usual
 * port, `.git` and slashes around. Null for a path of this machine, and for an address that cannot be read.
 */
export function repositoryName(url: string): string | null {
  const address = url.includes("://") ? addressOf(url) : scpAddress(url);
  const path = address?.path.replace(/^\/+|\/+$/g, "").replace(/\.git$/, "") ?? "";
  return address === null || address.host === "" || path === ""
    ? null
    : `${address.host.toLowerCase()}/${path}`;
}

interface Address {
  readonly host: string;
  readonly path: string;
}

function addressOf(text: string): Address | null {
  const url = URL.parse(text);
  const usual = PORTS[url?.protocol ?? ""];
  if (url === null || usual === undefined) {
    return null;
  }
  const port = usual.test(url.port) || url.port === "" ? "" : `:${url.port}`;
  return { host: `${url.hostname}${port}`, path: url.pathname };
}

/** `user@host:path`; `x:path` is a drive, and `helper::address` names a program. */
function scpAddress(text: string): Address | null {
  const [, host, path] = /^(?:[^@/:\s]+@)?(\[[^\]]+\]|[^@:/\s]{2,}):(?!:)(\S+)$/.exec(text) ?? [];
  return host === undefined || path === undefined ? null : { host, path };
}
