import { connect, type Socket } from "node:net";

export interface LoadOptions {
  readonly port: number;
  readonly connections: number;
  readonly seconds: number;
  /** The next request, as it goes over the wire. */
  readonly next: () => Buffer | string;
}

export interface LoadResult {
  readonly perSecond: number;
  /** Milliseconds of each answer, in the order in which they came. */
  readonly latencies: readonly number[];
  /** Processor time of this process for each answer, in microseconds. */
  readonly clientMicroseconds: number;
}

/**
 * Keeps each connection busy with one request at a time for some seconds. A separate client,
 * because it shares two cores with the server it measures: it reads no more of an answer than its
 * status and length. Throws if a response is not a success.
 */
export async function load(options: LoadOptions): Promise<LoadResult> {
  const sockets = await Promise.all(
    Array.from({ length: options.connections }, () => openSocket(options.port)),
  );
  const latencies: number[] = [];
  const before = process.cpuUsage();
  const begun = performance.now();
  const until = begun + options.seconds * 1000;
  try {
    await Promise.all(sockets.map((socket) => keepBusy(socket, { ...options, until, latencies })));
  } finally {
    for (const socket of sockets) {
      socket.destroy();
    }
  }
  const seconds = (performance.now() - begun) / 1000;
  const { user, system } = process.cpuUsage(before);
  return {
    perSecond: latencies.length / seconds,
    latencies,
    clientMicroseconds: (user + system) / latencies.length,
  };
}

/** Sends one request and gives its answer's body. */
export async function ask(port: number, request: Buffer | string): Promise<string> {
  const socket = await openSocket(port);
  try {
    return await new Promise((resolve, reject) => {
      readAnswers(socket, { onAnswer: (body) => resolve(body.toString()), onFailure: reject });
      socket.write(request);
    });
  } finally {
    socket.destroy();
  }
}

/** A GET as it goes over the wire. */
export function getRequest(port: number, path: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`;
}

/** A POST of JSON as it goes over the wire. */
export function postRequest(port: number, path: string, body: object): string {
  const json = JSON.stringify(body);
  return `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`;
}

function openSocket(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    socket.once("connect", () => resolve(socket)).once("error", reject);
  });
}

function keepBusy(
  socket: Socket,
  { next, until, latencies }: LoadOptions & { until: number; latencies: number[] },
): Promise<void> {
  return new Promise((resolve, reject) => {
    let sent = 0;
    const send = (): void => {
      sent = performance.now();
      socket.write(next());
    };
    readAnswers(socket, {
      onAnswer: () => {
        const now = performance.now();
        latencies.push(now - sent);
        if (now < until) {
          send();
        } else {
          resolve();
        }
      },
      onFailure: reject,
    });
    send();
  });
}

interface Reader {
  readonly onAnswer: (body: Buffer) => void;
  readonly onFailure: (error: Error) => void;
}

/** Reads answers that follow one another, each with a Content-Length. */
function readAnswers(socket: Socket, { onAnswer, onFailure }: Reader): void {
  let kept: Buffer = Buffer.alloc(0);
  let missing = 0;
  socket.on("error", onFailure);
  socket.on("close", () => onFailure(new Error("the server closed the connection")));
  socket.on("data", (chunk: Buffer) => {
    // only a whole response is checked: most come in one piece, a large one in many
    kept = kept.length === 0 ? chunk : Buffer.concat([kept, chunk]);
    if (kept.length < missing) {
      return;
    }
    const head = kept.indexOf("\r\n\r\n");
    if (head < 0) {
      return;
    }
    const text = kept.toString("latin1", 0, head);
    if (!text.startsWith("HTTP/1.1 20")) {
      onFailure(new Error(`the server answered ${text.slice(0, 60)}`));
      return;
    }
    const length = Number(/content-length: (\d+)/i.exec(text)?.[1]);
    missing = head + 4 + length;
    if (kept.length < missing) {
      return;
    }
    const body = kept.subarray(head + 4, missing);
    kept = kept.subarray(missing);
    missing = 0;
    onAnswer(body);
  });
}
