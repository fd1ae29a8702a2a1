/** What a request line names: a path, and in the absolute form (`GET http://host/path`) a host too. */
export interface Target {
  /** `name:port` as it stands in the request line; null in the ordinary form. */
  readonly host: string | null;
  /** Without the query. */
  readonly path: string;
}

/** Splits a request target. HTTP lets every request use the absolute form, not only a proxy's. */
export function targetOf(url: string): Target {
  const [, host = null, rest = ""] = /^(?:https?:\/\/([^/?#]*))?(.*)$/is.exec(url) ?? [];
  return { host, path: rest.replace(/[?#].*$/s, "") };
}
