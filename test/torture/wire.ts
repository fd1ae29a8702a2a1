import net from "node:net";
import { brotliDecompressSync, gunzipSync } from "node:zlib";

/** One answer as it came over the wire. */
export interface WireAnswer {
  readonly status: number;
  /** The status line and the headers, as they came. */
  readonly head: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

export interface WireRequest {
  readonly bytes: Uint8Array;
  /** True if a response has no body: HEAD. */
  readonly bodiless?: boolean;
  /** True to read all answers until the service closes the connection, which the bytes must lead to. */
  readonly last?: boolean;
  /** True to say with the last byte that nothing follows (FIN), for a request that is cut short. */
  readonly cutShort?: boolean;
}

/** A connection that sends bytes no HTTP client would send. Opened again whenever it was closed. */
export interface Wire {
  /**
   * Sends and reads: one answer, or all of them until the service closes. Empty if it closed
   * without one. Rejects if nothing came for 2 min.
   */
  send(request: WireRequest): Promise<readonly WireAnswer[]>;
  close(): void;
}

const PATIENCE_MS = 120_000;

export function createWire(url: string): Wire {
  const { hostname, port } = new URL(url);
  let open: Connection | null = null;
  const connection = (): Connection => {
    if (open === null || open.socket.destroyed || !open.socket.writable) {
      const socket = net.connect({ port: Number(port), host: hostname, noDelay: true });
      const opened: Connection = { socket, unread: Buffer.alloc(0) };
      socket.on("error", () => undefined);
      // all the time: bytes that nobody waits for are an error of the service
      socket.on("data", (piece: Buffer) => {
        opened.unread = Buffer.concat([opened.unread, piece]);
      });
      open = opened;
    }
    return open;
  };
  return {
    send: (request) => exchange(connection(), request),
    close: () => open?.socket.destroy(),
  };
}

interface Connection {
  readonly socket: net.Socket;
  /** What came and is part of no answer yet. */
  unread: Buffer;
}

function exchange(connection: Connection, request: WireRequest): Promise<readonly WireAnswer[]> {
  const { socket } = connection;
  return new Promise((resolve, reject) => {
    const answers: WireAnswer[] = [];
    if (connection.unread.length > 0) {
      reject(new Error(`the service sent what nobody asked for: ${shown(connection.unread)}`));
      return;
    }
    const patience = setTimeout(() => done(new Error("the service did not answer")), PATIENCE_MS);
    const done = (error: Error | null): void => {
      clearTimeout(patience);
      socket.off("data", onData);
      socket.off("close", onClose);
      if (error !== null || request.last === true || isClosing(answers.at(-1))) {
        socket.destroy();
      }
      if (error === null) {
        resolve(answers);
      } else {
        reject(error);
      }
    };
    const read = (closed: boolean): void => {
      for (;;) {
        const next = readAnswer(connection.unread, { ...request, closed });
        if (next === null) {
          break;
        }
        connection.unread = connection.unread.subarray(next.length);
        if (next.answer.status >= 200) {
          answers.push(next.answer);
        }
      }
      if ((answers.length > 0 && request.last !== true) || answers.at(-1)?.body === STREAM) {
        done(null);
      }
    };
    const onData = (): void => attempt(() => read(false));
    const onClose = (): void =>
      attempt(() => {
        read(true);
        done(null);
      });
    const attempt = (work: () => void): void => {
      try {
        work();
      } catch (error) {
        done(error as Error);
      }
    };
    socket.on("data", onData);
    socket.once("close", onClose);
    socket.write(request.bytes);
    if (request.cutShort === true) {
      socket.end();
    }
  });
}

/** True if the service said that it answers nothing more on this connection. */
function isClosing(answer: WireAnswer | undefined): boolean {
  return answer?.body === STREAM || answer?.headers.get("connection")?.toLowerCase() === "close";
}

/** Replaces the body of an event stream, which has no end. */
export const STREAM = "(stream)";

function shown(bytes: Buffer): string {
  return JSON.stringify(bytes.toString("latin1", 0, 200));
}

function readAnswer(
  bytes: Buffer,
  { bodiless, closed }: { readonly bodiless?: boolean; readonly closed: boolean },
): { answer: WireAnswer; length: number } | null {
  const end = bytes.indexOf("\r\n\r\n");
  if (end === -1) {
    return null;
  }
  const head = bytes.subarray(0, end).toString("latin1");
  const [line = "", ...lines] = head.split("\r\n");
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(line)?.[1]);
  if (Number.isNaN(status)) {
    throw new TypeError(`not an answer: ${shown(bytes)}`);
  }
  const headers = new Map(
    lines.map((each): [string, string] => {
      const colon = each.indexOf(":");
      return [each.slice(0, colon).toLowerCase(), each.slice(colon + 1).trim()];
    }),
  );
  const body =
    bodiless === true || status < 200 || status === 204 || status === 304
      ? { bytes: Buffer.alloc(0), length: 0 }
      : readBody(bytes.subarray(end + 4), { headers, closed });
  return body === null
    ? null
    : {
        answer: { status, head, headers, body: textOf(body.bytes, headers) },
        length: end + 4 + body.length,
      };
}

function textOf(bytes: Buffer, headers: ReadonlyMap<string, string>): string {
  switch (headers.get("content-encoding")) {
    case "br":
      return brotliDecompressSync(bytes).toString("utf8");
    case "gzip":
      return gunzipSync(bytes).toString("utf8");
    default:
      return bytes.toString("utf8");
  }
}

function readBody(
  bytes: Buffer,
  { headers, closed }: { readonly headers: ReadonlyMap<string, string>; readonly closed: boolean },
): { bytes: Buffer; length: number } | null {
  if (headers.get("content-type")?.startsWith("text/event-stream") === true) {
    return { bytes: Buffer.from(STREAM), length: bytes.length };
  }
  const length = headers.get("content-length");
  if (length !== undefined) {
    const size = Number(length);
    return bytes.length < size ? null : { bytes: bytes.subarray(0, size), length: size };
  }
  if (headers.get("transfer-encoding") === "chunked") {
    return readChunks(bytes);
  }
  return closed ? { bytes, length: bytes.length } : null;
}

function readChunks(bytes: Buffer): { bytes: Buffer; length: number } | null {
  const pieces: Buffer[] = [];
  for (let at = 0; ;) {
    const end = bytes.indexOf("\r\n", at);
    const size = end === -1 ? Number.NaN : Number.parseInt(bytes.toString("latin1", at, end), 16);
    if (Number.isNaN(size) || bytes.length < end + 2 + size + 2) {
      return null;
    }
    pieces.push(bytes.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
    if (size === 0) {
      return { bytes: Buffer.concat(pieces), length: at };
    }
  }
}
