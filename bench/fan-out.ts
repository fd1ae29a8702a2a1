import { randomUUID } from "node:crypto";
import { createServer, type ServerResponse } from "node:http";

/**
 * The floor of `stream`: `node bench/fan-out.ts` sends what is posted to all who follow the session,
 * framed as the service does it, and keeps nothing.
 */
const followers = new Map<string, Set<ServerResponse>>();
let seq = 0;

function follow(id: string, response: ServerResponse): void {
  const others = followers.get(id) ?? new Set();
  followers.set(id, others.add(response));
  response.once("close", () => others.delete(response));
  response.writeHead(200, { "content-type": "text/event-stream", connection: "close" });
  response.flushHeaders();
}

function tell(session_id: string, content: string): void {
  seq += 1;
  const message = {
    session_id,
    seq,
    message_id: randomUUID(),
    role: "user",
    content,
    tool_calls: null,
    call_id: null,
    status: null,
    token_count: 1,
    is_summary: false,
    archived: false,
    ts: new Date().toISOString(),
  };
  const event = `id: ${seq}\nevent: message\ndata: ${JSON.stringify(message)}\n\n`;
  for (const response of followers.get(session_id) ?? []) {
    response.write(Buffer.from(event));
  }
}

function answer(response: ServerResponse, body: object): void {
  const json = JSON.stringify(body);
  response.writeHead(201, {
    "content-type": "application/json; charset=utf-8",
    "content-length": Buffer.byteLength(json),
  });
  response.end(json);
}

const server = createServer((request, response) => {
  const id = request.url!.split("/")[3];
  if (request.method === "GET") {
    follow(id!, response);
    return;
  }
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const { content } = JSON.parse(Buffer.concat(chunks).toString());
    if (id !== undefined) {
      tell(id, content);
    }
    answer(response, { id: id ?? randomUUID(), state: "active", seq, title: "" });
  });
});
server.listen(0, "127.0.0.1", () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as { port: number }).port}`);
});
