import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { DatabaseSync } from "node:sqlite";

/**
 * The floor: `node bench/bare.ts <database>` reads and writes the same tables as durably as the
 * service, with the same group commit, and does nothing else. No validation, no checks, no
 * features: nobody could store and read the same with much less.
 */
const db = new DatabaseSync(process.argv[2]!, { enableForeignKeyConstraints: true });
db.exec("PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY; PRAGMA cell_size_check = ON");

const SUMMARY = `id, state, 'idle' AS activity, title, persona_name, model, repo_path, project_key,
  plan_mode, parent_session_id, depth, total_input_tokens, total_output_tokens, last_seq,
  created_at, last_message_at, ended_at`;
const MESSAGE = "session_id, seq, role, content, tool_calls, token_count, is_summary, archived, ts";
const create = db.prepare(`INSERT INTO sessions (id) VALUES (?) RETURNING ${SUMMARY}`);
const list = db.prepare(
  `SELECT ${SUMMARY} FROM sessions ORDER BY last_activity_at DESC, id DESC LIMIT ?`,
);
const session = db.prepare(`SELECT ${SUMMARY} FROM sessions WHERE id = ?`);
const messages = db.prepare(
  `SELECT ${MESSAGE} FROM messages WHERE session_id = ? ORDER BY seq DESC LIMIT 201`,
);
const count = db.prepare(`UPDATE sessions SET last_seq = last_seq + 1, title = coalesce(title, ?1),
  last_message_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now'),
  total_input_tokens = total_input_tokens + ?2 WHERE id = ?3 AND state = 'active'
  RETURNING id, state, last_seq AS seq, title, total_input_tokens, total_output_tokens`);
const insert = db.prepare(`INSERT INTO messages (session_id, seq, message_id, content, token_count)
  VALUES (?, ?, ?, ?, ?)`);

type Work = () => unknown;
const waiting: { work: Work; response: ServerResponse }[] = [];

/** Everything that waits goes into one transaction and one fsync; the answers come after it. */
function commit(): void {
  const group = waiting.splice(0);
  db.exec("BEGIN IMMEDIATE");
  const answers = group.map(({ work }) => work());
  db.exec("COMMIT");
  for (const [index, { response }] of group.entries()) send(response, answers[index], 201);
}

function write(response: ServerResponse, work: Work): void {
  if (waiting.push({ work, response }) === 1) setImmediate(commit);
}

function append(id: string, { content }: { content: string }): unknown {
  const tokens = Math.ceil(Buffer.byteLength(content) / 4);
  const counted = count.get(content.slice(0, 50), tokens, id)!;
  insert.run(id, counted["seq"]!, randomUUID(), content, tokens);
  return counted;
}

function detail(id: string): unknown {
  const rows = messages.all(id);
  const last = rows.slice(0, 200).reverse();
  return { ...session.get(id), messages: last, has_earlier: rows.length > 200 };
}

function send(response: ServerResponse, body: unknown, status = 200): void {
  const json = JSON.stringify(body);
  response.writeHead(status, {
    "content-type": "application/json; charset=utf-8",
    "content-length": Buffer.byteLength(json),
  });
  response.end(json);
}

function withBody(request: IncomingMessage, use: (body: { content: string }) => void): void {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => use(JSON.parse(Buffer.concat(chunks).toString() || "{}")));
}

const server = createServer((request, response) => {
  const [path = "", query = ""] = request.url!.split("?");
  const id = path.split("/")[3];
  if (request.method === "POST") {
    withBody(request, (body) =>
      write(response, () => (id === undefined ? create.get(randomUUID()) : append(id, body))),
    );
  } else {
    send(response, id === undefined ? list.all(Number(query.slice(6))) : detail(id));
  }
});
server.listen(0, "127.0.0.1", () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as { port: number }).port}`);
});
