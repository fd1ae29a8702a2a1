import { timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { LoginError } from "./oauth-fetch.ts";

/** Receives the browser at the end of a login. */
export interface Callback {
  /** `redirect_uri` of the login. */
  readonly url: string;
  /** Resolves with the parameters of the first request that has the state; others are refused and change nothing. */
  readonly received: Promise<URLSearchParams>;
  /** Takes an address that a browser on another machine was sent to. False for one that the login does not wait for. */
  offer(address: string): boolean;
  close(): Promise<void>;
}

const PATH = "/callback";
/** Headers of a request of a browser are smaller. */
const MAX_HEADER_BYTES = 16 * 1024;
const MAX_PARAMETER = 4096;

/**
 * Listens on a random port of this machine, which the authorization server accepts with any port (RFC 8252, 7.3), or on the
 * given one. Rejects with a `LoginError` if the port is taken.
 */
export async function openCallback(state: string, port = 0): Promise<Callback> {
  const received = Promise.withResolvers<URLSearchParams>();
  let isDone = false;
  const take = (address: string): URLSearchParams | null => {
    const parameters = isDone ? null : parametersOf(address, state);
    if (parameters !== null) {
      isDone = true;
      received.resolve(parameters);
    }
    return parameters;
  };
  const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES }, (request, response) => {
    const parameters = request.method === "GET" ? take(request.url ?? "") : null;
    if (parameters === null) {
      answer(response, 400, "This address is not what the login waits for.");
      return;
    }
    const isOk = parameters.has("code");
    answer(
      response,
      200,
      isOk
        ? "You can close this page: the terminal says whether the login has succeeded."
        : "The login was refused. You can close this page.",
    );
  });
  server.listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch (cause) {
    throw new LoginError("the port of its callback is in use", { cause });
  }
  const { port: taken } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${taken}${PATH}`,
    received: received.promise,
    offer: (address) => take(address) !== null,
    close: async () => {
      server.close();
      // the page of the browser has what it needs
      server.closeIdleConnections();
      setTimeout(() => server.closeAllConnections(), 500).unref();
    },
  };
}

/** Null for an address that does not end this login. */
function parametersOf(url: string, state: string) {
  const address = URL.parse(url, "http://127.0.0.1");
  if (address === null || address.pathname !== PATH) {
    return null;
  }
  const { searchParams } = address;
  const values = [...searchParams];
  const names = values.map(([name]) => name);
  const isUsable =
    new Set(names).size === names.length &&
    values.every(([, value]) => value.length <= MAX_PARAMETER);
  return isUsable && isSame(searchParams.get("state") ?? "", state) ? searchParams : null;
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function answer(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": "default-src 'none'",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    connection: "close",
  });
  response.end(`<!doctype html><title>Reprise</title><p>${text}</p>`);
}
