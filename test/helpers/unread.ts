import { randomBytes } from "node:crypto";
import { once } from "node:events";
import net, { type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

import { appendUserMessage } from "../../src/store/records/messages/append.ts";
import type { TestServer } from "./server.ts";

export interface UnreadConnection {
  readonly socket: Socket;
  /** The service's end. */
  readonly side: Socket;
}

/** Sends requests on one connection and reads nothing of their answers. */
export async function sendAndNotRead(
  t: TestServer,
  { path, times = 1, headers = "" }: { path: string; times?: number; headers?: string },
): Promise<UnreadConnection> {
  const { host, hostname, port } = new URL(t.url);
  const accepted = once(t.server.app.fastify.server, "connection");
  const socket = net.connect(Number(port), hostname).pause();
  socket.on("error", () => undefined);
  const [side] = (await accepted) as [Socket];
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${headers}\r\n`.repeat(times));
  return { socket, side };
}

/** The same on so many connections, which are closed with the result. */
export async function manyUnread(
  t: TestServer,
  count: number,
  request: { path: string; times?: number; headers?: string },
): Promise<Disposable & { readonly connections: readonly UnreadConnection[] }> {
  const connections: UnreadConnection[] = [];
  for (let index = 0; index < count; index += 1) {
    connections.push(await sendAndNotRead(t, request));
  }
  return {
    connections,
    [Symbol.dispose]: () => connections.forEach(({ socket }) => socket.destroy()),
  };
}

/** A session with so many messages, each of random bytes as text, which no compression makes small. */
export async function randomMessages(
  t: TestServer,
  { messages, bytes }: { readonly messages: number; readonly bytes: number },
): Promise<string> {
  const reference = await t.newSession();
  for (let index = 0; index < messages; index += 1) {
    const content = randomBytes(bytes).toString("base64");
    await t.store.write(appendUserMessage, { reference, content });
  }
  return reference;
}

export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) {
    await sleep(10);
  }
}
