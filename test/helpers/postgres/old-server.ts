import { startTcpServer } from "../tcp-server.ts";

/** What a server of another version says to the first questions of a client. */
export interface OldServer extends AsyncDisposable {
  readonly url: string;
  /** Statements that it was asked, but for the one about its settings. */
  readonly asked: readonly string[];
}

/**
 * Speaks the beginning of PostgreSQL's protocol and reports the settings of a server of this version:
 * older ones cannot be had from where the tests get theirs.
 */
export async function startOldServer(
  versionNumber: number,
  product = "PostgreSQL",
): Promise<OldServer> {
  const asked: string[] = [];
  const server = await startTcpServer((socket) => {
    let started = false;
    socket.on("data", (bytes) => {
      if (!started) {
        started = true;
        // AuthenticationOk
        socket.write(Buffer.concat([message("R", int32(0)), READY]));
        return;
      }
      const statement = bytes.toString("utf8", 5);
      if (!statement.includes("server_version_num")) {
        asked.push(statement);
      }
      const answer = [String(versionNumber), product, "UTF8", "on"];
      socket.write(
        Buffer.concat([description(), row(answer), message("C", text("SELECT 1")), READY]),
      );
    });
  });
  return {
    url: server.inPlaceOf("postgres://someone:secret@host/reprise"),
    asked,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

const INT4 = 23;
const TEXT = 25;
const COLUMNS = [
  { name: "version", type: INT4 },
  { name: "product", type: TEXT },
  { name: "encoding", type: TEXT },
  { name: "synchronous_commit", type: TEXT },
];

const READY = message("Z", Buffer.from("I"));

function description(): Buffer {
  const fields = COLUMNS.map(({ name, type }) =>
    // table and column, type, its length and modifier, and text as the form
    Buffer.concat([text(name), int32(0), int16(0), int32(type), int16(-1), int32(-1), int16(0)]),
  );
  return message("T", Buffer.concat([int16(fields.length), ...fields]));
}

function row(values: readonly string[]): Buffer {
  const fields = values.map((value) => Buffer.concat([int32(value.length), Buffer.from(value)]));
  return message("D", Buffer.concat([int16(fields.length), ...fields]));
}

function message(type: string, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(type), int32(body.length + 4), body]);
}

function text(value: string): Buffer {
  return Buffer.from(`${value}\0`);
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}
