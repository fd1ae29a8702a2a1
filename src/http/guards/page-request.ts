import type { IncomingMessage } from "node:http";

type Headers = Pick<IncomingMessage, "headers">;

/** The header that only scripts of the page send: a page of another origin would need a preflight, which fails. */
const PAGE_HEADER = "x-reprise-page";

/**
 * True for a request that the page of this service sent, as far as the browser says: only such a request may use a
 * cookie. With plain HTTP off loopback browsers send no `Sec-Fetch-Site`; then the origin that they name must be the
 * one that they asked. The gate has refused foreign origins before.
 */
export function isPageRequest({ headers }: Headers): boolean {
  if (headers[PAGE_HEADER] !== "1") {
    return false;
  }
  const site = headers["sec-fetch-site"];
  return site === undefined ? namesOwnHost(headers) : site === "same-origin";
}

/** Reads of the same origin have no Origin, but a Referer. */
function namesOwnHost({ origin, referer, host = "" }: Headers["headers"]): boolean {
  const source = origin ?? referer ?? "";
  return URL.canParse(source) && host !== "" && new URL(source).host === host.toLowerCase();
}
