import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { DatabaseSync } from "node:sqlite";

/**
 * The floor: `node bench/bare.ts <database>` reads and writes the same tables as durably as the
 * service, with the same group commit, and does nothing else. No validation, no checks, no
 * features; SQLite itself writes the JSON, which nothing in JavaScript does as fast. Nobody could
 * store and read the same with much less.
 */
const db = new DatabaseSync(process.argv[2]!, { enableForeignKeyConstraints: true });
db.exec("PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY; PRAGMA cell_size_check = ON");

const SUMMARY = `'activity', 'idle', ${fields(`id state title name persona_name model repo_path project_key
  plan_mode parent_session_id depth total_input_tokens total_output_tokens last_seq created_at
  last_message_at archived_at ended_at`)}`;
/** What other tables and rows say of a session, which the service answers too. */
const OTHERS = `'metadata', json((SELECT json_group_object(key, value) FROM session_metadata WHERE session_id = sessions.id)),
  'exchange', (SELECT json_object('n', n, 'state', state) FROM exchanges
    WHERE session_id = sessions.id ORDER BY n DESC LIMIT 1),
  'permission', (SELECT permission_mode FROM sessions AS root WHERE root.id = sessions.root_session_id)`;
const MESSAGE = `'tool_calls', json(tool_calls), ${fields(
  "session_id seq message_id role content call_id status token_count is_summary archived ts",
)}`;
const ACK = fields("id state title total_input_tokens total_output_tokens");
const create = db.prepare(
  `INSERT INTO sessions (id, root_session_id) VALUES (?1, ?1) RETURNING json_object(${SUMMARY},
    'metadata', json('{}'), 'exchange', NULL, 'permission', permission_mode) AS json`,
);
const list = db.prepare(`SELECT json_group_array(json_object(${SUMMARY}, ${OTHERS})) AS json FROM
  (SELECT * FROM sessions ORDER BY last_activity_at DESC, id DESC LIMIT ?) AS sessions`);
const session = db.prepare(
  `SELECT json_object(${SUMMARY}, ${OTHERS}) AS json FROM sessions WHERE id = ?`,
);
const messages = db.prepare(`SELECT json_group_array(json_object(${MESSAGE})) AS json,
  iif(min(seq) > 1, 'true', 'false') AS earlier FROM (SELECT * FROM messages WHERE session_id = ?1
  AND seq > (SELECT last_seq - 200 FROM sessions WHERE id = ?1) ORDER BY seq)`);
const count = db.prepare(`UPDATE sessions SET last_seq = last_seq + 1, title = coalesce(title, ?1),
  last_message_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now'),
  total_input_tokens = total_input_tokens + ?2 WHERE id = ?3 AND state = 'active'
  RETURNING last_seq, json_object('seq', last_seq, ${ACK}) AS json`);
const insert = db.prepare(`INSERT INTO messages (session_id, seq, message_id, content, token_count)
  VALUES (?, ?, ?, ?, ?)`);

function fields(names: string): string {
  return names.replace(/\s*(\w+)/g, ", '$1', $1").slice(2);
}

type Work = () => unknown;
const waiting: { work: Work; response: ServerResponse }[] = [];

/** Everything that waits goes into one transaction and one fsync; the answers come after it. */
function commit(): void {
  const group = waiting.splice(0);
  db.exec("BEGIN IMMEDIATE");
  const answers = group.map(({ work }) => work());
  db.exec("COMMIT");
  for (const [index, { response }] of group.entries()) {
    send(response, String(answers[index]), 201);
  }
}

function write(response: ServerResponse, work: Work): void {
  if (waiting.push({ work, response }) === 1) {
    setImmediate(commit);
  }
}

function append(id: string, { content }: { content: string }): unknown {
  const tokens = Math.ceil(Buffer.byteLength(content) / 4);
  const { json, last_seq } = count.get(content.slice(0, 50), tokens, id)!;
  insert.run(id, last_seq!, randomUUID(), content, tokens);
  return json;
}

function detail(id: string): string {
  const { json, earlier } = messages.get(id)!;
  const summary = String(session.get(id)!["json"]).slice(0, -1);
  return `${summary},"messages":${String(json)},"has_earlier":${String(earlier)}}`;
}

function send(response: ServerResponse, json: string, status = 200): void {
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
      write(response, () =>
        id === undefined ? create.get(randomUUID())!["json"] : append(id, body),
      ),
    );
  } else {
    send(
      response,
      id === undefined ? String(list.get(Number(query.slice(6)))!["json"]) : detail(id),
    );
  }
});
server.listen(0, "127.0.0.1", () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as { port: number }).port}`);
});
