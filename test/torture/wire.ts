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
   * without one. Rejects if nothing came for 20 s.
   */
  send(request: WireRequest): Promise<readonly WireAnswer[]>;
  close(): void;
}

const PATIENCE_MS = 20_000;

export function createWire(url: string): Wire {
  const { hostname, port } = new URL(url);
  let socket: net.Socket | null = null;
  const connection = (): net.Socket => {
    if (socket === null || socket.destroyed || !socket.writable) {
      socket = net.connect({ port: Number(port), host: hostname, noDelay: true });
      socket.on("error", () => undefined);
    }
    return socket;
  };
  return {
    send: (request) => exchange(connection(), request),
    close: () => socket?.destroy(),
  };
}

function exchange(socket: net.Socket, request: WireRequest): Promise<readonly WireAnswer[]> {
  return new Promise((resolve, reject) => {
    const answers: WireAnswer[] = [];
    let bytes = Buffer.alloc(0);
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
      for (let next = readAnswer(bytes, { ...request, closed }); next !== null;) {
        bytes = bytes.subarray(next.length);
        if (next.answer.status >= 200) {
          answers.push(next.answer);
        }
        next = readAnswer(bytes, { ...request, closed });
      }
      if ((answers.length > 0 && request.last !== true) || answers.at(-1)?.body === STREAM) {
        done(null);
      }
    };
    const onData = (piece: Buffer): void => {
      bytes = Buffer.concat([bytes, piece]);
      read(false);
    };
    const onClose = (): void => {
      read(true);
      done(null);
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
    throw new TypeError(`not an answer: ${JSON.stringify(head.slice(0, 200))}`);
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
