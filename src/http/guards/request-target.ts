import { isPercentEncoded } from "../../core/text/text.ts";

/** Target of a request line: a path, and in the absolute form (`GET http://host/path`) a host too. */
export interface RequestTarget {
  /** `name:port` as in the request line; null in the ordinary form. */
  readonly host: string | null;
  /** Without the query. */
  readonly path: string;
}

/** Splits a request target. HTTP lets every request use the absolute form, not only a proxy's. */
export function parseRequestTarget(url: string): RequestTarget {
  const [, host = null, rest = ""] = /^(?:https?:\/\/([^/?#]*))?(.*)$/is.exec(url) ?? [];
  return { host, path: rest.replace(/[?#].*$/s, "") };
}

/**
 * Returns the request target with the percent signs of a path that is not valid percent-encoding escaped, so that
 * every path can be routed: `/%zz` is read as the literal text `%zz`.
 */
export function decodable(url: string): string {
  if (!url.includes("%")) {
    return url;
  }
  const end = url.search(/[?#]/);
  const path = end === -1 ? url : url.slice(0, end);
  return isPercentEncoded(path) ? url : path.replaceAll("%", "%25") + url.slice(path.length);
}
