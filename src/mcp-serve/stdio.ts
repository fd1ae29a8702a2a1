import type { Readable, Writable } from "node:stream";

import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";

import { MAX_BODY_BYTES } from "../core/limits.ts";
import { createServer, type ServedOptions } from "./create-server.ts";

export interface Streams {
  readonly input: Readable;
  readonly output: Writable;
}

/** A server on two streams, and when it is over. */
export interface StdioServer {
  /** Resolves when the client has closed its end, or has sent a message that is too large. */
  readonly ended: Promise<"closed" | "too_large">;
  close(): Promise<void>;
}

/** Speaks the protocol over standard input and output, in the era that the client begins with. */
export function serveStreams(
  options: ServedOptions,
  { input, output }: Streams,
  send: typeof fetch,
): StdioServer {
  // a message is as large as a request of the HTTP API may be
  const transport = new StdioServerTransport(input, output, { maxBufferSize: MAX_BODY_BYTES });
  const { promise: ended, resolve } = Promise.withResolvers<"closed" | "too_large">();
  const handle = serveStdio(() => createServer(options, send), { transport });
  // each answer that waits for a slow reader listens for an error
  output.setMaxListeners(0);
  const { onclose } = transport;
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the transport has no other way
  transport.onclose = () => {
    onclose?.();
    resolve(input.readableEnded || input.destroyed ? "closed" : "too_large");
  };
  return { ended, close: () => handle.close() };
}
