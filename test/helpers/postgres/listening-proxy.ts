import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** Stands between nodes and the server and notes every statement that passes. */
export interface ListeningProxy extends AsyncDisposable {
  /** The address of the database behind the proxy. */
  readonly url: string;
  /** What the nodes asked so far, in order. */
  readonly statements: readonly string[];
  /** Forgets them. */
  clear(): void;
}

export async function startListeningProxy(databaseUrl: string): Promise<ListeningProxy> {
  const { hostname, port } = new URL(databaseUrl);
  const statements: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on("error", () => undefined);
      from.on("close", () => to.destroy());
      from.pipe(to);
    }
    const hear = messageReader((text) => statements.push(text));
    near.on("data", hear);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const url = new URL(databaseUrl);
  url.hostname = "127.0.0.1";
  url.port = String(typeof address === "object" ? address?.port : "");
  return {
    url: url.href,
    statements,
    clear: () => {
      statements.length = 0;
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) {
        socket.destroy();
      }
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/**
 * Reads PostgreSQL's messages from a client: a start-up message without a type, then each a letter,
 * a length that counts itself, and a body. `Q` and `P` (parse) hold a statement.
 */
function messageReader(onStatement: (text: string) => void): (bytes: Buffer) => void {
  let waiting = Buffer.alloc(0);
  let started = false;
  return (bytes) => {
    waiting = Buffer.concat([waiting, bytes]);
    for (;;) {
      const type = started ? 1 : 0;
      if (waiting.length < type + 4) {
        return;
      }
      const end = type + waiting.readUInt32BE(type);
      if (waiting.length < end) {
        return;
      }
      const letter = started ? waiting.toString("latin1", 0, 1) : "";
      const [first = "", second = ""] = waiting.toString("utf8", type + 4, end).split("\0");
      if (letter === "Q") {
        onStatement(first);
      } else if (letter === "P") {
        // the name of the prepared statement comes first
        onStatement(second);
      }
      started = true;
      waiting = waiting.subarray(end);
    }
  };
}
