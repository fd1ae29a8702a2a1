import { boundedFetch } from "../bounded-fetch.ts";

/** Bytes of one answer of an authorization server. */
const MAX_BYTES = 256 * 1024;
/** Requests of one login or refresh: metadata is asked for at several addresses. */
const MAX_REQUESTS = 30;
const TIMEOUT_MS = 15_000;

/** Error of a login, whose message is the end of a sentence for a person. */
export class LoginError extends Error {}

/**
 * A fetch for the requests of OAuth at a server, with the server's own headers for itself alone. An address is `https`, or on
 * this machine if the server is there too: metadata of a server must not lead elsewhere in a network (RFC 9700, 4.13 and
 * RFC 8414, 2).
 */
export function oauthFetch(server: {
  readonly url: string;
  readonly signal: AbortSignal;
}): typeof fetch {
  const fetchBounded = boundedFetch(MAX_BYTES);
  let requests = 0;
  return async (input, init) => {
    const url = input instanceof Request ? input.url : String(input);
    checkEndpoint(url, server.url);
    requests += 1;
    if (requests > MAX_REQUESTS) {
      throw new LoginError("its authorization server asks for too many requests");
    }
    const signal = AbortSignal.any([server.signal, AbortSignal.timeout(TIMEOUT_MS)]);
    try {
      return await fetchBounded(input, { ...init, signal });
    } catch (error) {
      // a person is shown neither the address nor the sentence of a library
      if (server.signal.aborted) {
        throw server.signal.reason;
      }
      throw new LoginError(
        error instanceof Error && error.name === "TimeoutError"
          ? "its authorization server did not answer in time"
          : "its authorization server cannot be reached",
        { cause: error },
      );
    }
  };
}

/** Refuses an address that tokens, codes or a person must not be sent to. */
export function checkEndpoint(address: string, server: string): void {
  const url = URL.parse(address);
  const isLocal = isLoopback(url) && isLoopback(URL.parse(server));
  const isSafe = url?.protocol === "https:" || (url?.protocol === "http:" && isLocal);
  if (url === null || !isSafe || url.username !== "" || url.password !== "") {
    throw new LoginError(
      "its authorization server has an address that is not https, or that has a password in it",
    );
  }
}

/** True for an address on this machine. `localhost` may be another machine for a resolver, but for no usual one. */
function isLoopback(url: URL | null): boolean {
  return url !== null && /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(url.hostname);
}
