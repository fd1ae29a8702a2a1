import { connect, type Socket } from "node:net";

import { startTcpServer } from "../tcp-server.ts";

/** Between programs and the server: notes what they ask. */
export interface StatementProxy extends AsyncDisposable {
  /** The address of the database behind the proxy. */
  readonly url: string;
  /** Every statement that any connection sent, in order. */
  readonly statements: readonly string[];
  /** Forgets the statements. */
  clear(): void;
}

/** After each transaction it asks, too, what is left on the connection. */
export interface SessionStateProxy extends StatementProxy {
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

export function startStatementProxy(databaseUrl: string): Promise<StatementProxy> {
  return start(databaseUrl, false);
}

export function startSessionStateProxy(databaseUrl: string): Promise<SessionStateProxy> {
  return start(databaseUrl, true);
}

async function start(databaseUrl: string, asks: boolean): Promise<SessionStateProxy> {
  const { hostname, port } = new URL(databaseUrl);
  const statements: string[] = [];
  const leftovers: Leftover[] = [];
  const server = await startTcpServer((near, { keep }) => {
    const far = keep(connect(Number(port), hostname));
    near.on("close", () => far.destroy());
    far.on("close", () => near.destroy());
    watch({ near, far, asks, statements, leftovers });
  });
  return {
    url: server.inPlaceOf(databaseUrl),
    statements,
    leftovers,
    clear: () => {
      statements.length = 0;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

interface Watched {
  readonly near: Socket;
  readonly far: Socket;
  /** Whether it asks what is left. */
  readonly asks: boolean;
  readonly statements: string[];
  readonly leftovers: Leftover[];
}

/**
 * Holds back the server's "ready, in no transaction" until the question about leftovers is answered:
 * a client sends nothing before it.
 */
function watch({ near, far, asks, statements, leftovers }: Watched): void {
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
  if (asks) {
    far.on("data", fromServer);
  } else {
    far.pipe(near);
  }
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
