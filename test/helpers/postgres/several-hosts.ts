/** One address with the hosts of all: each leads to the same user and database. */
export function severalHosts(urls: readonly string[], parameters = ""): string {
  const [first, ...others] = urls.map((url) => new URL(url));
  if (first === undefined) {
    throw new Error("no address was given");
  }
  const { host, href } = first;
  const hosts = [host, ...others.map((other) => other.host)].join(",");
  return href.replace(`@${host}/`, `@${hosts}/`) + (parameters === "" ? "" : `?${parameters}`);
}
