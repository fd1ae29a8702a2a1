import { createServer, type ServerResponse } from "node:http";
import { parseArgs } from "node:util";

import { createFeed, type Feed } from "../src/exchange/live/feed.ts";
import { startServer } from "../src/http/serve.ts";
import { openSqliteStore } from "../src/store/engines/sqlite/open.ts";
import { takeLease } from "../src/store/records/leases/lease.ts";
import { thisProcess } from "../src/store/records/leases/this-process.ts";
import { beginExchange } from "../src/store/records/messages/begin-exchange.ts";
import { createSession } from "../src/store/records/sessions/create.ts";
import type { Store } from "../src/store/store.ts";
import { storeOf } from "../src/store/store-of.ts";

/**
 * What `live` measures: a service whose sessions get tokens all the time, each with the moment at which it was
 * made. With `--floor`, the same tokens go to all who follow a session, framed alike, and nothing is kept. With
 * `--tokens 0`, a service that only reads the database.
 */
const { values } = parseArgs({
  options: {
    database: { type: "string" },
    sessions: { type: "string", default: "1" },
    tokens: { type: "string", default: "0" },
    floor: { type: "boolean", default: false },
  },
});
const count = Number(values.sessions);
const tokensPerSecond = Number(values.tokens);

type Emit = (session: number, text: string) => void;

function emitSteadily(emit: Emit): void {
  const begun = performance.now();
  let sent = 0;
  setInterval(() => {
    for (
      const due = ((performance.now() - begun) / 1000) * tokensPerSecond;
      sent < due;
      sent += 1
    ) {
      emit(sent % count, `sent ${(performance.timeOrigin + performance.now()).toFixed(3)} `);
    }
  }, 1);
}

/** Begins an exchange that never ends, and returns what hears its tokens. */
async function begin(store: Store, feed: Feed): Promise<(text: string) => void> {
  const { id: session_id } = await store.write(createSession, {});
  const owner = thisProcess("bench");
  const { epoch } = await store.write(takeLease, { session_id, owner, life_ms: 3_600_000 });
  const exchange = { content: "Hello", model: "demo:echo", persona_name: null };
  await store.write(beginExchange, { fence: { session_id, epoch }, ...exchange });
  const { begun, heard } = feed.open(session_id);
  begun({ n: 1, epoch });
  const identity = { exchange_id: session_id, session_id, message_id: "answer" };
  return (text) => heard({ type: "text", ...identity, text });
}

async function serve(path: string): Promise<void> {
  const opened = await openSqliteStore({ path });
  const store = storeOf(opened);
  const feed = createFeed({ store });
  const server = await startServer({
    store: opened,
    version: "0",
    host: "127.0.0.1",
    port: 0,
    live: feed,
  });
  if (tokensPerSecond > 0) {
    const hear: ((text: string) => void)[] = [];
    while (hear.length < count) {
      hear.push(await begin(store, feed));
    }
    emitSteadily((session, text) => hear[session]?.(text));
  }
  console.log(`listening on ${server.url}`);
}

function serveFloor(): void {
  const followers = Array.from({ length: count }, () => new Set<ServerResponse>());
  let offset = 0;
  const server = createServer((request, response) => {
    const others = followers[Number(request.url?.split("/")[3])];
    others?.add(response);
    response.once("close", () => others?.delete(response));
    response.writeHead(200, { "content-type": "text/event-stream", connection: "close" });
    response.flushHeaders();
  });
  emitSteadily((session, text) => {
    const piece = { message_id: "answer", attempt: 1, offset, text };
    const id = `1.1.1.${offset}.00000000.1.answer`;
    offset += text.length;
    const event = Buffer.from(`id: ${id}\nevent: text\ndata: ${JSON.stringify(piece)}\n\n`);
    for (const response of followers[session] ?? []) {
      response.write(event);
    }
  });
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    const port = typeof address === "object" ? address?.port : 0;
    console.log(`listening on http://127.0.0.1:${port}`);
  });
}

if (values.floor) {
  serveFloor();
} else {
  await serve(values.database ?? "");
}
