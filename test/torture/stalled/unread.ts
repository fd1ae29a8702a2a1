import net, { type Socket } from "node:net";

import type { LargeRequest, RequestOf } from "./routes.ts";

/** Connections that send requests and take nothing of the answers. */
export interface UnreadConnections extends Disposable {
  /** How many the service has ended so far; each was opened again. */
  readonly ended: number;
}

/** Requests that each sends at once: the system takes some MB of answers that nobody reads. */
const PIPELINED = 20;

export function openUnread(
  url: string,
  { count, token, requestOf }: { count: number; token: string; requestOf: RequestOf },
): UnreadConnections {
  const { host, hostname, port } = new URL(url);
  const open = new Set<Socket>();
  let ended = 0;
  let isOver = false;
  const connect = (index: number): void => {
    const socket = net.connect(Number(port), hostname).pause();
    open.add(socket);
    socket.on("error", () => undefined);
    socket.once("close", () => {
      open.delete(socket);
      if (!isOver) {
        ended += 1;
        setTimeout(connect, RECONNECT_MS, index);
      }
    });
    socket.write(written(requestOf(index), { host, token }).repeat(PIPELINED));
    // a socket that reads nothing learns of its end by writing
    const knock = setInterval(() => socket.write("\r\n"), KNOCK_MS);
    socket.once("close", () => clearInterval(knock));
  };
  for (let index = 0; index < count; index += 1) {
    connect(index);
  }
  return {
    get ended() {
      return ended;
    },
    [Symbol.dispose]: () => {
      isOver = true;
      for (const socket of open) {
        socket.destroy();
      }
    },
  };
}

const RECONNECT_MS = 200;
const KNOCK_MS = 500;

function written(
  { method, path, headers = {}, body }: LargeRequest,
  { host, token }: { readonly host: string; readonly token: string },
): string {
  const json = body === undefined ? "" : JSON.stringify(body);
  const all = {
    host,
    authorization: `Bearer ${token}`,
    ...(body === undefined
      ? {}
      : { "content-type": "application/json", "content-length": String(Buffer.byteLength(json)) }),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method ?? "GET"} ${path} HTTP/1.1\r\n${lines.join("")}\r\n${json}`;
}
