import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** Between programs and the server; after each transaction it asks what is left on the connection. */
export interface SessionStateProxy extends AsyncDisposable {
  /** The address of the database behind the proxy. */
  readonly url: string;
  /** Every statement that any connection sent, in order. */
  readonly statements: readonly string[];
  /** What outlived the transaction of its statements. */
  readonly leftovers: readonly Leftover[];
}

export interface Leftover {
  /** Since the connection was last free for another transaction. */
  readonly statements: readonly string[];
  /** Such as `setting synchronous_commit` or `channel reprise`, separated by commas. */
  readonly left: string;
}

/** All that the next client of a pooled connection would find, besides what it began with. */
const WHAT_IS_LEFT = `SELECT coalesce(string_agg(what, ', '), '') FROM (
  SELECT 'setting ' || name AS what FROM pg_settings WHERE source = 'session'
  UNION ALL SELECT 'channel ' || pg_listening_channels()
  UNION ALL SELECT 'prepared statement ' || name FROM pg_prepared_statements
  UNION ALL SELECT 'cursor ' || name FROM pg_cursors WHERE name <> ''
  UNION ALL SELECT 'lock ' || objid FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()
  UNION ALL SELECT 'table ' || relname FROM pg_class WHERE relnamespace = pg_my_temp_schema()
) AS everything`;

export async function startSessionStateProxy(databaseUrl: string): Promise<SessionStateProxy> {
  const { hostname, port } = new URL(databaseUrl);
  const statements: string[] = [];
  const leftovers: Leftover[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on("error", () => undefined);
      one.on("close", () => other.destroy());
    }
    watch({ near, far, statements, leftovers });
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
    leftovers,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) {
        socket.destroy();
      }
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Watched {
  readonly near: Socket;
  readonly far: Socket;
  readonly statements: string[];
  readonly leftovers: Leftover[];
}

/**
 * Holds back the server's "ready, in no transaction" until the question about leftovers is answered:
 * a client sends nothing before it.
 */
function watch({ near, far, statements, leftovers }: Watched): void {
  let since: string[] = [];
  let held: Buffer | null = null;
  const fromClient = messageReader({ startsUntyped: true }, ({ type, body, bytes }) => {
    const [first = "", second = ""] = body.toString("utf8").split("\0");
    // a simple query, or one to be parsed, whose own name comes first
    const statement = { Q: first, P: second }[type];
    if (statement !== undefined) {
      statements.push(statement);
      since.push(statement);
    }
    far.write(bytes);
  });
  const fromServer = messageReader({ startsUntyped: false }, ({ type, body, bytes }) => {
    const isIdle = type === "Z" && body.toString("latin1") === "I";
    if (held === null) {
      if (isIdle) {
        held = bytes;
        far.write(query(WHAT_IS_LEFT));
      } else {
        near.write(bytes);
      }
    } else if (type === "D") {
      // one column: a count, a length, the text
      const left = body.toString("utf8", 6);
      if (left !== "") {
        leftovers.push({ statements: since, left });
      }
    } else if (type === "E") {
      leftovers.push({ statements: since, left: `no answer: ${body.toString("utf8")}` });
    } else if (type === "Z") {
      near.write(held);
      held = null;
      since = [];
    } else if (type === "A" || type === "N" || type === "S") {
      // not an answer: a notification, a notice or a parameter
      near.write(bytes);
    }
  });
  near.on("data", fromClient);
  far.on("data", fromServer);
}

interface WireMessage {
  /** A letter; empty for the start-up message. */
  readonly type: string;
  readonly body: Buffer;
  readonly bytes: Buffer;
}

/** Cuts a stream into PostgreSQL's messages: a letter, a length that counts itself, a body. */
function messageReader(
  { startsUntyped }: { startsUntyped: boolean },
  onMessage: (message: WireMessage) => void,
): (bytes: Buffer) => void {
  let waiting: Buffer = Buffer.alloc(0);
  let letters = startsUntyped ? 0 : 1;
  return (bytes) => {
    waiting = Buffer.concat([waiting, bytes]);
    while (waiting.length >= letters + 4) {
      const end = letters + waiting.readUInt32BE(letters);
      if (waiting.length < end) {
        return;
      }
      const message = {
        type: waiting.toString("latin1", 0, letters),
        body: waiting.subarray(letters + 4, end),
        bytes: waiting.subarray(0, end),
      };
      waiting = waiting.subarray(end);
      letters = 1;
      onMessage(message);
    }
  };
}

function query(statement: string): Buffer {
  const body = Buffer.from(`${statement}\0`);
  const head = Buffer.alloc(5);
  head.write("Q");
  head.writeUInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}
