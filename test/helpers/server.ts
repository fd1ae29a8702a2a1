import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { type RunningServer, type ServerOptions, startServer } from "../../src/http/serve.ts";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import type { Store } from "../../src/store/store.ts";

/** A server of its own on a SQLite file of its own, over a real socket. */
export interface TestServer extends AsyncDisposable {
  readonly server: RunningServer;
  readonly store: Store;
  readonly url: string;
  readonly path: string;
  /** Every line that the server logged. */
  readonly log: Readonly<Record<string, unknown>>[];
  /** Sends a request; a body that is not a string or bytes is sent as JSON. */
  call<T = unknown>(method: string, path: string, options?: CallOptions): Promise<Answer<T>>;
}

export interface CallOptions {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer<T> {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON, whatever it claims to be; null where it is empty. */
  readonly json: T;
}

export async function startTestServer(options: Partial<ServerOptions> = {}): Promise<TestServer> {
  const folder = await mkdtemp(join(tmpdir(), "reprise-http-"));
  const path = join(folder, "reprise.db");
  const store = options.store ?? (await openSqliteStore({ path }));
  const log: Readonly<Record<string, unknown>>[] = [];
  const server = await startServer({
    version: "1.2.3",
    host: "127.0.0.1",
    port: 0,
    log: (line) => log.push(line),
    ...options,
    store,
  });
  return {
    server,
    store,
    url: server.url,
    path,
    log,
    call: (method, target, call) => send(server.url, method, target, call),
    [Symbol.asyncDispose]: async () => {
      await server.close();
      await store.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function send<T>(
  url: string,
  method: string,
  target: string,
  { body, headers = {} }: CallOptions = {},
): Promise<Answer<T>> {
  const raw = typeof body === "string" || body instanceof Uint8Array;
  const answer = await fetch(`${url}${target}`, {
    method,
    headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
    ...(body === undefined ? {} : { body: raw ? Buffer.from(body) : JSON.stringify(body) }),
  });
  const text = await answer.text();
  return {
    status: answer.status,
    headers: answer.headers,
    text,
    json: (text === "" ? null : JSON.parse(text)) as T,
  };
}
