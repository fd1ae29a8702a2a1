import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import net, { type Socket } from "node:net";

import { createClient } from "../../src/client/client.ts";
import { residentBytes, type Service } from "./service.ts";

export interface StalledFigures {
  readonly readers: number;
  /** What the service held more than before while nobody read; null if the system does not report it. */
  readonly extraBytes: number | null;
}

export interface StalledOptions {
  readonly service: Service;
  readonly readers: number;
  /** Messages of 100 KB in the session: far more than the system's own buffers take. */
  readonly messages: number;
}

const CONTENT = "x".repeat(100_000);

/**
 * Opens streams whose readers take nothing, waits until the service has cut them all, and lets
 * each resume by the last id that reached it. Throws unless each then has every message once.
 */
export async function stallReaders(options: StalledOptions): Promise<StalledFigures> {
  const { service, readers, messages } = options;
  const client = createClient({ baseUrl: service.url });
  const { id } = await client.createSession();
  for (let index = 0; index < messages; index += 1) {
    await client.postMessage(id, CONTENT);
  }
  await client.endSession(id);
  const path = `/api/sessions/${id}/stream`;
  const before = residentBytes(service.pid);
  const sockets = Array.from({ length: readers }, () => openWithoutReading(service.url, path));
  const most = await watchUntilCut(service, sockets);
  for (const socket of sockets) {
    const got = await readRest(socket);
    assert.ok(got.length < messages, "the service cut a reader that took nothing");
    const rest = await readFrom(`${service.url}${path}`, got.at(-1) ?? 0);
    assert.deepEqual(
      [...got, ...rest],
      Array.from({ length: messages }, (_, index) => index + 1),
    );
  }
  return { readers, extraBytes: before === null || most === null ? null : most - before };
}

function openWithoutReading(url: string, path: string): Socket {
  const { host, hostname, port } = new URL(url);
  const socket = net.connect(Number(port), hostname).pause();
  socket.on("error", () => undefined);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  return socket;
}

/** A reader that takes nothing does not learn that it was cut: the service's log shows it. */
async function watchUntilCut(service: Service, sockets: readonly Socket[]): Promise<number | null> {
  await Promise.all(
    sockets.filter((socket) => socket.connecting).map((socket) => once(socket, "connect")),
  );
  let most = residentBytes(service.pid);
  const lines = (): number => service.log().split('"route":"/api/sessions/:id/stream"').length - 1;
  while (lines() < sockets.length) {
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
    const now = residentBytes(service.pid);
    most = most === null || now === null ? null : Math.max(most, now);
  }
  return most;
}

async function readRest(socket: Socket): Promise<number[]> {
  const pieces: Buffer[] = [];
  socket.on("data", (piece: Buffer) => pieces.push(piece));
  socket.resume();
  if (!socket.closed) {
    await once(socket, "close");
  }
  return wholeEvents(Buffer.concat(pieces));
}

/** Reads the events after one to the end of the stream; a reader that is cut again resumes again. */
async function readFrom(url: string, last: number): Promise<number[]> {
  const ids: number[] = [];
  for (let isWhole = false; !isWhole;) {
    const headers = { "last-event-id": String(ids.at(-1) ?? last) };
    const [response] = (await once(http.get(url, { agent: false, headers }), "response")) as [
      http.IncomingMessage,
    ];
    const pieces: Buffer[] = [Buffer.from("\n")];
    response.on("data", (piece: Buffer) => pieces.push(piece));
    // a connection that is cut is an error before it is closed
    response.on("error", () => undefined);
    await new Promise((resolve) => response.once("close", resolve));
    isWhole = response.complete;
    ids.push(...wholeEvents(Buffer.concat(pieces)));
  }
  return ids;
}

/** The ids of the complete events; chunk sizes in between do not matter. */
function wholeEvents(bytes: Buffer): number[] {
  const ids: number[] = [];
  for (let at = bytes.indexOf("\nid: "); at !== -1; at = bytes.indexOf("\nid: ", at)) {
    const end = bytes.indexOf('"}\n\n', at);
    if (end === -1) {
      break;
    }
    ids.push(Number(/id: (\d+)\n/.exec(bytes.toString("latin1", at, at + 20))?.[1]));
    at = end;
  }
  return ids;
}
