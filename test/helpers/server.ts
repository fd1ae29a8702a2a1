import { once } from "node:events";
import http from "node:http";
import net from "node:net";
import { text as readText } from "node:stream/consumers";

import { type RunningServer, type ServerOptions, startServer } from "../../src/http/serve.ts";
import type { Store } from "../../src/store/store.ts";
import { storeOf } from "../../src/store/store-of.ts";
import { createDatabase } from "./database.ts";
import { openStoreAt } from "./open-store.ts";

/** A separate server on a separate database, over a real socket. */
export interface TestServer extends AsyncDisposable {
  readonly server: RunningServer;
  readonly store: Store;
  readonly url: string;
  /** The database, as `openStoreAt` takes it. */
  readonly path: string;
  /** Every line that the server logged. */
  readonly log: Readonly<Record<string, unknown>>[];
  /** Sends a request; a body that is not a string or bytes is sent as JSON. */
  newSession(): Promise<string>;
  post(id: string, content: string): Promise<void>;
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
  /** The body as JSON, whatever it claims to be; null if it is empty. */
  readonly json: T;
}

export async function startTestServer(options: Partial<ServerOptions> = {}): Promise<TestServer> {
  const database = await createDatabase();
  const path = database.location;
  const store = options.store === undefined ? await openStoreAt(path) : storeOf(options.store);
  const log: Readonly<Record<string, unknown>>[] = [];
  const headers: Record<string, string> =
    options.token === undefined ? {} : { authorization: `Bearer ${options.token}` };
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
    newSession: async () => {
      const { json } = await send<{ id: string }>(server.url, "POST", "/api/sessions", { headers });
      return json.id;
    },
    post: async (id, content) => {
      const answer = await send(server.url, "POST", `/api/sessions/${id}/messages`, {
        body: { content },
        headers,
      });
      if (answer.status !== 201) {
        throw new Error(`posting a message gave ${answer.status}`);
      }
    },
    [Symbol.asyncDispose]: async () => {
      await server.close();
      if (options.store === undefined) {
        await store.close();
      }
      await database[Symbol.asyncDispose]();
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

/** A request written by hand: headers that `fetch` would not send, such as Host. */
export async function request(
  url: string,
  options: { method?: string; path: string; headers?: Record<string, string>; body?: string },
): Promise<Answer<{ readonly code?: string }>> {
  const outgoing = http.request(new URL(url), {
    method: options.method ?? "GET",
    path: options.path,
    headers: options.headers ?? {},
    agent: false,
  });
  outgoing.end(options.body);
  const [incoming]: [http.IncomingMessage] = (await once(outgoing, "response")) as [
    http.IncomingMessage,
  ];
  const text = await readText(incoming);
  return {
    status: incoming.statusCode ?? 0,
    headers: new Headers(
      Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]),
    ),
    text,
    // parsed when it is asked for: not every answer is JSON
    get json() {
      return (text === "" ? {} : JSON.parse(text)) as { code?: string };
    },
  };
}

/** Writes bytes to a new socket and returns all that comes until it is closed. */
export async function exchangeBytes(url: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = net.connect(Number(port), hostname);
  socket.write(bytes);
  return readText(socket);
}
